//! Programs: their text, read.

use std::collections::HashMap;

use drawloom_engine::{Budget, ChannelState, OnceState, OpKind, Parts, Preference, ResourceKind, State, UNBOUNDED};

use super::instruction::{Act, Instruction, Into, Operator, Target, Value, When};

/// A thing that threads share.
#[derive(Clone, Debug)]
pub struct Thing {
    pub kind: ResourceKind,
    pub state: State,
    pub initial: i64,
    /// Of a reader–writer lock.
    pub preference: Preference,
}

/// A thread of a program: instructions, each with its line.
#[derive(Clone, Debug)]
pub struct Thread {
    pub name: String,
    /// Started by `spawn`; the others all start at once.
    pub off: bool,
    /// The group that it is killed with; 0 is none.
    pub group: u16,
    pub code: Vec<(usize, Instruction)>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub things: Vec<Thing>,
    pub threads: Vec<Thread>,
    names: HashMap<String, usize>,
    thread_names: HashMap<String, usize>,
}

impl Program {
    /// Reads a program; lines may also be separated by `;`.
    pub fn parse(text: &str) -> Program {
        let mut program = Program::default();
        let lines: Vec<(usize, Vec<&str>)> = text
            .lines()
            .enumerate()
            .flat_map(|(n, line)| line.split(';').map(move |part| (n + 1, part)))
            .map(|(n, part)| (n, part.split('#').next().unwrap_or("").split_whitespace().collect()))
            .filter(|(_, words): &(usize, Vec<&str>)| !words.is_empty())
            .collect();
        for (_, words) in &lines {
            if words[0] == "thread" {
                program.thread_names.insert(words[1].into(), program.thread_names.len());
            }
        }
        let mut labels: HashMap<(usize, &str), usize> = HashMap::new();
        let (mut thread, mut at) = (0, 0);
        for (_, words) in &lines {
            match words[0] {
                "thread" => (thread, at) = (thread + 1, 0),
                "label" => drop(labels.insert((thread, words[1]), at)),
                _ => at += 1,
            }
        }
        for (line, words) in &lines {
            let thread = program.threads.len();
            match words[0] {
                "thread" => program.threads.push(Thread {
                    name: words[1].into(),
                    off: words.get(2) == Some(&"off"),
                    group: match words.get(2..4) {
                        Some(["of", group]) => group.parse().expect("a group"),
                        _ => 0,
                    },
                    code: Vec::new(),
                }),
                "label" | "option" => {}
                _ if thread == 0 => program.declare(words),
                _ => {
                    let label = |name: &str| labels[&(thread, name)];
                    let instruction = program.instruction(words, label);
                    program.threads[thread - 1].code.push((*line, instruction));
                }
            }
        }
        program
    }

    /// Whether anybody is killed in it.
    pub fn kills(&self) -> bool {
        let kills = |instruction: &Instruction| match instruction {
            Instruction::Kill(_) | Instruction::KillAll(_) => true,
            Instruction::Leave { acts, .. } => acts.iter().flatten().any(|act| act.kind == OpKind::Kill),
            _ => false,
        };
        self.threads.iter().flat_map(|thread| &thread.code).any(|(_, instruction)| kills(instruction))
    }

    fn declare(&mut self, words: &[&str]) {
        let number = |at: usize| words.get(at).map(|w| w.parse::<i64>().expect("a number"));
        let count = |at: usize| number(at).unwrap_or(1) as u64;
        let plain = |kind| (kind, State::Plain, 0, 1);
        let (kind, state, initial, copies) = match words[0] {
            "var" => (ResourceKind::Atomic, State::Plain, number(2).unwrap_or(0), 1),
            "array" => (ResourceKind::Atomic, State::Plain, number(3).unwrap_or(0), count(2)),
            "mutex" => (ResourceKind::Mutex, State::Plain, 0, count(2)),
            "turn" => (ResourceKind::Mutex, State::Turn, 0, 1),
            "cell" => plain(ResourceKind::Cell),
            "rwlock" => plain(ResourceKind::RwLock),
            "cond" => plain(ResourceKind::Condvar),
            "chan" => {
                let capacity = if words[2] == "inf" { UNBOUNDED } else { count(2) };
                (ResourceKind::Channel, State::Channel(ChannelState::new(capacity)), 0, 1)
            }
            "sem" => (ResourceKind::Semaphore, State::Count(count(2)), 0, 1),
            "barrier" => (ResourceKind::Barrier, State::Barrier { size: count(2), arrived: 0 }, 0, 1),
            "group" => (ResourceKind::Cell, State::Plain, 0, 1 + count(2)),
            "latch" => (ResourceKind::Latch, State::Count(count(2)), 0, 1),
            "once" => (ResourceKind::Once, State::Once(OnceState::New), 0, 1),
            "history" => plain(ResourceKind::History),
            other => panic!("no declaration `{other}`"),
        };
        let preference = match words.get(2) {
            Some(&"readers") => Preference::Readers,
            Some(&"writers") => Preference::Writers,
            _ => Preference::Fair,
        };
        self.names.insert(words[1].into(), self.things.len());
        self.things.extend((0..copies).map(|_| Thing { kind, state, initial, preference }));
    }

