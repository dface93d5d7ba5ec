//! From the tree of a function to its graph: paths, exceptions and cancellations, what is read and written, locks, checkpoints.
//!
//! Functions of the file that are called are put in place of the call, with their parameters bound to what is passed. So a helper's
//! accesses are seen under the locks of its callers, and a lock that a helper returns is the one that it looked up.
//!
//! - `value`: what is known of a value; `state`: the paths under construction; `expression`, `statement`: the walk;
//! - `call`: calls of known functions; `library`: calls of libraries; `spawn`: tasks that begin.

mod call;
mod expression;
mod library;
mod spawn;
mod state;
mod statement;
mod value;

use std::collections::BTreeMap;
use std::rc::Rc;

use drawloom_syntax::{Expr, FunctionId, Span};

use crate::facts::Facts;
use crate::graph::{Edge, Graph, Loc, NodeId};

pub(crate) use expression::PROCESS;
pub(crate) use value::{Callable, Val, merge};

/// Names of pieces of state, each with a number.
#[derive(Default, Debug)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, Loc>,
    /// The functions that are in fields from the beginning.
    pub(crate) functions: BTreeMap<Loc, Rc<Callable>>,
}

impl Names {
    pub(crate) fn number(&mut self, name: &str) -> Loc {
        if let Some(found) = self.numbers.get(name) {
            return *found;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub(crate) fn name(&self, loc: Loc) -> &str {
        &self.names[loc]
    }
}

/// How a root is run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum RootKind {
    /// Where the program begins.
    Entry,
    /// As a task.
    Task,
    /// As a thread.
    Thread,
    /// By whoever uses the file: as often as they like.
    Exported,
}

/// What a task root runs.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) kind: RootKind,
    pub(crate) callable: Callable,
    /// Which arguments it is given.
    pub(crate) given: Vec<(Option<String>, Val)>,
    /// Whether a search runs it in all orders, and looks at what comes of it.
    pub(crate) explored: bool,
    /// What tells it from others.
    pub(crate) signature: String,
}

/// How deep calls are put in place of themselves.
const DEEPEST: usize = 4;
/// No graph is larger: what else is called counts as not known.
const MOST_NODES: usize = 2500;

/// One function call in progress.
pub(super) struct Frame<'m> {
    pub(super) function: FunctionId,
    pub(super) variables: BTreeMap<Rc<str>, Rc<Val>>,
    /// The frame that it was written in.
    pub(super) outer: Option<usize>,
    /// What its variables are called, apart from those of other calls.
    pub(super) suffix: String,
    pub(super) returns: Vec<(NodeId, Edge)>,
    pub(super) result: Option<Val>,
    /// How much of the stack of unwinding is others'.
    pub(super) base: usize,
    /// What a `yield` stands for: the body of a `with`, in the frame that it is in.
    pub(super) body: Option<Body<'m>>,
}

/// The body of a `with` over a generator of the file.
#[derive(Clone)]
pub(super) struct Body<'m> {
    pub(super) frame: usize,
    pub(super) target: Option<&'m Expr>,
    pub(super) statements: &'m [Expr],
    /// What is left of the items of the `with`.
    pub(super) items: &'m [(Expr, Option<Expr>)],
    pub(super) is_async: bool,
}

/// What has to be done when a block is left.
pub(super) enum Unwind<'m> {
    Finally {
        body: &'m [Expr],
        frame: usize,
        catch: usize,
    },
    Release {
        lock: Loc,
        key: Option<String>,
        span: Span,
    },
    /// The end of an `async with` of something unknown.
    Exit {
        span: Span,
        catch: usize,
    },
    /// Guards of a block of Rust.
    Guards(Vec<NodeId>),
    /// A loop: what leaves it and what goes on with it.
    Loop {
        breaks: Vec<(NodeId, Edge)>,
        continues: Vec<(NodeId, Edge)>,
    },
    /// A handler at work, or something else that needs nothing.
    Nothing,
}

/// Where what is raised goes.
#[derive(Default)]
pub(super) struct Catch {
    pub(super) errors: Vec<NodeId>,
    pub(super) cancels: Vec<NodeId>,
}

/// A graph under construction.
pub(crate) struct Lowerer<'a, 'm> {
    pub(super) facts: &'a Facts<'m>,
    pub(super) names: &'a mut Names,
    pub(super) graph: Graph,
    /// Where the next node is reached from.
    pub(super) tails: Vec<(NodeId, Edge)>,
    pub(super) frames: Vec<Frame<'m>>,
    /// The frame that is at work.
    pub(super) frame: usize,
    pub(super) unwinds: Vec<Unwind<'m>>,
    pub(super) catches: Vec<Catch>,
    pub(super) controls: Vec<NodeId>,
    /// Functions that are being put in place, against recursion.
    pub(super) active: Vec<FunctionId>,
    pub(super) cleanup: usize,
    /// How many scopes around keep cancellations away.
    pub(super) shielded: usize,
    pub(super) loops: usize,
    /// Whether nobody looks at the value of the expression at hand.
    pub(super) discards: bool,
    /// Guards that nobody has named yet.
    pub(super) temporaries: Vec<NodeId>,
    /// Depth of the walk itself.
    pub(super) depth: usize,
    /// The roots that this graph spawns.
    pub(crate) spawned: Vec<Root>,
    /// Whether a jump was met: what comes after its `if` depends on it.
    pub(super) jumped: bool,
    /// Whether the object that is explored is being made.
    pub(super) makes: bool,
}

/// The graph of a root, and what it spawns.
pub(crate) fn lower<'m>(facts: &Facts<'m>, names: &mut Names, root: &Root) -> (Graph, Vec<Root>) {
    let mut lowerer = Lowerer {
        facts,
        names,
        graph: Graph::default(),
        tails: Vec::new(),
        frames: Vec::new(),
        frame: 0,
        unwinds: Vec::new(),
        catches: Vec::new(),
        controls: Vec::new(),
        active: Vec::new(),
        cleanup: 0,
        shielded: 0,
        loops: 0,
        discards: false,
        temporaries: Vec::new(),
        depth: 0,
        spawned: Vec::new(),
        jumped: false,
        makes: false,
    };
    lowerer.root(root);
    (lowerer.graph, lowerer.spawned)
}
