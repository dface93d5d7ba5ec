//! Pass 8: the same finding without faults: spurious wake-ups, weak failures, early timers.
//!
//! A fault brings steps with it: a task that wakes for no reason takes its lock again, looks, and waits once more.
//! Without the fault these steps are not there, so the script of the rest no longer fits: the steps have to go, too,
//! or the task has to go on until it waits. All of that is tried. What then shows the finding may have more preemptions
//! than the best, since nobody has made *it* simple yet. So it is edited in a detour, in which no execution with more
//! faults counts; and if that ends at a higher cost than the best, all is as before.

use std::mem;

use super::cost::is_fault;
use super::{Cost, Replayed, Shrinker, trace_hash};
use crate::operation::OpKind;
use crate::strategy::{Lenient, Script, Strategy, Stretch, Wish};
use crate::trace::Step;

/// Detours are as long as all edits before them: so many, and no more.
const MOST_DETOURS: usize = 6;
/// The steps after a fault at which its task may be where it was before, in a loop around it.
const MOST_RETURNS: usize = 4;
/// The steps before a fault at which a round of that loop may begin.
const MOST_STEPS_OF_ROUND: usize = 8;

/// What nothing can cost.
const INFINITE: Cost =
    Cost { preemptions: u64::MAX, faults: u64::MAX, switches: u64::MAX, data: u64::MAX, steps: u64::MAX };

impl Shrinker<'_, '_> {
    /// Other courses with fewer faults, and the edits again whenever one of them has helped.
    pub(super) fn without_faults(&mut self) {
        while self.cost.faults > 0 {
            let before = self.cost;
            for course in self.courses() {
                if self.is_spent() {
                    return;
                }
                let replay = Lenient::new(course, self.preemptions.clone());
                if self.replay_or_detour(Box::new(replay)) == Replayed::Better {
                    self.edit();
                    break;
                }
            }
            if self.cost == before {
                return;
            }
        }
    }

    /// Runs the program once; if that shows the finding with fewer faults, but at a higher cost, makes it simple.
    pub(super) fn replay_or_detour(&mut self, strategy: Box<dyn Strategy>) -> Replayed {
        let fewer = self.cost.faults - 1;
        let replayed = self.replay(strategy);
        let (steps, start) = (self.subject.engine().steps(), trace_hash(self.subject.engine()));
        let has_fewer = steps.iter().filter(|step| is_fault(step)).count() as u64 <= fewer;
        if replayed == Replayed::Better || !self.has_shown || !has_fewer || self.detours.len() >= MOST_DETOURS {
            return replayed;
        }
        if !self.detours.insert(start) || !self.detour(Script::of(self.subject.engine()), fewer) {
            return replayed;
        }
        Replayed::Better
    }

    /// Edits another script than the best, and goes back unless that led to a lower cost.
    fn detour(&mut self, script: Script, most_faults: u64) -> bool {
        let (best, executed) = (self.best.clone(), self.executed.clone());
        let cost = mem::replace(&mut self.cost, INFINITE);
        // What was not worth the while there may be so here.
        let (tried, judged) = (mem::take(&mut self.tried), mem::take(&mut self.judged));
        self.most_faults = most_faults;
        if self.attempt(script) {
            self.edit();
        }
        self.most_faults = u64::MAX;
        (self.tried, self.judged) = (tried, judged);
        let helps = self.cost < cost;
        if !helps {
            (self.best, self.executed, self.cost) = (best, executed, cost);
        }
        helps
    }

    /// The best script, in which no choice of two comes to a fault. Timers are as before.
    pub(super) fn faultless(&self) -> Script {
        self.best.of_steps(self.executed.iter().map(without_fault))
    }

    /// Scripts without all faults of the best, and without each of them.
    fn courses(&self) -> Vec<Script> {
        let is_early = |step: &&Step| !(step.kind.fires() && is_fault(step));
        let none = self.best.of_steps(self.executed.iter().filter(is_early).map(without_fault));
        let faults = (0..self.executed.len()).filter(|at| is_fault(&self.executed[*at]));
        [none].into_iter().chain(faults.flat_map(|at| self.courses_without(at))).collect()
    }

    /// Scripts without the fault at this step.
    fn courses_without(&self, fault: usize) -> Vec<Script> {
        let Step { task, kind, site, .. } = self.executed[fault];
        if kind.fires() {
            return vec![self.course(fault, |at| at == fault, false)];
        }
        let is_own = |at: &usize| self.executed[*at].task == task;
        let own: Vec<usize> = (fault + 1..self.executed.len()).filter(is_own).collect();
        // Its task stops for nothing, and does what comes after when it can; or when nobody else can.
        let mut courses = vec![
            self.course(fault, |_| false, true),
            self.course(fault, |at| own.contains(&at), true),
            self.course(fault, |at| at == fault || own.contains(&at), false),
        ];
        // As if it had come at once to where a loop has taken it: at that time, or when the fault was.
        let returns = own.iter().copied().filter(|at| self.executed[*at].site == site).take(MOST_RETURNS);
        for back in returns {
            let is_choice = self.executed[back].kind == OpKind::Choose;
            let between = |at: usize| own.contains(&at) && at < back;
            courses.push(self.course(fault, |at| between(at) || (is_choice && at == fault), false));
            let stretch = self.executed[back..].iter().take_while(|step| step.task == task).count();
            courses.push(self.course(fault, |at| own.contains(&at) && at < back + stretch, true));
        }
        // Without the round of a loop that the fault is in, wherever that begins.
        for from in (0..fault).rev().filter(is_own).take(MOST_STEPS_OF_ROUND) {
            let is_again = |at: &usize| {
                (self.executed[*at].site, self.executed[*at].kind)
                    == (self.executed[from].site, self.executed[from].kind)
            };
            if let Some(again) = own.iter().copied().find(is_again) {
                courses.push(self.course(fault, |at| is_own(&at) && (from..again).contains(&at), false));
            }
        }
        courses
    }

    /// What was executed, the fault aside, without the steps that go; and its task goes on from there, if it is to.
    fn course(&self, fault: usize, goes: impl Fn(usize) -> bool, goes_on: bool) -> Script {
        let kept = (0..self.executed.len()).filter(|at| !goes(*at));
        self.best.of_steps(kept.map(|at| match &self.executed[at] {
            step if at != fault => Wish::of(step),
            step if goes_on => {
                let stretch = Stretch { task: step.task.0, count: u64::MAX };
                Wish { stretch, ..without_fault(step) }
            }
            step => without_fault(step),
        }))
    }
}

/// The step again, but that it comes to its first outcome if it is a fault.
fn without_fault(step: &Step) -> Wish {
    let wish = Wish::of(step);
    Wish { choices: if is_fault(step) { wish.choices.first_of_each() } else { wish.choices }, ..wish }
}
