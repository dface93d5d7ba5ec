//! Supervisors: who is started again, in which order all end, and when it is enough.

use std::time::Duration;

use drawloom::actor::{
    AnyPid, ChildError, ChildInfo, ChildSpec, Children, Ctx, ExitReason, Flow, GenServer, Pid, Restart, ServerCtx,
    Shutdown, StartError, Strategy, Supervisor, SupervisorRef,
};
use drawloom::receive;

use crate::{LONG, SOON};

/// What children tell.
#[derive(Clone, PartialEq, Debug)]
enum Note {
    Up(u32),
    Down(u32),
}
use Note::{Down, Up};

/// A server that tells of its beginning and its end.
struct Child {
    number: u32,
    tells: Pid<Note>,
}

impl GenServer for Child {
    type Args = (u32, Pid<Note>);
    type Call = ();
    type Cast = ExitReason;
    type Info = ();

    async fn init((number, tells): Self::Args, ctx: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        ctx.trap_exit(true);
        ctx.send(&tells, Up(number));
        Ok(Child { number, tells })
    }

    async fn handle_call(&mut self, (): (), _: &mut ServerCtx<Self>) -> Flow {
        Flow::Continue
    }

    async fn handle_cast(&mut self, reason: ExitReason, _: &mut ServerCtx<Self>) -> Flow {
        Flow::Stop(reason)
    }

    async fn terminate(&mut self, _: &ExitReason, ctx: &mut ServerCtx<Self>) {
        ctx.send(&self.tells, Down(self.number));
    }
}

#[track_caller]
fn run<F, Fut>(f: F) -> Fut::Output
where
    F: FnOnce(Ctx<Note>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    crate::run_as(f)
}

fn children(ctx: &Ctx<Note>, strategy: Strategy, restarts: [Restart; 3]) -> Supervisor {
    let with = |supervisor: Supervisor, (number, restart)| {
        let child = ChildSpec::named_server::<Child>(format!("{number}"), (number, ctx.me().clone()));
        supervisor.child(child.restart(restart))
    };
    (1..).zip(restarts).fold(Supervisor::new(strategy), with)
}

async fn started(ctx: &mut Ctx<Note>, strategy: Strategy, restarts: [Restart; 3]) -> SupervisorRef {
    let supervisor = children(ctx, strategy, restarts).start(ctx).await.unwrap();
    assert_eq!(notes(ctx, 3).await, [Up(1), Up(2), Up(3)]);
    supervisor
}

async fn notes(ctx: &mut Ctx<Note>, many: usize) -> Vec<Note> {
    let mut notes = Vec::new();
    for _ in 0..many {
        notes.push(ctx.recv_message().await);
    }
    notes
}

async fn child(ctx: &mut Ctx<Note>, supervisor: &SupervisorRef, id: &str) -> Option<AnyPid> {
    let all = supervisor.which_children(ctx).await.unwrap();
    all.into_iter().find(|child| child.id == id).and_then(|child| child.process)
}

async fn fell_silent(ctx: &mut Ctx<Note>) -> bool {
    ctx.settle().await;
    ctx.recv_timeout(SOON).await.is_none()
}

const ALWAYS: [Restart; 3] = [Restart::Permanent; 3];

#[test]
fn children_start_in_order_and_end_in_reverse() {
    run(|mut ctx| async move {
        let supervisor = started(&mut ctx, Strategy::OneForOne, ALWAYS).await;
        assert_eq!(supervisor.count_children(&mut ctx).await, Ok(Children { specs: 3, active: 3 }));
        supervisor.stop(&mut ctx).await.unwrap();
        assert_eq!(notes(&mut ctx, 3).await, [Down(3), Down(2), Down(1)]);
    });
}

#[test]
fn one_for_one_starts_one() {
    run(|mut ctx| async move {
        let supervisor = started(&mut ctx, Strategy::OneForOne, ALWAYS).await;
        let second = child(&mut ctx, &supervisor, "2").await.unwrap();
        ctx.kill(&second);
        assert_eq!(notes(&mut ctx, 1).await, [Up(2)]);
        let again = child(&mut ctx, &supervisor, "2").await.unwrap();
        assert!(again != second && ctx.whereis("2") == Some(again));
        assert!(fell_silent(&mut ctx).await);
    });
}

#[test]
fn one_for_all_starts_all() {
    run(|mut ctx| async move {
        let supervisor = started(&mut ctx, Strategy::OneForAll, ALWAYS).await;
        let second = child(&mut ctx, &supervisor, "2").await.unwrap();
        ctx.kill(&second);
        assert_eq!(notes(&mut ctx, 5).await, [Down(3), Down(1), Up(1), Up(2), Up(3)]);
        assert!(fell_silent(&mut ctx).await);
    });
}

#[test]
fn rest_for_one_starts_those_that_came_later() {
    run(|mut ctx| async move {
        let supervisor = started(&mut ctx, Strategy::RestForOne, ALWAYS).await;
        let second = child(&mut ctx, &supervisor, "2").await.unwrap();
        ctx.kill(&second);
        assert_eq!(notes(&mut ctx, 3).await, [Down(3), Up(2), Up(3)]);
        assert!(fell_silent(&mut ctx).await);
    });
}

