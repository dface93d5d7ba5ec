//! Frameworks: installed packages that a program is written on top of, and that are taken to keep their own promises.
//!
//! A request through a web framework runs thousands of instructions of the framework, and a handful of the program. The
//! race that a user looks for is in the handful. So the memory of a framework is not looked at, nor that of the
//! libraries that it calls. What reaches the outside (statements, files, sockets), and code of the program that a
//! framework calls, are steps as ever, and belong to the line of the program that called the framework.
//!
//! Locks of a framework are taken for real, since a task may hold one when another is let run. But a lock that is given
//! back before anybody makes a step keeps nobody out: taking it and giving it back are no steps ([`Quiet`]). Where it turns
//! out that a step is made while such a lock is held, that is learned, and the exploration begins anew with steps for
//! the locks that are taken there.

use drawloom_engine::Site;
use drawloom_gates::{Baton, TornDown, baton};

use crate::access::locks_of;
use crate::assumptions;
use crate::code::{Code, Op, Whose, code_at};
use crate::handing::key;
use crate::layout::Operands;
use crate::markers;
use crate::native;
use crate::raise::{codes_on_stack, here, here_inside};
use crate::steps::{NotDone, goes_on, in_teardown, stop_if_grown};
use crate::world::{Phase, world};

/// Whether the running frame, whose code this is, is one of a framework, or of a library that works for one.
#[inline]
pub(crate) fn runs(code: &Code) -> bool {
    match code.whose {
        Whose::Framework | Whose::Importing => true,
        Whose::Program => false,
        Whose::Bridge => !is_within_loop(),
        // Objects of frameworks are gone in the midst of the program, and weak dicts of frameworks forget them: whose a dict is
        // cannot be told.
        Whose::Forgetting => world().met_framework && !is_within_loop(),
        Whose::Library => world().met_framework && works_for_one(),
        Whose::PassedOn | Whose::Awaiting => world().met_framework && !is_within_loop() && works_for_one(),
    }
}

/// Whether a task of an event loop runs. These wait for each other by memory, a future say, be it in the midst of a framework:
/// what does that is looked at.
fn is_within_loop() -> bool {
    baton().is_some_and(|baton| baton.is_guest())
}

/// Whether the library that runs was called by a framework, be it through other libraries; or is being imported, which happens
/// once in a process, under locks of the interpreter.
fn works_for_one() -> bool {
    let whose = codes_on_stack(|code| match code_at(code).whose {
        Whose::Library | Whose::PassedOn | Whose::Forgetting | Whose::Awaiting => None,
        Whose::Bridge => (!is_within_loop()).then_some(Whose::Framework),
        whose @ (Whose::Program | Whose::Framework | Whose::Importing) => Some(whose),
    });
    matches!(whose, Some(Whose::Framework | Whose::Importing))
}

/// What an instruction of a framework does to locks, and to what each thread has its own of; nothing else is looked at.
pub(crate) fn instruction(code: Whose, op: &Op, operands: &Operands) -> Result<(), NotDone> {
    let Some(baton) = baton() else { return Ok(()) };
    if baton.is_tearing_down() {
        baton.framework_in_teardown()?;
        in_teardown(op, operands);
        return Ok(());
    }
    goes_on(baton, op)?;
    if world().phase == Phase::Parallel && code == Whose::Framework {
        assumptions::framework();
    }
    if let Some((lock, lock_op)) = locks_of(op, operands).lock {
        native::step(baton, lock, lock_op, Some(op.site), &Op { site: here(), ..*op }, operands)?;
    }
    Ok(())
}

/// The place of the framework that runs now, or of the library that works for it; none if it is the program's.
pub(crate) fn place_within() -> Option<Site> {
    (world().met_framework && works_for_one()).then(here_inside)
}

/// A lock that is held without a step: how many steps there were when it was taken, and where that was.
#[derive(Clone, Copy)]
pub(crate) struct Quiet {
    steps: usize,
    site: Site,
}

impl Quiet {
    pub(crate) fn since_now(baton: Baton, site: Site) -> Quiet {
        Quiet { steps: steps(baton), site }
    }
}

/// The place of a framework at which a lock is taken, if it is not known that this has to be a step.
pub(crate) fn quiet_at(baton: Baton, site: Option<Site>) -> Option<Site> {
    let site = site.filter(|_| !baton.is_tearing_down() && !baton.is_guest() && !markers::are_on())?;
    (!world().knowledge.facts.contains(&fact(site))).then_some(site)
}

/// Whether locks are taken without the engine's knowledge. In a rehearsal they are not: it goes on when something has become
/// known, so that somebody may have to wait.
pub(crate) fn are_quiet() -> bool {
    !world().rehearsing
}

/// A lock that was taken so is given back: if somebody has made a step meanwhile, it keeps others out.
pub(crate) fn was_held(baton: Baton, quiet: Quiet) -> Result<(), TornDown> {
    if baton.is_tearing_down() || steps(baton) == quiet.steps { Ok(()) } else { keeps_out(baton, quiet.site) }
}

/// A lock that is taken at `site` keeps others out: from now on that is a step.
pub(crate) fn keeps_out(baton: Baton, site: Site) -> Result<(), TornDown> {
    if baton.is_tearing_down() {
        return Ok(());
    }
    if world().knowledge.facts.insert(fact(site)) {
        world().grown = true;
    }
    stop_if_grown(baton)
}

impl Quiet {
    /// Somebody else asks for the lock, or its holder waits for a notification.
    pub(crate) fn is_in_the_way(self, baton: Baton) -> Result<(), TornDown> {
        keeps_out(baton, self.site)
    }
}

fn steps(baton: Baton) -> usize {
    baton.with_engine(|engine| engine.steps().len())
}

/// That locks are to be steps which are taken at this place; in words that mean the same in another process.
fn fact(site: Site) -> String {
    format!("locks {}", key(site))
}
