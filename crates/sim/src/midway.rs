//! Crashes in the midst of an event.
//!
//! An event and all that a node does about it is one step, so a crash would come before or after it. A node that *falters* does the first
//! few of the things that others can notice (messages, storage), and is gone at the next one: its code is unwound from there, so that
//! nothing after it is run, not even what it tells the test.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::ctx::Ctx;
use crate::fault::Action;
use crate::host::Host;
use crate::id::NodeId;
use crate::node::Node;
use crate::world::World;

/// How a node will break off.
pub(crate) struct Faltering {
    /// After so many things.
    pub(crate) left: u32,
    /// What happens to it then.
    pub(crate) then: Action,
    /// Its code is being unwound.
    pub(crate) has_broken_off: bool,
}

impl Faltering {
    #[cold]
    fn goes_on(&mut self) -> bool {
        if self.has_broken_off {
            return false;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.has_broken_off = true;
                resume_unwind(Box::new(BrokenOff))
            }
        }
    }
}

/// What unwinds the code of a node that breaks off.
struct BrokenOff;

impl<M> Ctx<'_, M> {
    /// The node does something that others can notice: it may break off before. Whether it does it: destructors of what has broken off do
    /// not.
    #[inline]
    pub(crate) fn does(&mut self) -> bool {
        match &mut self.world.nodes[self.me.index()].falters {
            None => true,
            Some(faltering) => faltering.goes_on(),
        }
    }
}

impl<M: Clone + Debug + 'static> World<M> {
    /// Runs code of a node that falters. If it does too little to break off, the next event may.
    #[cold]
    pub(crate) fn with_faltering_code(
        &mut self,
        me: NodeId,
        mut code: Box<dyn Node<M>>,
        host: &mut dyn Host,
        act: impl FnOnce(&mut dyn Node<M>, &mut Ctx<'_, M>),
    ) {
        let before = self.nodes[me.index()].falters.as_ref().map_or(0, |faltering| faltering.left);
        let mut cx = Ctx { world: &mut *self, host: &mut *host, me };
        let ended = catch_unwind(AssertUnwindSafe(|| act(&mut *code, &mut cx)));
        self.nodes[me.index()].code = Some(code);
        match ended {
            Ok(()) => {
                if let Some(faltering) = &mut self.nodes[me.index()].falters {
                    faltering.left = before;
                }
            }
            Err(payload) if payload.is::<BrokenOff>() => {
                if let Some(faltering) = self.nodes[me.index()].falters.take() {
                    self.suffer(me, faltering.then, host);
                }
            }
            Err(payload) => resume_unwind(payload),
        }
    }
}
