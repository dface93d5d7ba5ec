//! Tables, atomics, registries and groups.

use drawloom::actor::{Atomics, Ctx, Groups, Registry, Table};

use crate::run;

#[test]
fn a_table_does_what_ets_does() {
    let table = Table::new();
    assert_eq!(table.insert(2, 20), None);
    assert_eq!(table.insert(2, 21), Some(20));
    assert!(table.insert_new(1, 10) && !table.insert_new(1, 11));
    table.insert_all([(4, 40), (3, 30)]);
    assert_eq!(table.to_vec(), [(1, 10), (2, 21), (3, 30), (4, 40)]);
    assert_eq!((table.lookup(&1), table.lookup(&9)), (Some(10), None));
    assert!(table.member(&1) && !table.member(&9));
    assert_eq!((table.first(), table.next(&1), table.prev(&4), table.last()), (Some(1), Some(2), Some(3), Some(4)));
    assert_eq!((table.next(&4), table.prev(&1), table.next(&0)), (None, None, Some(1)));
    assert_eq!((table.update_counter(1, 5, 0), table.update_counter(5, 5, 1)), (15, 6));
    assert_eq!(table.update_element(&1, |value| std::mem::replace(value, 7)), Some(15));
    assert_eq!(table.update_element(&9, |value| *value), None);
    assert_eq!(table.select(|key, _| key % 2 == 0), [(2, 21), (4, 40)]);
    assert_eq!(table.select_count(|_, value| *value > 20), 3);
    assert_eq!(table.select_delete(|key, _| key % 2 == 0), 2);
    assert_eq!((table.take(&1), table.take(&1)), (Some(7), None));
    assert!(!table.delete_object(&3, &31) && table.delete_object(&3, &30));
    assert!(table.delete(&5) && !table.delete(&5));
    assert!(table.is_empty());
    table.insert(1, 1);
    table.clear();
    assert_eq!(table.len(), 0);
}

#[test]
fn all_processes_see_one_table_and_one_array() {
    let (count, sum) = run(|mut ctx| async move {
        let (table, atomics) = (Table::new(), Atomics::new(1));
        let monitors: Vec<_> = (0..10)
            .map(|_| {
                let (table, atomics) = (table.clone(), atomics.clone());
                ctx.spawn_monitor(move |_: Ctx<()>| async move {
                    for _ in 0..100 {
                        table.update_counter("all", 1, 0);
                        atomics.add(0, 1);
                    }
                })
                .1
            })
            .collect();
        for monitor in monitors {
            ctx.recv_down(monitor).await;
        }
        (table.lookup(&"all"), atomics.get(0))
    });
    assert_eq!((count, sum), (Some(1000), 1000));
}

#[test]
fn atomics_do_what_erlangs_do() {
    let atomics = Atomics::new(3);
    assert!(atomics.len() == 3 && !atomics.is_empty());
    atomics.put(0, 5);
    atomics.sub(0, 1);
    assert_eq!((atomics.add_get(0, 2), atomics.sub_get(0, 3)), (6, 3));
    assert_eq!((atomics.exchange(0, 9), atomics.get(0)), (3, 9));
    assert_eq!((atomics.compare_exchange(0, 9, 1), atomics.compare_exchange(0, 9, 2)), (Ok(9), Err(1)));
    assert_eq!(atomics.add_get(1, i64::MIN), i64::MIN);
    assert_eq!(atomics.sub_get(1, 1), i64::MAX);
}

#[test]
fn a_unique_key_is_somebodys_until_that_one_ends() {
    run(|mut ctx| async move {
        let registry: Registry<&str, u32> = Registry::unique(&ctx);
        let theirs = registry.clone();
        let (other, monitor) = ctx.spawn_monitor(move |mut ctx: Ctx<()>| async move {
            theirs.register(&ctx, "key", 1).unwrap();
            theirs.register(&ctx, "more", 2).unwrap();
            ctx.recv().await;
        });
        ctx.settle().await;
        let taken = registry.register(&ctx, "key", 2).unwrap_err();
        assert!(taken.by == *other.any() && taken.to_string().contains("shared.rs:"), "{taken}");
        assert_eq!(registry.keys(&other), ["key", "more"]);
        assert_eq!(registry.count(), 2);
        ctx.send(&other, ());
        ctx.recv_down(monitor).await;
        assert_eq!(registry.lookup(&ctx, &"key"), []);
        registry.register(&ctx, "key", 3).unwrap();
        ctx.settle().await;
        assert_eq!(registry.count(), 1, "all that the other had is gone");
        assert!(registry.update_value(&ctx, &"key", |value| *value += 1));
        assert!(!registry.update_value(&ctx, &"other", |value| *value += 1));
        let mut seen = Vec::new();
        registry.dispatch(&"key", |all| seen = all);
        assert_eq!(seen, [(ctx.me().any().clone(), 4)]);
        registry.unregister(&ctx, &"key");
        assert_eq!(registry.count(), 0);
    });
}

#[test]
fn a_duplicate_key_is_everybodys() {
    run(|mut ctx| async move {
        let registry: Registry<u8, u32> = Registry::duplicate(&ctx);
        for n in 0..3 {
            let theirs = registry.clone();
            ctx.spawn(move |mut ctx: Ctx<()>| async move {
                theirs.register(&ctx, 1, n).unwrap();
                ctx.recv().await;
            });
        }
        ctx.settle().await;
        let mut values: Vec<u32> = registry.lookup(&ctx, &1).into_iter().map(|(_, value)| value).collect();
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2]);
        assert_eq!(registry.select(&ctx, &1, |value| *value > 0).len(), 2);
        assert_eq!(registry.count(), 3);
    });
}

#[test]
fn members_leave_their_groups_when_they_end() {
    run(|mut ctx| async move {
        let groups: Groups<u8, u32> = Groups::start_link(&mut ctx).await.unwrap();
        let me = ctx.me().clone();
        let other = ctx.spawn(|mut ctx: Ctx<u32>| async move {
            ctx.recv().await;
        });
        groups.join(&mut ctx, 1, &other).await.unwrap();
        groups.join(&mut ctx, 1, &me).await.unwrap();
        groups.join(&mut ctx, 2, &other).await.unwrap();
        assert_eq!(groups.members(&1), [other.clone(), me.clone()]);
        ctx.send(&other, 0);
        ctx.settle().await;
        assert_eq!((groups.members(&1), groups.groups()), (vec![me.clone()], vec![1]));
        assert_eq!(groups.leave(&mut ctx, 1, &me).await, Ok(true));
        assert_eq!(groups.leave(&mut ctx, 1, &me).await, Ok(false));
        assert!(groups.groups().is_empty());
    });
}