#[test]
fn how_a_child_has_ended_decides_whether_it_is_started_again() {
    run(|mut ctx| async move {
        let kinds = [Restart::Permanent, Restart::Transient, Restart::Temporary];
        let supervisor = started(&mut ctx, Strategy::OneForOne, kinds).await;
        let say = |ctx: &Ctx<Note>, id: &str, reason: ExitReason| {
            drawloom::actor::ServerRef::<Child>::whereis(ctx, id).unwrap().cast(reason);
        };
        say(&ctx, "1", ExitReason::Normal);
        assert_eq!(notes(&mut ctx, 2).await, [Down(1), Up(1)]);
        say(&ctx, "2", ExitReason::because("boom"));
        assert_eq!(notes(&mut ctx, 2).await, [Down(2), Up(2)]);
        say(&ctx, "2", ExitReason::ShutdownWith("enough".to_owned()));
        assert_eq!(notes(&mut ctx, 1).await, [Down(2)]);
        say(&ctx, "3", ExitReason::because("boom"));
        assert_eq!(notes(&mut ctx, 1).await, [Down(3)]);
        assert!(fell_silent(&mut ctx).await);
        let all = supervisor.which_children(&mut ctx).await.unwrap();
        let ids: Vec<(&str, bool)> = all.iter().map(|child| (&child.id[..], child.process.is_some())).collect();
        assert_eq!(ids, [("1", true), ("2", false)], "a temporary child is forgotten");
    });
}

#[test]
fn a_temporary_child_is_ended_with_the_others_and_not_started_again() {
    run(|mut ctx| async move {
        let kinds = [Restart::Permanent, Restart::Permanent, Restart::Temporary];
        let supervisor = started(&mut ctx, Strategy::OneForAll, kinds).await;
        let first = child(&mut ctx, &supervisor, "1").await.unwrap();
        ctx.kill(&first);
        assert_eq!(notes(&mut ctx, 4).await, [Down(3), Down(2), Up(1), Up(2)]);
        assert!(fell_silent(&mut ctx).await);
    });
}

#[test]
fn too_many_restarts_are_the_end() {
    run(|mut ctx| async move {
        ctx.trap_exit(true);
        let supervisor = children(&ctx, Strategy::OneForOne, ALWAYS).intensity(1, LONG);
        let supervisor = supervisor.start_link(&mut ctx).await.unwrap();
        notes(&mut ctx, 3).await;
        for _ in 0..2 {
            let first = child(&mut ctx, &supervisor, "1").await.unwrap();
            ctx.kill(&first);
            ctx.settle().await;
        }
        assert_eq!(notes(&mut ctx, 3).await, [Up(1), Down(3), Down(2)]);
        assert_eq!(receive!(ctx; exit(e) => e.reason), ExitReason::Shutdown);
    });
}

#[test]
fn restarts_of_long_ago_do_not_count() {
    run(|mut ctx| async move {
        let supervisor = children(&ctx, Strategy::OneForOne, ALWAYS).intensity(1, SOON);
        let supervisor = supervisor.start(&mut ctx).await.unwrap();
        notes(&mut ctx, 3).await;
        for _ in 0..4 {
            let first = child(&mut ctx, &supervisor, "1").await.unwrap();
            ctx.kill(&first);
            assert_eq!(notes(&mut ctx, 1).await, [Up(1)]);
            ctx.sleep(SOON * 3).await;
        }
    });
}

/// A child that does not start while somebody has its key.
fn failing(ctx: &Ctx<Note>, locked: &'static str) -> ChildSpec {
    let tells = ctx.me().clone();
    ChildSpec::new("failing", move |ctx| {
        let tells = tells.clone();
        Box::pin(async move {
            if ctx.whereis(locked).is_some() {
                return Err(StartError::Failed(ExitReason::because("locked")));
            }
            Child::start_link(ctx, (9, tells)).await.map(|child| child.as_ref().clone())
        })
    })
}

#[test]
fn a_child_that_fails_at_its_start_ends_those_before() {
    run(|mut ctx| async move {
        ctx.register("lock", ctx.me()).unwrap();
        let failing = failing(&ctx, "lock");
        let failed = children(&ctx, Strategy::OneForOne, ALWAYS).child(failing).start(&mut ctx).await.unwrap_err();
        assert!(
            failed.to_string().contains("the child `failing`") && failed.to_string().contains("locked"),
            "{failed}"
        );
        assert_eq!(notes(&mut ctx, 6).await, [Up(1), Up(2), Up(3), Down(3), Down(2), Down(1)]);
    });
}

#[test]
fn a_child_that_fails_at_its_restart_is_tried_again_until_it_is_too_often() {
    run(|mut ctx| async move {
        let failing = failing(&ctx, "lock");
        let supervisor = Supervisor::new(Strategy::OneForOne).child(failing).intensity(10, LONG);
        let supervisor = supervisor.start(&mut ctx).await.unwrap();
        let monitor = ctx.monitor(&supervisor);
        assert_eq!(notes(&mut ctx, 1).await, [Up(9)]);
        ctx.register("lock", ctx.me()).unwrap();
        let nine = child(&mut ctx, &supervisor, "failing").await.unwrap();
        ctx.kill(&nine);
        assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::Shutdown);
    });
}

