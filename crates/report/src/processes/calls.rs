//! Calls: a process that has sent a request and waits, at the same line, for what comes back.

use super::Told;
use crate::record::BlockedRecord;

/// A call that is not answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) by: u32,
    pub(crate) of: u32,
    /// The step that sent the request.
    pub(crate) step: u32,
    pub(crate) text: String,
    /// The step by which it was received, if it was.
    pub(crate) received: Option<u32>,
}

/// The call that a blocked task waits in, if it does in one.
pub(crate) fn call_of(told: Told<'_>, b: &BlockedRecord) -> Option<Call> {
    if cfg!(feature = "processes") { call(told, b) } else { None }
}

fn call(told: Told<'_>, b: &BlockedRecord) -> Option<Call> {
    let (record, mail) = (told.record, told.mail());
    if b.operation != "receive" || b.place.is_none() {
        return None;
    }
    let own = record.steps.iter().zip(0..record.steps.len() as u32).rev().filter(|(step, _)| step.task == b.task);
    let (sent, step) = own.take(3).find(|(step, _)| record.operation(step) == "send" && step.place == b.place)?;
    let of = mail.owner(sent.resource)?;
    let text = told.text(step).unwrap_or_else(|| "a request".to_owned());
    Some(Call { by: b.task, of, step, text, received: mail.receipt_of(sent) })
}
