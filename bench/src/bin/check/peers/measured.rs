use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use drawloom_bench::measure::cpu_time;
use drawloom_check::history::Value;
use drawloom_check::linearizable::Checker;
use drawloom_check::model::{Register, RegisterOp, RegisterRet, history_from_log};
use drawloom_check::{Budget, History, Operation};

use crate::recorded::{files, read};
use crate::section::{Section, ms};

/// How long a peer may take for one log.
const PATIENCE: Duration = Duration::from_secs(10);
const LOGS: usize = 20;
const CONTESTANTS: [&str; 4] = ["drawloom", "porcupine-rs 0.3", "todc-utils 0.1", "stateright 0.31"];

type Logged = History<RegisterOp<Value>, RegisterRet<Value>>;
type Entry = Operation<RegisterOp<Value>, RegisterRet<Value>>;

/// An operation with its result, as peers want it: `None` if nobody knows.
type Seen = (RegisterOp<Value>, Option<RegisterRet<Value>>);

fn seen(operation: &Entry) -> Seen {
    (operation.op.clone(), operation.outcome.ret().cloned())
}

/// What a register does, as peers want to be told.
fn step(state: &Value, (op, ret): &Seen) -> (bool, Value) {
    match (op, ret) {
        (RegisterOp::Read, Some(RegisterRet::Value(value))) => (value == state, state.clone()),
        (RegisterOp::Write(value), _) => (true, value.clone()),
        (RegisterOp::Cas(from, to), Some(RegisterRet::Swapped(true))) => (from == state, to.clone()),
        (RegisterOp::Cas(from, _), Some(RegisterRet::Swapped(false))) => (from != state, state.clone()),
        (RegisterOp::Cas(from, to), None) if from == state => (true, to.clone()),
        _ => (true, state.clone()),
    }
}

pub fn measure() -> Section {
    let mut section = Section::new(&["checker", "answered", "right", "CPU ms of those answered"]);
    let program = std::env::current_exe().expect("this program has a path");
    let logs: Vec<_> = files().into_iter().filter(|path| path.to_string_lossy().contains("etcd")).take(LOGS).collect();
    for contestant in CONTESTANTS {
        let (mut answered, mut right, mut sum) = (0, 0, Duration::ZERO);
        for path in &logs {
            let child = Command::new(&program)
                .arg("--peer")
                .arg(contestant)
                .arg(path)
                .stdout(std::process::Stdio::piped())
                .spawn();
            let mut child = child.expect("this program can be started");
            let began = Instant::now();
            let ended = loop {
                match child.try_wait() {
                    Ok(None) if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
                    Ok(Some(_)) => break true,
                    _ => break false,
                }
            };
            if !ended {
                let _ = child.kill();
                let _ = child.wait();
                continue;
            }
            let output = child.wait_with_output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            let output = output.unwrap_or_default();
            let Some((verdict, micros)) = output.trim().split_once(' ') else { continue };
            answered += 1;
            right += usize::from(verdict == "right");
            sum += Duration::from_micros(micros.parse().unwrap_or(0));
        }
        section.row(&[contestant.to_owned(), format!("{answered} of {LOGS}"), right.to_string(), ms(sum)]);
    }
    section
}

/// Checks one log with one checker, and prints whether the verdict is right and the CPU time in microseconds.
pub fn check_one(peer: &str, path: &Path) -> ExitCode {
    let log = read(path);
    let history = history_from_log::<Register<Value>>(&log).expect("it is a log of a register");
    let expected = log.meta.get("expect").and_then(Value::as_text) == Some("ok");
    let (time, ok) = match peer {
        "drawloom" => {
            cpu_time(|| Checker::new().check(&Register::new(Value::Nil), &history, Budget::default()).is_ok())
        }
        "porcupine-rs 0.3" => porcupine_rs(&history),
        "todc-utils 0.1" => todc_utils(&history),
        "stateright 0.31" => stateright(&history),
        _ => return ExitCode::from(2),
    };
    println!("{} {}", if ok == expected { "right" } else { "wrong" }, time.as_micros());
    ExitCode::SUCCESS
}

