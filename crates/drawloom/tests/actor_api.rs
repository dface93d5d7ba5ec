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
