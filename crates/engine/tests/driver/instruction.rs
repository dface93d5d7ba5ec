//! Instructions of programs, as read.

use drawloom_engine::{Budget, OpKind, Parts};

/// A number or a register.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Number(i64),
    Register(usize),
}

/// A declared thing, or an element of an array of them.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub first: usize,
    pub index: Value,
}

/// Where a result goes; `None` throws it away.
pub type Into = Option<usize>;

/// When to jump.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Always,
    Zero(Value),
    NotZero(Value),
}

/// What the environment does.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    pub kind: OpKind,
    /// Nothing of a kill.
    pub at: Option<Target>,
    /// Of a kill, the thread or the group.
    pub value: i64,
    pub of_group: bool,
}

/// One line of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    Load {
        to: Into,
        at: Target,
    },
    Store {
        at: Target,
        value: Value,
    },
    /// Waits until what is there is as it should be.
    Await {
        to: Into,
        at: Target,
        op: Operator,
        value: Value,
    },
    Add {
        to: Into,
        at: Target,
        value: Value,
    },
    Exchange {
        to: Into,
        at: Target,
        value: Value,
    },
    Cas {
        ok: Into,
        at: Target,
        expected: Value,
        new: Value,
    },
    /// An operation on one thing, with the register that tells whether it was carried out.
    Simple {
        kind: OpKind,
        at: Target,
        ok: Into,
    },
    /// Sums up parts of a group, and counts on in others.
    Piece {
        to: Into,
        at: Target,
        parts: Parts,
    },
    /// Sums up two or three cells, and counts on in those that it writes; each with a letter, `r` or `w`.
    Several {
        to: Into,
        at: [Option<(Target, bool)>; 3],
    },
    RwUnlock {
        at: Target,
    },
    CondWait {
        ok: Into,
        at: Target,
        mutex: Target,
        timeout: Option<Value>,
    },
    Permits {
        kind: OpKind,
        at: Target,
        count: Value,
        ok: Into,
    },
    Send {
        kind: OpKind,
        at: Target,
        value: Value,
        ok: Into,
    },
    Recv {
        kind: OpKind,
        at: Target,
        to: Into,
        ok: Into,
        timeout: Option<Value>,
    },
    /// How many messages a channel holds.
    Length {
        to: Into,
        at: Target,
    },
    /// `run` is 1 if the initialiser is this task's to run, 2 if it is so after a panic, else 0.
    Enter {
        run: Into,
        at: Target,
    },
    Finish {
        at: Target,
        good: Value,
    },
    Spawn(usize),
    /// Leaves these to the environment, one after the other.
    Leave {
        acts: [Option<Act>; 2],
        budget: Option<Budget>,
    },
    Join(usize),
    IsFinished {
        to: Into,
        thread: usize,
    },
    Park {
        ok: Into,
        timeout: Option<Value>,
    },
    Unpark(usize),
    Kill(usize),
    /// Kills all threads of a group, one after another.
    KillAll(u16),
    Sleep(Value),
    Now {
        to: Into,
    },
    Yield,
    Choose {
        to: Into,
        count: Value,
    },
    Set {
        to: Into,
        a: Value,
        op: Operator,
        b: Value,
    },
    Jump {
        when: When,
        to: usize,
    },
    Assume(Value),
    Assert(Value),
}

/// What `set` computes.
#[derive(Clone, Copy, Debug)]
pub enum Operator {
    Plus,
    Minus,
    Times,
    Modulo,
    Equal,
    Unequal,
    Less,
    Greater,
    And,
    Or,
}

impl Operator {
    pub fn parse(text: &str) -> Operator {
        match text {
            "+" => Operator::Plus,
            "-" => Operator::Minus,
            "*" => Operator::Times,
            "%" => Operator::Modulo,
            "==" => Operator::Equal,
            "!=" => Operator::Unequal,
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "&&" => Operator::And,
            "||" => Operator::Or,
            other => panic!("no operator `{other}`"),
        }
    }

    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Operator::Plus => a + b,
            Operator::Minus => a - b,
            Operator::Times => a * b,
            Operator::Modulo => a % b,
            Operator::Equal => i64::from(a == b),
            Operator::Unequal => i64::from(a != b),
            Operator::Less => i64::from(a < b),
            Operator::Greater => i64::from(a > b),
            Operator::And => i64::from(a != 0 && b != 0),
            Operator::Or => i64::from(a != 0 || b != 0),
        }
    }
}