#[test]
fn children_can_be_added_ended_started_again_and_forgotten() {
    run(|mut ctx| async move {
        let supervisor = Supervisor::new(Strategy::OneForOne).name("root").start(&mut ctx).await.unwrap();
        let spec = ChildSpec::server::<Child>("a", (1, ctx.me().clone()));
        let first = supervisor.start_child(&mut ctx, spec.clone()).await.unwrap();
        assert_eq!(supervisor.start_child(&mut ctx, spec.clone()).await, Err(ChildError::Running(first.clone())));
        assert_eq!(supervisor.delete_child(&mut ctx, "a").await, Err(ChildError::Running(first.clone())));
        assert_eq!(supervisor.terminate_child(&mut ctx, "a").await, Ok(()));
        assert_eq!(supervisor.terminate_child(&mut ctx, "b").await, Err(ChildError::NotFound));
        assert_eq!(supervisor.start_child(&mut ctx, spec).await, Err(ChildError::AlreadyPresent));
        let again = supervisor.restart_child(&mut ctx, "a").await.unwrap();
        assert_ne!(again, first);
        assert_eq!(notes(&mut ctx, 3).await, [Up(1), Down(1), Up(1)]);
        let info = ChildInfo { id: "a".to_owned(), process: Some(again), restart: Restart::Permanent };
        assert_eq!(supervisor.which_children(&mut ctx).await, Ok(vec![info]));
        supervisor.terminate_child(&mut ctx, "a").await.unwrap();
        assert_eq!(supervisor.delete_child(&mut ctx, "a").await, Ok(()));
        assert_eq!(supervisor.restart_child(&mut ctx, "a").await, Err(ChildError::NotFound));
    });
}

#[test]
fn a_dynamic_supervisor_forgets_those_that_have_ended() {
    run(|mut ctx| async move {
        let supervisor = Supervisor::dynamic().start(&mut ctx).await.unwrap();
        let spec = |number| ChildSpec::server::<Child>("room", (number, ctx.me().clone())).restart(Restart::Transient);
        let (one, two) = (spec(1), spec(2));
        let first = supervisor.start_child(&mut ctx, one).await.unwrap();
        supervisor.start_child(&mut ctx, two).await.unwrap();
        ctx.kill(&first);
        assert_eq!(notes(&mut ctx, 3).await, [Up(1), Up(2), Up(1)]);
        supervisor.stop(&mut ctx).await.unwrap();
        let mut ends = notes(&mut ctx, 2).await;
        ends.sort_by_key(|note| note == &Down(2));
        assert_eq!(ends, [Down(1), Down(2)]);
    });
}

#[test]
fn a_child_that_does_not_listen_is_killed() {
    async fn stubborn(mut ctx: Ctx<()>) {
        ctx.trap_exit(true);
        loop {
            ctx.recv().await;
        }
    }
    run(|mut ctx| async move {
        for shutdown in [Shutdown::After(SOON), Shutdown::Kill] {
            let child = ChildSpec::worker("stubborn", stubborn).shutdown(shutdown);
            let supervisor = Supervisor::new(Strategy::OneForOne).child(child).start(&mut ctx).await.unwrap();
            let process = super_child(&mut ctx, &supervisor).await;
            let monitor = ctx.monitor(&process);
            ctx.settle().await;
            supervisor.stop(&mut ctx).await.unwrap();
            assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::Killed);
        }
    });
}

async fn super_child(ctx: &mut Ctx<Note>, supervisor: &SupervisorRef) -> AnyPid {
    supervisor.which_children(ctx).await.unwrap().pop().and_then(|child| child.process).unwrap()
}

#[test]
fn a_tree_ends_from_its_leaves() {
    run(|mut ctx| async move {
        let inner = children(&ctx, Strategy::OneForOne, ALWAYS);
        let outer = Supervisor::new(Strategy::OneForOne).child(ChildSpec::supervisor("inner", inner));
        let (root, monitor) = ctx.spawn_monitor(|mut ctx: Ctx<()>| async move {
            outer.start_link(&mut ctx).await.unwrap();
            ctx.recv().await;
        });
        notes(&mut ctx, 3).await;
        ctx.settle().await;
        ctx.send(&root, ());
        ctx.recv_down(monitor).await;
        // A parent that ends normally is the end of the supervisor, too.
        assert_eq!(notes(&mut ctx, 3).await, [Down(3), Down(2), Down(1)]);
    });
}

#[test]
fn a_supervisor_takes_no_notice_of_strangers() {
    run(|mut ctx| async move {
        let supervisor = started(&mut ctx, Strategy::OneForOne, ALWAYS).await;
        ctx.send_exit(&supervisor, ExitReason::Shutdown);
        assert!(fell_silent(&mut ctx).await);
        assert!(ctx.is_alive(&supervisor));
        ctx.sleep(Duration::ZERO).await;
    });
}
