//! The graphs of a file in text, for those who work on the rules.

use std::fmt::Write as _;

use drawloom_syntax::Parser;

use crate::analysis::{Options, modelled};
use crate::facts::Facts;
use crate::flow::lock_of;
use crate::program::Program;

/// Every task root of a file, with its events, where each leads, and the locks held there.
#[doc(hidden)]
pub fn graphs(parser: &dyn Parser, source: &str, options: Options) -> String {
    let module = modelled(parser, source);
    let facts = Facts::of(&module, options.framework);
    let program = Program::of(&facts, options.model.into());
    let mut out = String::new();
    for (at, task) in program.tasks.iter().enumerate() {
        let flags = [(task.preempted, "preempted"), (task.multi, "many"), (task.known, "known")];
        let flags: Vec<&str> = flags.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        let _ = writeln!(out, "{at} {} {:?} {}", program.label(at), task.root.kind, flags.join(" "));
        for (id, node) in task.graph.nodes.iter().enumerate() {
            let next: Vec<String> = node.next.iter().map(|(to, edge)| format!("{to}{edge:?}")).collect();
            let held: Vec<&str> = task.graph.held[id]
                .iter()
                .filter_map(|taken| lock_of(&task.graph.nodes[*taken].event))
                .map(|(lock, ..)| program.names.name(lock))
                .collect();
            let mut event = format!("{:?}", node.event);
            if let Some((loc, ..)) = node.event.touches() {
                event = event.replacen(&format!("loc: {loc}"), program.names.name(loc), 1);
            }
            let _ = writeln!(
                out,
                "  {id} L{} {event} -> {} held {held:?} by {:?}{}",
                node.span.line,
                next.join(" "),
                node.controls,
                if node.cleanup { " cleanup" } else { "" }
            );
        }
    }
    out
}