    fn target(&self, word: &str) -> Target {
        let (name, index) = match word.split_once('[') {
            Some((name, rest)) => (name, value(rest.trim_end_matches(']'))),
            None => (word, Value::Number(0)),
        };
        let first = *self.names.get(name).unwrap_or_else(|| panic!("nothing is called `{name}`"));
        Target { first, index }
    }

    /// What is left to the environment: one or two operations, with `then` between.
    fn acts(&self, words: &[&str]) -> [Option<Act>; 2] {
        let act = |words: &[&str]| Act {
            of_group: words[0] == "killall",
            kind: match words[0] {
                "kill" | "killall" => OpKind::Kill,
                "send" => OpKind::TrySend,
                "close" => OpKind::CloseSend,
                "closerecv" => OpKind::CloseRecv,
                "release" => OpKind::Release,
                "tryacquire" => OpKind::TryAcquire,
                "notify" => OpKind::NotifyOne,
                "notifyall" => OpKind::NotifyAll,
                "down" => OpKind::CountDown,
                other => panic!("the environment cannot `{other}`"),
            },
            at: (!words[0].starts_with("kill")).then(|| self.target(words[1])),
            value: match words[0] {
                "kill" => self.thread_names[words[1]] as i64,
                "killall" => words[1].parse().expect("a group"),
                _ => words.get(2).map_or(1, |word| word.parse().expect("a number")),
            },
        };
        let mut acts = words.split(|word| *word == "then").map(act);
        [acts.next(), acts.next()]
    }

