//! What survives the crash of a pod.

use std::sync::Arc;

use crate::cluster::Isolate;
use crate::object::Object;

/// A value on the disk of a pod: it is there after a crash. Saving it and loading it are a step each, and a saved value is durable.
///
/// ```
/// use drawloom::cluster::pods::Pods;
///
/// drawloom::check(|| {
///     let mut pods = Pods::new();
///     let counter = pods.storage::<u32>();
///     pods.client("server", counter, |counter| {
///         counter.save(counter.load().unwrap_or(0) + 1);
///         assert_eq!(counter.load(), Some(1));
///     });
///     pods.run();
/// });
/// ```
pub struct Storage<T> {
    value: Arc<Object<Option<T>>>,
}

impl<T: Clone + Send + 'static> Storage<T> {
    #[track_caller]
    pub(super) fn new() -> Self {
        Storage { value: Arc::new(Object::new(None)) }
    }

    /// Saves a value, in place of the last one.
    #[track_caller]
    pub fn save(&self, value: T) {
        let former = self.value.update(|saved| saved.replace(value));
        drop(former);
    }

    /// The last saved value.
    #[track_caller]
    pub fn load(&self) -> Option<T> {
        self.value.look(Option::clone)
    }
}

impl<T: Clone + Send + 'static> Isolate for Storage<T> {
    /// The same disk: it is what is left of a pod.
    fn isolate(&self) -> Self {
        Storage { value: Arc::clone(&self.value) }
    }
}
