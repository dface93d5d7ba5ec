//! What users write compiles: the same source for every backend.

use std::time::Duration;

use drawloom::actor::{Ctx, ExitReason, Pid, Received};
use drawloom::receive;

#[derive(Debug)]
#[expect(dead_code, reason = "nobody runs it")]
enum Msg {
    Number(u32),
    Text(String),
    Ask(Pid<u32>),
}

async fn all_clauses(mut ctx: Ctx<Msg>) -> Result<(), ExitReason> {
    let limit = 1;
    let (child, monitor) = ctx.spawn_monitor(async |mut ctx: Ctx<u32>| {
        ctx.recv().await;
    });
    ctx.send(&child, 1);
    loop {
        let text = receive!(ctx;
            Msg::Number(n) if *n > limit => format!("{n}"),
            Msg::Text(text) if text.len() > 3 => text,
            Msg::Ask(whom) => { whom.send(1); continue }
            down(d) if d.monitor == monitor => d.reason.to_string(),
            exit(e) => return Err(e.reason),
            after Duration::from_secs(1) => break,
        );
        drop(text);
    }
    let _: Received<Msg> =
        ctx.recv_match(move |received| matches!(received, Received::Down(d) if d.monitor == monitor)).await;
    receive!(ctx; _ => ());
    Ok(())
}

#[test]
fn a_process_is_written_once() {
    fn is_a_body<F: Fn(Ctx<Msg>) -> Fut, Fut: Future<Output = Result<(), ExitReason>> + Send>(_: F) {}
    is_a_body(all_clauses);
}

/// The names and tests of a row of the table of parity, which are code in it.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_table_of_parity_names_what_there_is() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: std::path::PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let sources = std::fs::read_dir(root.join("src/actor")).unwrap().map(|entry| entry.unwrap().path());
    let sources: String = sources.map(|path| if path.is_dir() { String::new() } else { read(path) }).collect();
    let page = read(root.join("../../book/src/reference/otp.md"));
    let (mut rows, mut wrong) = (0, Vec::new());
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains(".rs::")) {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, _, ours, tests, _] = cells[..] else { panic!("three columns: {row}") };
        for name in code(ours) {
            let last = name.trim_end_matches('!').rsplit("::").next().unwrap();
            let is_there = ["fn ", "struct ", "enum ", "macro_rules! ", "    ", "is \""].iter().any(|before| {
                sources.match_indices(&format!("{before}{last}")).any(|(at, found)| {
                    !sources[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
                })
            });
            if !is_there && name != "match" {
                wrong.push(format!("`{name}` is nowhere in src/actor: {row}"));
            }
        }
        for test in code(tests) {
            let (file, name) = test.split_once("::").expect("a file and a test");
            let text = read(root.join("tests").join(file));
            if ![format!("fn {name}("), format!("{name}:")].iter().any(|test| text.contains(test)) {
                wrong.push(format!("`{test}` is no test: {row}"));
            }
            rows += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 70, "{rows}");
}
