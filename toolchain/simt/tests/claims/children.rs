//! Grids that launch grids: order, completion, limits, refusals.

use crate::support::{Words, assert_site, config, schedules};
use simt::{
    Child, Fault, LaunchConfig, Memory, Order, Policy, Queue, Refusal, Schedule, Scope,
    create_event, create_stream, launch, launch_child, position, record_event, wait_event,
};
use std::collections::BTreeSet;

/// Appends a number to the log: word 0 counts the numbers, which follow.
#[track_caller]
fn note(log: Words, number: u32) {
    let at = log.add_at(0, 1, Order::Relaxed, Scope::Device);
    log.set(1 + at as usize, number);
}

/// A grid of one thread.
fn child(body: impl Fn() + 'static) -> Child {
    Child {
        kernel: "child",
        grid: 1.into(),
        block: 1.into(),
        dynamic_shared: 0,
        body: Box::new(body),
    }
}

#[track_caller]
fn launch_note(queue: Queue, log: Words, number: u32) {
    launch_child(queue, child(move || note(log, number))).expect("one thread fits");
}

/// The log after a launch of `blocks` blocks of one thread.
#[track_caller]
fn notes(schedule: Schedule, blocks: u32, body: &dyn Fn(Words)) -> Vec<u32> {
    let mut memory = Memory::new(1 << 16);
    let log = Words::zeros(&mut memory, 3000);
    let races = true;
    let config = LaunchConfig { schedule, races, ..LaunchConfig::new("test", blocks, 1) };
    if let Err(fault) = launch(&mut memory, &config, &|| body(log)) {
        panic!("under {schedule:?}: {fault}");
    }
    let log = log.host(&memory, 3000);
    log[1..=log[0] as usize].to_vec()
}

/// The logs of one block in all orders that occur.
#[track_caller]
fn orders(body: &dyn Fn(Words)) -> BTreeSet<Vec<u32>> {
    let drawn = (1..40).map(|seed| Schedule::seeded(Policy::RunAhead, seed));
    schedules().into_iter().chain(drawn).map(|schedule| notes(schedule, 1, body)).collect()
}

#[test]
fn a_child_runs_after_its_parent_with_its_captured_values() {
    let found = orders(&|log| {
        launch_note(Queue::FireAndForget, log, 2);
        note(log, 1);
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2]]));
}

#[test]
fn a_stream_keeps_its_order_and_two_streams_do_not() {
    let found = orders(&|log| {
        let stream = Queue::Stream(create_stream());
        for (queue, number) in [(stream, 1), (Queue::Block, 3), (stream, 2)] {
            launch_note(queue, log, number);
        }
    });
    let expected = [[1, 2, 3], [1, 3, 2], [3, 1, 2]].map(Vec::from);
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn an_event_stands_for_the_contents_of_its_stream_when_recorded() {
    let found = orders(&|log| {
        let (left, right) = (Queue::Stream(create_stream()), Queue::Stream(create_stream()));
        let (event, never) = (create_event(), create_event());
        wait_event(right, never);
        launch_note(left, log, 1);
        record_event(event, left);
        launch_note(left, log, 3);
        wait_event(right, event);
        // A later record does not affect a stream that already waits.
        record_event(event, left);
        launch_note(right, log, 2);
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2, 3], vec![1, 3, 2]]));
}

#[test]
fn an_event_includes_the_waits_of_its_stream() {
    let found = orders(&|log| {
        let streams = [(); 3].map(|()| Queue::Stream(create_stream()));
        let (first, second) = (create_event(), create_event());
        launch_note(streams[0], log, 1);
        record_event(first, streams[0]);
        wait_event(streams[1], first);
        // Nothing was launched into this stream, but it waits.
        record_event(second, streams[1]);
        wait_event(streams[2], second);
        launch_note(streams[2], log, 2);
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2]]));
}