    fn instruction(&self, words: &[&str], label: impl Fn(&str) -> usize) -> Instruction {
        use Instruction as I;
        let at = |n: usize| self.target(words[n]);
        let thread = |n: usize| self.thread_names[words[n]];
        let simple = |kind| I::Simple { kind, at: at(1), ok: None };
        let tried = |kind| I::Simple { kind, at: at(2), ok: into(words[1]) };
        let close = |kind| I::Simple { kind, at: at(1), ok: None };
        let counted = |n: usize| words.get(n).map_or(Value::Number(1), |w| value(w));
        match words[0] {
            "load" => I::Load { to: into(words[1]), at: at(2) },
            "await" => {
                I::Await { to: into(words[1]), at: at(2), op: Operator::parse(words[3]), value: value(words[4]) }
            }
            "store" => I::Store { at: at(1), value: value(words[2]) },
            "faa" => I::Add { to: into(words[1]), at: at(2), value: value(words[3]) },
            "xchg" => I::Exchange { to: into(words[1]), at: at(2), value: value(words[3]) },
            "cas" => I::Cas { ok: into(words[1]), at: at(2), expected: value(words[3]), new: value(words[4]) },
            "read" => simple(OpKind::CellRead),
            "write" => simple(OpKind::CellWrite),
            "piece" => {
                let mask = |n: usize| u32::from_str_radix(words[n], 2).expect("bits");
                I::Piece { to: into(words[1]), at: at(2), parts: Parts { reads: mask(3), writes: mask(4) } }
            }
            "several" => {
                let touched = |n: usize| {
                    let (mode, name) = words.get(n)?.split_at(1);
                    Some((self.target(name.trim_start_matches(':')), mode == "w"))
                };
                I::Several { to: into(words[1]), at: [touched(2), touched(3), touched(4)] }
            }
            "lock" => simple(OpKind::Lock),
            "unlock" => simple(OpKind::Unlock),
            "trylock" => tried(OpKind::TryLock),
            "rlock" => simple(OpKind::Read),
            "wlock" => simple(OpKind::Write),
            "tryrlock" => tried(OpKind::TryRead),
            "trywlock" => tried(OpKind::TryWrite),
            "downgrade" => simple(OpKind::Downgrade),
            "rwunlock" => I::RwUnlock { at: at(1) },
            "cvwait" => I::CondWait { ok: None, at: at(1), mutex: at(2), timeout: None },
            "cvwaitfor" => I::CondWait { ok: into(words[1]), at: at(2), mutex: at(3), timeout: Some(value(words[4])) },
            "notify" => simple(OpKind::NotifyOne),
            "notifyall" => simple(OpKind::NotifyAll),
            "acquire" => I::Permits { kind: OpKind::Acquire, at: at(1), count: counted(2), ok: None },
            "release" => I::Permits { kind: OpKind::Release, at: at(1), count: counted(2), ok: None },
            "tryacquire" => I::Permits { kind: OpKind::TryAcquire, at: at(2), count: counted(3), ok: into(words[1]) },
            "arrive" => tried(OpKind::Arrive),
            "down" => I::Permits { kind: OpKind::CountDown, at: at(2), count: counted(3), ok: into(words[1]) },
            "open" => simple(OpKind::LatchWait),
            "isopen" => tried(OpKind::LatchCheck),
            "enter" => I::Enter { run: into(words[1]), at: at(2) },
            "finish" => I::Finish { at: at(1), good: value(words[2]) },
            "check" => tried(OpKind::OnceCheck),
            "send" => I::Send { kind: OpKind::Send, at: at(1), value: value(words[2]), ok: None },
            "sendok" => I::Send { kind: OpKind::Send, at: at(2), value: value(words[3]), ok: into(words[1]) },
            "trysend" => I::Send { kind: OpKind::TrySend, at: at(2), value: value(words[3]), ok: into(words[1]) },
            "recv" => I::Recv { kind: OpKind::Recv, at: at(2), to: into(words[1]), ok: None, timeout: None },
            "recvok" => {
                I::Recv { kind: OpKind::Recv, at: at(3), to: into(words[2]), ok: into(words[1]), timeout: None }
            }
            "recvfor" => I::Recv {
                kind: OpKind::Recv,
                at: at(3),
                to: into(words[2]),
                ok: into(words[1]),
                timeout: Some(value(words[4])),
            },
            "tryrecv" => {
                I::Recv { kind: OpKind::TryRecv, at: at(3), to: into(words[2]), ok: into(words[1]), timeout: None }
            }
            "call" => simple(OpKind::Call),
            "return" => simple(OpKind::Return),
            "close" => close(OpKind::CloseSend),
            "closerecv" => close(OpKind::CloseRecv),
            "shut" => close(OpKind::Close),
            "shutok" => tried(OpKind::Close),
            "length" => I::Length { to: into(words[1]), at: at(2) },
            "spawn" => I::Spawn(thread(1)),
            "later" => I::Leave { acts: self.acts(&words[1..]), budget: None },
            "fault" => I::Leave { acts: self.acts(&words[1..]), budget: Some(Budget::Faults) },
            "join" => I::Join(thread(1)),
            "isfinished" => I::IsFinished { to: into(words[1]), thread: thread(2) },
            "park" => I::Park { ok: None, timeout: None },
            "parkfor" => I::Park { ok: into(words[1]), timeout: Some(value(words[2])) },
            "unpark" => I::Unpark(thread(1)),
            "kill" => I::Kill(thread(1)),
            "killall" => I::KillAll(words[1].parse().expect("a group")),
            "sleep" => I::Sleep(value(words[1])),
            "now" => I::Now { to: into(words[1]) },
            "yield" => I::Yield,
            "choose" => I::Choose { to: into(words[1]), count: value(words[2]) },
            "set" => I::Set {
                to: into(words[1]),
                a: value(words[2]),
                op: words.get(3).map_or(Operator::Plus, |op| Operator::parse(op)),
                b: words.get(4).map_or(Value::Number(0), |b| value(b)),
            },
            "jmp" => I::Jump { when: When::Always, to: label(words[1]) },
            "jz" => I::Jump { when: When::Zero(value(words[1])), to: label(words[2]) },
            "jnz" => I::Jump { when: When::NotZero(value(words[1])), to: label(words[2]) },
            "assume" => I::Assume(value(words[1])),
            "assert" => I::Assert(value(words[1])),
            other => panic!("no instruction `{other}`"),
        }
    }
}

fn value(word: &str) -> Value {
    match word.strip_prefix('r').and_then(|n| n.parse().ok()) {
        Some(register) => Value::Register(register),
        None => Value::Number(word.parse().unwrap_or_else(|_| panic!("`{word}` is neither a number nor a register"))),
    }
}

fn into(word: &str) -> Into {
    match (word, value_or_blank(word)) {
        (_, Some(Value::Register(register))) => Some(register),
        ("_", _) => None,
        _ => panic!("`{word}` is no register"),
    }
}

fn value_or_blank(word: &str) -> Option<Value> {
    (word != "_").then(|| value(word))
}
