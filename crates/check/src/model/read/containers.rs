//! Queues, stacks and priority queues.

use super::{Readable, begins_empty, count, unknown};
use crate::history::{Event, Outcome, Value};
use crate::model::{Container, ContainerOp, ContainerRet, Discipline, Fifo, Lifo, Priority};

/// A container whose model has a name in files.
trait Named: Discipline<Value> {
    const NAME: &'static str;
}

impl Named for Fifo {
    const NAME: &'static str = "queue";
}

impl Named for Lifo {
    const NAME: &'static str = "stack";
}

impl Named for Priority {
    const NAME: &'static str = "priority-queue";
}

impl<D: Named> Readable for Container<Value, D> {
    const NAME: &'static str = D::NAME;

    fn from_meta(meta: &Value) -> Result<Self, String> {
        begins_empty(meta, D::NAME, "empty")?;
        Ok(count(meta, "capacity")?.map_or_else(Container::new, |capacity| Container::bounded(capacity as usize)))
    }

    fn op(event: &Event) -> Result<ContainerOp<Value>, String> {
        match event.f.as_str() {
            "enqueue" | "push" | "insert" if event.value.is_nil() => {
                Err("null cannot be inserted: a remove that returns null found nothing".to_owned())
            }
            "enqueue" | "push" | "insert" => Ok(ContainerOp::Insert(event.value.clone())),
            "dequeue" | "pop" | "remove" | "remove-min" => Ok(ContainerOp::Remove),
            _ => unknown(D::NAME, "enqueue, push or insert, and dequeue, pop or remove"),
        }
    }

    fn ret(op: &ContainerOp<Value>, event: &Event) -> Result<ContainerRet<Value>, String> {
        Ok(match (op, &event.value) {
            (ContainerOp::Insert(_), _) => ContainerRet::Inserted,
            (ContainerOp::Remove, Value::Nil) => ContainerRet::Empty,
            (ContainerOp::Remove, value) => ContainerRet::Removed(value.clone()),
        })
    }

    /// A remove that failed found nothing; an insert that failed found no room, and did not happen.
    fn failed(op: &ContainerOp<Value>) -> Outcome<ContainerRet<Value>> {
        match op {
            ContainerOp::Remove => Outcome::Ok(ContainerRet::Empty),
            ContainerOp::Insert(_) => Outcome::Fail,
        }
    }
}