#[test]
fn a_tail_launch_waits_for_all_other_descendants_and_the_tails_before_it() {
    let found = orders(&|log| {
        let tail = move |number, after| {
            let body = move || {
                note(log, number);
                launch_note(Queue::FireAndForget, log, after);
            };
            launch_child(Queue::TailLaunch, child(body)).expect("one thread fits");
        };
        tail(3, 4);
        tail(5, 6);
        let deep = move || {
            note(log, 1);
            launch_note(Queue::TailLaunch, log, 2);
        };
        launch_child(Queue::FireAndForget, child(deep)).expect("one thread fits");
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2, 3, 4, 5, 6]]));
}

#[test]
fn a_stream_waits_for_the_descendants_of_its_grids() {
    let found = orders(&|log| {
        let deep = move || launch_note(Queue::FireAndForget, log, 1);
        launch_child(Queue::Block, child(deep)).expect("one thread fits");
        launch_note(Queue::Block, log, 2);
    });
    assert_eq!(found, BTreeSet::from([vec![1, 2]]));
}

#[test]
fn each_block_has_its_own_default_stream() {
    let firsts: BTreeSet<u32> = (1..40)
        .map(|seed| {
            let found = notes(Schedule::seeded(Policy::RunAhead, seed), 2, &|log| {
                let block = position().linear_block() as u32;
                launch_note(Queue::Block, log, 2 * block);
                launch_note(Queue::Block, log, 2 * block + 1);
            });
            let place = |number| found.iter().position(|&noted| noted == number);
            assert!(place(0) < place(1) && place(2) < place(3), "{found:?}");
            found[1]
        })
        .collect();
    assert_eq!(firsts, BTreeSet::from([0, 1, 2, 3]), "the blocks should mix");
}

#[test]
fn an_oversized_child_is_refused_and_the_parent_continues() {
    let found = orders(&|log| {
        let shape = |grid: [u32; 3], block: [u32; 3], dynamic_shared| {
            let body = Box::new(move || note(log, 1));
            let child = Child {
                kernel: "child",
                grid: grid.into(),
                block: block.into(),
                dynamic_shared,
                body,
            };
            launch_child(Queue::Block, child)
        };
        let most = u32::MAX;
        for (grid, block, shared) in [
            ([0, 1, 1], [1; 3], 0),
            ([1, 1 << 16, 1], [1; 3], 0),
            ([most; 3], [most; 3], 0),
            ([1; 3], [2048, 1, 1], 0),
            ([1; 3], [1024, 2, 1], 0),
            ([1; 3], [1, 1, 65], 0),
            ([1; 3], [1, 0, 1], 0),
            ([1; 3], [1; 3], (48 << 10) + 1),
        ] {
            assert_eq!(shape(grid, block, shared), Err(Refusal::Configuration), "{grid:?}");
        }
        assert_eq!(shape([1; 3], [1; 3], 48 << 10), Ok(()));
    });
    assert_eq!(found, BTreeSet::from([vec![1]]));
}

/// Launches itself until refused, and logs its depth.
fn dig(log: Words, depth: u32) {
    match launch_child(Queue::FireAndForget, child(move || dig(log, depth + 1))) {
        Ok(()) => {}
        Err(refusal) => {
            assert_eq!(refusal, Refusal::TooDeep);
            note(log, depth);
        }
    }
}

#[test]
fn a_grid_is_at_most_24_launches_deep() {
    assert_eq!(notes(Schedule::default(), 1, &|log| dig(log, 0)), [24]);
}

/// Launches itself as a tail launch, `left` times, and then digs.
fn follow(log: Words, left: u32) {
    match left {
        0 => dig(log, 0),
        _ => launch_child(Queue::TailLaunch, child(move || follow(log, left - 1)))
            .expect("a tail launch is no deeper"),
    }
}

#[test]
fn a_tail_launch_is_as_deep_as_the_grid_that_launches_it() {
    assert_eq!(notes(Schedule::default(), 1, &|log| follow(log, 100)), [24]);
}

