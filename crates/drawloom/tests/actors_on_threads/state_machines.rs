//! State machines: postponed events, timeouts, events of their own, and what happens when a state is entered.

use drawloom::actor::{Action, CallError, Event, ExitReason, GenStatem, Next, Pid, ReplyTo, StatemCtx};

use crate::{LONG, SOON, run};

/// A machine that tells in which order things happen.
struct Machine {
    tells: Pid<u32>,
}

#[derive(Clone, PartialEq, Debug)]
enum State {
    Idle,
    Busy,
    Done,
}

#[derive(Debug)]
enum Input {
    Say(u32),
    Later(u32),
    Go(State),
    Again,
    Own(u32),
    StateTimeout,
    EventTimeout,
    Named(&'static str),
    CancelNamed(&'static str),
    Which(ReplyTo<State>),
    Stop,
}

const ENTERED: u32 = 100;
const STATE_TIMEOUT: u32 = 200;
const EVENT_TIMEOUT: u32 = 201;
const NAMED: u32 = 202;
const TERMINATED: u32 = 203;
const INTERNAL: u32 = 300;

impl GenStatem for Machine {
    type Args = Pid<u32>;
    type State = State;
    type Event = Input;

    async fn init(tells: Pid<u32>, _: &mut StatemCtx<Self>) -> Result<(Self, State), ExitReason> {
        Ok((Machine { tells }, State::Idle))
    }

    async fn enter(&mut self, from: Option<&State>, state: &State, ctx: &mut StatemCtx<Self>) -> Vec<Action<Input>> {
        ctx.send(&self.tells, ENTERED + 10 * from.map_or(9, |from| from.clone() as u32) + state.clone() as u32);
        if *state == State::Done { vec![Action::StateTimeout(SOON)] } else { Vec::new() }
    }

    async fn handle(&mut self, state: &State, event: Event<Input>, ctx: &mut StatemCtx<Self>) -> Next<State, Input> {
        let say = |n| ctx.send(&self.tells, n);
        match event {
            Event::Message(Input::Later(n)) if *state != State::Idle => say(n),
            Event::Message(Input::Later(n)) => return Next::keep().postpone(Event::Message(Input::Later(n))),
            Event::Message(Input::Say(n)) => say(n),
            Event::Message(Input::Go(state)) => return Next::to(state),
            Event::Message(Input::Again) => return Next::repeat(),
            Event::Message(Input::Own(n)) => {
                let own = |n| Action::NextEvent(Input::Say(n));
                return Next::keep().and(own(n)).and(own(n + 1));
            }
            Event::Internal(Input::Say(n)) => say(INTERNAL + n),
            Event::Message(Input::StateTimeout) => return Next::keep().and(Action::StateTimeout(SOON * 2)),
            Event::Message(Input::EventTimeout) => return Next::keep().and(Action::EventTimeout(SOON)),
            Event::Message(Input::Named(name)) => return Next::keep().and(Action::Timeout(name, SOON)),
            Event::Message(Input::CancelNamed(name)) => return Next::keep().and(Action::CancelTimeout(name)),
            Event::Message(Input::Which(reply)) => reply.send(state.clone()),
            Event::Message(Input::Stop) => return Next::stop(ExitReason::Shutdown),
            Event::StateTimeout => say(STATE_TIMEOUT),
            Event::EventTimeout => say(EVENT_TIMEOUT),
            Event::Timeout("bell") => say(NAMED),
            other => panic!("{other:?}"),
        }
        Next::keep()
    }

    async fn terminate(&mut self, _: &ExitReason, _: &State, ctx: &mut StatemCtx<Self>) {
        ctx.send(&self.tells, TERMINATED);
    }
}

/// What the machine tells when it is sent all this.
fn told(inputs: impl IntoIterator<Item = Input> + Send + 'static, many: usize) -> Vec<u32> {
    let inputs: Vec<Input> = inputs.into_iter().collect();
    run(move |mut ctx| async move {
        let me = ctx.me().clone();
        let machine = Machine::start_link(&mut ctx, me).await.unwrap();
        for input in inputs {
            machine.send(input);
        }
        let mut told = Vec::new();
        for _ in 0..many {
            told.push(ctx.recv_message().await);
        }
        ctx.sleep(SOON * 4).await;
        assert!(ctx.recv_timeout(SOON).await.is_none(), "that is all: {told:?}");
        told
    })
}

use Input::{Again, EventTimeout, Go, Later, Named, Own, Say, StateTimeout};

#[test]
fn postponed_events_come_first_in_the_next_state() {
    let inputs = [Later(1), Say(2), Later(3), Go(State::Idle), Go(State::Busy), Say(4), Later(5)];
    assert_eq!(told(inputs, 7), [190, 2, ENTERED + 1, 1, 3, 4, 5]);
}

#[test]
fn a_state_that_is_entered_again_is_a_new_one() {
    assert_eq!(told([Later(1), Again, Say(2)], 3), [190, ENTERED, 2]);
}

#[test]
fn events_of_its_own_come_before_all_others() {
    assert_eq!(told([Own(1), Say(3)], 4), [190, INTERNAL + 1, INTERNAL + 2, 3]);
}

#[test]
fn a_state_timeout_is_over_when_the_state_changes() {
    assert_eq!(told([StateTimeout], 2), [190, STATE_TIMEOUT]);
    assert_eq!(told([StateTimeout, Say(1)], 3), [190, 1, STATE_TIMEOUT]);
    assert_eq!(told([StateTimeout, Go(State::Busy)], 2), [190, ENTERED + 1]);
    // One that is set on entering is for the new state.
    assert_eq!(told([StateTimeout, Go(State::Done)], 3), [190, ENTERED + 2, STATE_TIMEOUT]);
}

#[test]
fn an_event_timeout_is_over_when_anything_happens() {
    assert_eq!(told([EventTimeout], 2), [190, EVENT_TIMEOUT]);
    assert_eq!(told([EventTimeout, Say(1)], 2), [190, 1]);
}

#[test]
fn a_named_timeout_runs_whatever_happens_until_it_is_cancelled() {
    assert_eq!(told([Named("bell"), Go(State::Busy), Say(1)], 4), [190, ENTERED + 1, 1, NAMED]);
    assert_eq!(told([Named("bell"), Named("bell")], 2), [190, NAMED]);
    assert_eq!(told([Named("bell"), Input::CancelNamed("bell")], 1), [190]);
}

#[test]
fn a_machine_replies_and_stops() {
    run(|mut ctx| async move {
        let me = ctx.me().clone();
        let machine = Machine::start(&mut ctx, me).await.unwrap();
        let monitor = ctx.monitor(&machine);
        assert_eq!(machine.call(&mut ctx, Input::Which, LONG).await, Ok(State::Idle));
        machine.send(Input::Stop);
        assert_eq!(ctx.recv_down(monitor).await.reason, ExitReason::Shutdown);
        assert_eq!([ctx.recv_message().await, ctx.recv_message().await], [190, TERMINATED]);
        assert_eq!(machine.call(&mut ctx, Input::Which, LONG).await, Err(CallError::NoProc));
        let me = ctx.me().clone();
        let machine = Machine::start(&mut ctx, me).await.unwrap();
        machine.stop(&mut ctx, ExitReason::Normal, LONG).await.unwrap();
        assert_eq!(machine.pid().id(), machine.clone().pid().id());
    });
}
