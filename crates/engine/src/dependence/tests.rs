//! The table agrees with itself, and its short cuts with it.

use super::*;
use crate::operation::outcome;
use crate::resource::never_ordered;

fn label(task: u32, kind: OpKind, outcome: u32) -> Label {
    Label { task: TaskId(task), kind, resource: ResourceId(0), arg: 1, outcome, value: 0 }
}

#[test]
fn the_table_is_symmetric() {
    let outcomes = [outcome::OK, outcome::REFUSED, outcome::DISCONNECTED];
    for a in OpKind::ALL {
        for b in OpKind::ALL {
            for (x, y) in outcomes.iter().flat_map(|x| outcomes.iter().map(move |y| (*x, *y))) {
                let (l, r) = (label(0, a, x), label(2, b, y));
                assert_eq!(relation(&l, &r), relation(&r, &l), "{l:?} against {r:?}");
            }
        }
    }
}

#[test]
fn steps_that_were_made_are_related_as_their_labels_are() {
    let step = |label: Label| Step {
        site: crate::id::Site::UNKNOWN,
        arg: label.arg,
        value: label.value,
        resource: label.resource,
        task: label.task,
        after: 0,
        outcome: label.outcome as u16,
        kind: label.kind,
        was_choice: false,
    };
    for (a, b) in OpKind::ALL.into_iter().flat_map(|a| OpKind::ALL.into_iter().map(move |b| (a, b))) {
        for (one, other, task) in [(0, 0, 1), (0, 1, 1), (u32::MAX, u32::MAX, 1), (0, 0, 0)] {
            for (x, y) in [(outcome::OK, outcome::REFUSED), (outcome::REFUSED, outcome::REFUSED)] {
                let l = Label { resource: ResourceId(one), ..label(0, a, x) };
                let r = Label { resource: ResourceId(other), ..label(task, b, y) };
                assert_eq!(relation_of_steps(&step(l), &step(r)), relation(&l, &r), "{l:?} against {r:?}");
                assert_eq!(dependent_on_step(&step(l), &r), dependent(&l, &r), "{l:?} against {r:?}");
            }
        }
    }
}

#[test]
fn steps_without_a_common_resource_are_told_apart_early_but_rightly() {
    let on = |resource, label| Label { resource, ..label };
    for (a, b) in OpKind::ALL.into_iter().flat_map(|a| OpKind::ALL.into_iter().map(move |b| (a, b))) {
        for (one, other) in [(0, 0), (0, 1), (u32::MAX, u32::MAX), (1, u32::MAX)] {
            let l = on(ResourceId(one), label(0, a, outcome::OK));
            let r = on(ResourceId(other), label(1, b, outcome::OK));
            assert_eq!(dependent(&l, &r), relation(&l, &r) == Relation::Dependent, "{l:?} against {r:?}");
            let r = Label { arg: 0, ..r };
            assert_eq!(dependent(&l, &r), relation(&l, &r) == Relation::Dependent, "{l:?} against {r:?}");
        }
    }
}

#[test]
fn steps_that_never_order_each_other_do_not_do_so_whatever_they_come_to() {
    let outcomes = [outcome::OK, outcome::REFUSED, outcome::DISCONNECTED];
    for (a, b) in OpKind::ALL.into_iter().flat_map(|a| OpKind::ALL.into_iter().map(move |b| (a, b))) {
        for (x, y) in outcomes.iter().flat_map(|x| outcomes.iter().map(move |y| (*x, *y))) {
            let related = relation(&label(0, a, x), &label(2, b, y));
            let ordered = matches!(related, Relation::Dependent | Relation::Enabling);
            assert!(!(never_ordered(a, b) && ordered), "{a:?} against {b:?}");
        }
    }
}

#[test]
fn accesses_are_related_as_all_steps_are() {
    let outcomes = [outcome::OK, outcome::REFUSED];
    for (a, b) in OpKind::ALL.into_iter().flat_map(|a| OpKind::ALL.into_iter().map(move |b| (a, b))) {
        for (x, y) in outcomes.iter().flat_map(|x| outcomes.iter().map(move |y| (*x, *y))) {
            for other in [ResourceId(0), ResourceId(1), ResourceId::NONE] {
                let (l, r) = (label(0, a, x), Label { resource: other, ..label(2, b, y) });
                assert_eq!(relation(&l, &r), relation_in_general(&l, &r), "{l:?} against {r:?}");
            }
        }
    }
}

#[test]
fn who_is_ordered_with_all_is_ordered_with_all_that_have_to_do_with_the_resource() {
    let outcomes = [outcome::OK, outcome::REFUSED, outcome::DISCONNECTED];
    let has_resource = |kind: OpKind| kind.family().is_some() || kind == OpKind::TimerFire;
    for (a, b) in OpKind::ALL.into_iter().flat_map(|a| OpKind::ALL.into_iter().map(move |b| (a, b))) {
        for (x, y) in outcomes.iter().flat_map(|x| outcomes.iter().map(move |y| (*x, *y))) {
            let l = label(0, a, x);
            let step = Step {
                site: crate::id::Site::UNKNOWN,
                arg: l.arg,
                value: l.value,
                resource: l.resource,
                task: l.task,
                after: 0,
                outcome: x as u16,
                kind: a,
                was_choice: false,
            };
            let mut others = vec![label(2, b, y)];
            if b == OpKind::CondWait && !a.happens() {
                // Its mutex is the resource, and a node is none.
                others.push(Label { resource: ResourceId(7), arg: 0, ..label(2, b, y) });
            }
            for r in others.iter().filter(|_| ordered_with_all(&step) && has_resource(b)) {
                let ordered = matches!(relation(&l, r), Relation::Dependent | Relation::Enabling);
                assert!(ordered, "{l:?} against {r:?}");
            }
        }
    }
}

#[test]
fn a_request_commutes_with_an_unlock_and_races_with_a_request() {
    let lock = |t| label(t, OpKind::Lock, outcome::OK);
    assert_eq!(relation(&lock(0), &lock(2)), Relation::Dependent);
    assert_eq!(relation(&lock(0), &label(2, OpKind::Unlock, 0)), Relation::Granting);
}

#[test]
fn two_loads_commute_and_a_failed_exchange_is_a_load() {
    let load = label(0, OpKind::Load, outcome::OK);
    assert_eq!(relation(&load, &label(2, OpKind::Load, 0)), Relation::Independent);
    assert_eq!(relation(&load, &label(2, OpKind::Cas, outcome::REFUSED)), Relation::Independent);
    assert_eq!(relation(&load, &label(2, OpKind::Cas, outcome::OK)), Relation::Dependent);
}