#[test]
fn at_most_2048_grids_of_a_family_wait() {
    let found = notes(Schedule::default(), 1, &|log| {
        let deep = move || {
            let more = (0..2048).map_while(|_| {
                launch_child(Queue::FireAndForget, child(|| ())).is_ok().then_some(())
            });
            note(log, more.count() as u32);
        };
        launch_child(Queue::Block, child(deep)).expect("one thread fits");
        for _ in 0..47 {
            launch_child(Queue::Block, child(|| ())).expect("one thread fits");
        }
    });
    assert_eq!(found, [2048 - 47]);
}

#[test]
fn a_large_child_runs_within_the_residency_of_its_parent() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 40 * 64);
    let mut config = LaunchConfig::new("test", 1, 1);
    config.max_resident_blocks = Some(4);
    let stats = launch(&mut memory, &config, &|| {
        let body = Box::new(move || {
            let at = position();
            let number = at.linear_block() as usize * 64 + at.linear_thread() as usize;
            simt::block_barrier();
            words.set(number, 1 + number as u32);
        });
        let (grid, block) = (40.into(), 64.into());
        let child = Child { kernel: "child", grid, block, dynamic_shared: 0, body };
        launch_child(Queue::Block, child).expect("it fits");
    });
    let stats = stats.expect("no fault");
    assert_eq!((stats.launches, stats.blocks, stats.threads), (2, 41, 1 + 40 * 64));
    assert_eq!(words.host(&memory, 40 * 64), (1..=40 * 64).collect::<Vec<_>>());
}

#[test]
fn a_fault_of_a_child_ends_the_launch_and_names_the_child() {
    let mut memory = Memory::new(1 << 10);
    let unwritten = Words::unwritten(&mut memory, 1);
    let fault = launch(&mut memory, &config(1, 1, Policy::Coarse), &|| {
        let body = move || {
            unwritten.get(0);
        };
        launch_child(Queue::Block, child(body)).expect("one thread fits");
    });
    let fault = fault.expect_err("the child reads what nobody wrote");
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
    assert_eq!(fault.site().map(|site| &*site.kernel), Some("child"), "{fault}");
    assert!(fault.had_started());
    launch(&mut memory, &config(1, 1, Policy::Coarse), &|| ()).expect("the next launch works");
}

#[test]
fn a_cooperative_grid_and_handles_of_other_blocks_are_traps() {
    let trap = |config: &LaunchConfig<'_>, body: &dyn Fn()| {
        let fault = launch(&mut Memory::new(1 << 10), config, body).expect_err("a trap");
        assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
        fault
    };
    let plain = config(2, 1, Policy::RunAhead);
    let launches = |queue| move || launch_child(queue, child(|| ())).expect("one thread fits");
    let fault = trap(&LaunchConfig { cooperative: true, ..plain }, &launches(Queue::Block));
    assert_site(&fault, 0, 0, file!(), line!() - 2);
    assert!(fault.to_string().contains("cooperative"), "{fault}");
    let stolen = || match position().linear_block() {
        0 => assert_eq!(create_stream(), 0),
        _ => launches(Queue::Stream(0))(),
    };
    assert_eq!(trap(&plain, &stolen).site().map(|site| site.block.x), Some(1));
    let events = || match position().linear_block() {
        0 => assert_eq!(create_event(), 0),
        _ => record_event(0, Queue::Block),
    };
    assert_eq!(trap(&plain, &events).site().map(|site| site.block.x), Some(1));
    trap(&plain, &|| wait_event(Queue::FireAndForget, create_event()));
    let large = LaunchConfig { races: true, ..plain };
    let fault = trap(&large, &|| {
        let (grid, block, body) = (129.into(), 1024.into(), Box::new(|| ()));
        let child = Child { kernel: "child", grid, block, dynamic_shared: 0, body };
        launch_child(Queue::Block, child).expect("it fits");
    });
    assert!(fault.to_string().contains("132096 threads"), "{fault}");
}