/// Operations that took place or may have, in the order of their calls.
fn relevant(history: &Logged) -> impl Iterator<Item = &Entry> {
    history.operations().iter().filter(|operation| !matches!(operation.outcome, drawloom_check::Outcome::Fail))
}

fn porcupine_rs(history: &Logged) -> (Duration, bool) {
    #[derive(Clone, Debug)]
    struct Cas;

    impl porcupine::Model for Cas {
        type State = Value;
        type Op = Seen;
        type Metadata = ();

        fn init() -> Value {
            Value::Nil
        }

        fn step(state: &Value, op: &Seen) -> (bool, Value) {
            step(state, op)
        }
    }

    let operations: Vec<porcupine::Operation<Cas>> = relevant(history)
        .map(|operation| porcupine::Operation {
            client_id: None,
            call_time: i64::from(operation.call),
            return_time: i64::from(operation.deadline()),
            op: seen(operation),
            metadata: None,
        })
        .collect();
    cpu_time(|| porcupine::check_operations(&operations))
}

fn todc_utils(history: &Logged) -> (Duration, bool) {
    use todc_utils::{Action, History, Specification, WGLChecker};

    struct Cas;

    impl Specification for Cas {
        type State = Value;
        type Operation = Seen;

        fn init() -> Value {
            Value::Nil
        }

        fn apply(operation: &Seen, state: &Value) -> (bool, Value) {
            step(state, operation)
        }
    }

    let mut events: Vec<(u32, usize, bool)> = Vec::new();
    let operations: Vec<&Entry> = relevant(history).collect();
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.call, at, false));
        events.push((operation.deadline(), at, true));
    }
    events.sort_unstable();
    // A process of its own for each operation: those of unknown outcome never end.
    let actions = events.into_iter().map(|(_, at, ended)| {
        let action = seen(operations[at]);
        (at, if ended { Action::Response(action) } else { Action::Call(action) })
    });
    let actions: Vec<_> = actions.collect();
    cpu_time(|| WGLChecker::<Cas>::is_linearizable(History::from_actions(actions)))
}

fn stateright(history: &Logged) -> (Duration, bool) {
    use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

    #[derive(Clone)]
    struct Cas(Value);

    impl SequentialSpec for Cas {
        type Op = RegisterOp<Value>;
        type Ret = RegisterRet<Value>;

        fn invoke(&mut self, op: &Self::Op) -> Self::Ret {
            match op {
                RegisterOp::Read => RegisterRet::Value(self.0.clone()),
                RegisterOp::Write(value) => {
                    self.0.clone_from(value);
                    RegisterRet::Written
                }
                RegisterOp::Cas(from, to) => {
                    let swaps = self.0 == *from;
                    if swaps {
                        self.0.clone_from(to);
                    }
                    RegisterRet::Swapped(swaps)
                }
            }
        }
    }

    let mut tester = LinearizabilityTester::new(Cas(Value::Nil));
    let mut events: Vec<(u32, u64, bool, &Entry)> = Vec::new();
    for (at, operation) in relevant(history).enumerate() {
        // A thread that will never end its operation is one of its own.
        let known = operation.outcome.ret().is_some();
        let thread = if known { operation.process.0 } else { 1_000_000 + at as u64 };
        events.push((operation.call, thread, false, operation));
        if known {
            events.push((operation.deadline(), thread, true, operation));
        }
    }
    events.sort_by_key(|(event, ..)| *event);
    for (_, thread, ended, operation) in events {
        let told = match operation.outcome.ret() {
            Some(ret) if ended => tester.on_return(thread, ret.clone()).map(drop),
            _ => tester.on_invoke(thread, operation.op.clone()).map(drop),
        };
        told.expect("the history is well-formed");
    }
    cpu_time(|| tester.is_consistent())
}
