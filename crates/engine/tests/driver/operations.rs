//! What an instruction announces, and what is left to do once the engine has carried it out.

use drawloom_engine::{
    ChannelState, Look, OpKind, Operation, ResourceId, ResourceKind, Several, Site, State, TaskId, outcome,
};

use super::instruction::{Instruction, Target, Value};
use super::machine::Machine;

impl Machine<'_> {
    pub(super) fn operation(&mut self, task: TaskId, instruction: &Instruction, site: Site) -> Operation {
        use Instruction as I;
        let now = self.engine.now();
        let deadline = |machine: &mut Self, timeout: Option<Value>| {
            let deadline = timeout.map(|t| now + machine.value(task, t) as u64);
            machine.engine.set_deadline(task, deadline);
        };
        if let I::Several { at, .. } = *instruction {
            let touched: Vec<_> = at.into_iter().flatten().map(|(at, w)| (self.resource(task, at), w)).collect();
            return Several::new(&touched).expect("so many").operation(site);
        }
        let mut arg = 0;
        let (kind, at) = match *instruction {
            I::Load { at, .. } => (OpKind::Load, Some(at)),
            I::Store { at, .. } => (OpKind::Store, Some(at)),
            I::Await { at, op, value, .. } => {
                arg = self.look(task, at, |machine, seen| op.apply(seen, machine.value(task, value)) != 0).operand();
                (OpKind::Await, Some(at))
            }
            I::Add { at, .. } | I::Exchange { at, .. } => (OpKind::Rmw, Some(at)),
            I::Cas { at, expected, .. } => {
                arg = self.value(task, expected) as u64;
                (OpKind::Cas, Some(at))
            }
            I::Simple { kind, at, .. } => (kind, Some(at)),
            I::Piece { at, parts, .. } => {
                arg = parts.operand();
                (parts.kind(), Some(at))
            }
            I::RwUnlock { at } => {
                let id = self.resource(task, at);
                let writing = self.engine.resources()[id.index()].holders.iter().any(|h| h.exclusive);
                (if writing { OpKind::WriteUnlock } else { OpKind::ReadUnlock }, Some(at))
            }
            I::CondWait { at, mutex, timeout, .. } => {
                if let Some(mutex) = self.thread(task).relock {
                    return Operation::new(OpKind::Lock, mutex, site);
                }
                deadline(self, timeout);
                arg = u64::from(self.resource(task, mutex).0);
                (OpKind::CondWait, Some(at))
            }
            I::Permits { kind, at, count, .. } => {
                arg = self.value(task, count) as u64;
                (kind, Some(at))
            }
            I::Send { kind, at, .. } => (kind, Some(at)),
            I::Recv { kind, at, timeout, .. } => {
                deadline(self, timeout);
                (kind, Some(at))
            }
            I::Length { at, .. } => (OpKind::Length, Some(at)),
            I::Enter { at, .. } => (OpKind::OnceEnter, Some(at)),
            I::Finish { at, good } => {
                arg = self.value(task, good) as u64;
                (OpKind::OnceFinish, Some(at))
            }
            I::Spawn(_) | I::Leave { .. } => (OpKind::Spawn, None),
            I::Join(thread) => {
                arg = u64::from(self.tasks[thread].0);
                (OpKind::Join, None)
            }
            I::IsFinished { thread, .. } => {
                arg = u64::from(self.tasks[thread].0);
                (OpKind::IsFinished, None)
            }
            I::Park { timeout, .. } => {
                deadline(self, timeout);
                (OpKind::Park, None)
            }
            // What is assumed and does not hold is waited for in vain.
            I::Assume(_) => (OpKind::Park, None),
            I::Unpark(thread) => {
                arg = u64::from(self.tasks[thread].0);
                (OpKind::Unpark, None)
            }
            I::Kill(thread) => {
                arg = u64::from(self.tasks[thread].0);
                (OpKind::Kill, None)
            }
            I::Sleep(time) => {
                arg = now + self.value(task, time) as u64;
                (OpKind::Sleep, None)
            }
            I::Now { .. } => (OpKind::Now, None),
            I::Yield => (OpKind::Yield, None),
            I::Choose { count, .. } => {
                arg = self.value(task, count) as u64;
                (OpKind::Choose, None)
            }
            I::Set { .. } | I::Jump { .. } | I::Assert(_) | I::KillAll(_) | I::Several { .. } => {
                unreachable!("a local instruction")
            }
        };
        let id = match at {
            Some(at) => self.resource(task, at),
            None => ResourceId::NONE,
        };
        if let Some(at) = at {
            let index = self.index(task, at);
            if self.program.things[index].kind == ResourceKind::RwLock {
                arg = self.program.things[index].preference.operand();
            }
        }
        if id != ResourceId::NONE {
            if let State::Channel(ChannelState { capacity, .. }) = self.engine.resources()[id.index()].state {
                arg = capacity;
            }
        }
        Operation::new(kind, id, site).with_arg(arg)
    }

    /// What there is to be seen of what `task` awaits.
    fn look(&mut self, task: TaskId, at: Target, holds: impl Fn(&mut Self, i64) -> bool) -> Look {
        let (index, id) = (self.index(task, at), self.resource(task, at));
        let (now, made) = (self.memory[index], self.engine.steps().len());
        Look::back(holds(self, now), made, |end| {
            let (write, found) = self.engine.value_before(id, end)?;
            Some((write, holds(self, found as i64)))
        })
    }

    /// The operation that `task` announced has been carried out: the rest of it is ours.
    pub(super) fn complete(&mut self, task: TaskId, result: u32) {
        use Instruction as I;
        let running = self.thread(task);
        let (thread, at) = (running.thread, running.at);
        running.announced = false;
        self.engine.set_deadline(task, None);
        let instruction = self.program.threads[thread].code[at].1;
        let done = i64::from(result == outcome::OK);
        match instruction {
            I::Load { to, at } => {
                let index = self.index(task, at);
                let value = self.memory[index];
                self.engine.note_value(value as u64);
                self.set(task, to, value);
            }
            I::Await { to, at, .. } => {
                let index = self.index(task, at);
                let value = self.memory[index];
                self.engine.note_value(value as u64);
                self.set(task, to, value);
            }
            I::Store { at, value } => {
                let index = self.index(task, at);
                let new = self.value(task, value);
                let old = std::mem::replace(&mut self.memory[index], new);
                self.engine.note_value(self.memory[index] as u64);
                self.engine.note_other_value(old as u64);
            }
            I::Add { to, at, value } => {
                let index = self.index(task, at);
                let old = self.memory[index];
                self.memory[index] = old + self.value(task, value);
                self.engine.note_value(old as u64);
                self.engine.note_other_value(self.memory[index] as u64);
                self.set(task, to, old);
            }
            I::Exchange { to, at, value } => {
                let index = self.index(task, at);
                let old = self.memory[index];
                self.memory[index] = self.value(task, value);
                self.engine.note_value(old as u64);
                self.engine.note_other_value(self.memory[index] as u64);
                self.set(task, to, old);
            }
            I::Cas { ok, at, expected, new } => {
                let index = self.index(task, at);
                let old = self.memory[index];
                let equal = old == self.value(task, expected);
                self.engine.note_value(old as u64);
                if equal {
                    self.memory[index] = self.value(task, new);
                    self.engine.note_other_value(self.memory[index] as u64);
                } else {
                    self.engine.note_refused();
                }
                self.set(task, ok, i64::from(equal));
            }
            I::Piece { to, at, parts } => {
                let first = self.index(task, at) + 1;
                let has = |bits: u32, part: usize| bits >> part & 1 == 1;
                let sum = (0..32).filter(|part| has(parts.reads, *part)).map(|part| self.memory[first + part]).sum();
                for part in (0..32).filter(|part| has(parts.writes, *part)) {
                    // What is written tells who wrote it, and what he had seen.
                    self.memory[first + part] = 10 * sum + thread as i64 + 1;
                }
                self.set(task, to, sum);
            }
            I::Several { to, at } => {
                let touched: Vec<_> = at.into_iter().flatten().map(|(at, w)| (self.index(task, at), w)).collect();
                let sum = touched.iter().map(|(index, _)| self.memory[*index]).sum();
                for (index, _) in touched.iter().filter(|(_, writes)| *writes) {
                    self.memory[*index] = 10 * sum + thread as i64 + 1;
                }
                self.set(task, to, sum);
            }
            I::Simple { kind: OpKind::Arrive, ok, .. } => self.set(task, ok, i64::from(result == outcome::LEADER)),
            I::Simple { kind: OpKind::Close, at, ok } => {
                self.take_back(task, at);
                self.set(task, ok, i64::from(result == outcome::DISCONNECTED));
            }
            I::Length { to, .. } => {
                let length = self.engine.steps().last().map_or(0, |step| step.value) as i64;
                self.set(task, to, length);
            }
            I::Simple { ok, .. } | I::Permits { ok, .. } | I::Park { ok, .. } | I::Send { ok, .. } => {
                self.set(task, ok, done)
            }
            I::CondWait { ok, mutex, .. } => {
                if self.thread(task).relock.take().is_none() {
                    let mutex = self.resource(task, mutex);
                    self.thread(task).relock = Some(mutex);
                    self.set(task, ok, done);
                    return;
                }
            }
            I::Recv { at, to, ok, .. } => {
                if result == outcome::OK {
                    let index = self.index(task, at);
                    let value = self.messages[index].pop_front().expect("a message for every ticket");
                    self.set(task, to, value);
                }
                self.set(task, ok, done);
            }
            I::Enter { run, .. } => {
                let code = match result {
                    outcome::RUN => 1,
                    outcome::RUN_AFTER_PANIC => 2,
                    _ => 0,
                };
                self.set(task, run, code);
            }
            I::Spawn(thread) => self.spawn(task, thread),
            I::Leave { acts, budget } => self.leave(task, acts, budget),
            I::IsFinished { to, .. } => self.set(task, to, done),
            I::Now { to } => {
                let now = self.engine.now() as i64;
                self.set(task, to, now);
            }
            I::Choose { to, .. } => {
                let chosen = self.engine.steps().last().map_or(0, |step| step.value) as i64;
                self.set(task, to, chosen);
            }
            // The next of the group is killed by the same instruction.
            I::KillAll(_) => return,
            I::RwUnlock { .. } | I::Finish { .. } | I::Join(_) | I::Unpark(_) | I::Kill(_) | I::Sleep(_) | I::Yield => {
            }
            I::Set { .. } | I::Jump { .. } | I::Assume(_) | I::Assert(_) => {
                unreachable!("never carried out")
            }
        }
        self.thread(task).at += 1;
    }
}
