//! Launches on several GPUs: separate grids and memories, one memory model.

use crate::support::{Words, schedules};
use core::ops::ControlFlow;
use simt::search::search;
use simt::{
    Change, Fault, LaunchConfig, Memory, MemoryError, Order, OrderSite, Orders, Schedule, Scope,
    Sites, Weaken, launch_on_gpus, position,
};
use std::cell::RefCell;

const DATA: usize = 0;
const FLAG: usize = 8;

/// Checks each thread's GPU, block and thread index, and the blocks of its grid.
#[test]
fn every_gpu_runs_its_own_grid() {
    for schedule in schedules() {
        // Of the three blocks of a GPU, two are resident at once.
        let config = LaunchConfig {
            schedule,
            max_resident_blocks: Some(2),
            ..LaunchConfig::new("test", 3, 2)
        };
        let ran = RefCell::new(Vec::new());
        let note = |gpu: u32| {
            let at = position();
            assert_eq!((at.gpu, at.gpus, at.grid_dim.count()), (gpu, 2, 3));
            ran.borrow_mut().push((gpu, at.linear_block(), at.linear_thread()));
        };
        let (first, second) = (|| note(0), || note(1));
        let stats = launch_on_gpus(&mut Memory::new(0), &config, &[&first, &second]);
        let stats = stats.expect("nothing fails");
        assert_eq!((stats.launches, stats.blocks, stats.threads), (1, 6, 12));
        let mut ran = ran.into_inner();
        ran.sort_unstable();
        let all = (0..2).flat_map(|gpu| (0..3).map(move |block| (gpu, block)));
        let all = all.flat_map(|(gpu, block)| [(gpu, block, 0), (gpu, block, 1)]);
        assert_eq!(ran, all.collect::<Vec<_>>(), "{schedule:?}");
    }
}

/// The first thread of a launch passes a word to a thread of block 1 of `reader`.
fn hand_over(config: &LaunchConfig<'_>, scope: Scope, reader: u32) -> Result<u32, Fault> {
    let mut memory = Memory::of_gpus(2, 1 << 10);
    let words = memory.alloc_on(1, 64, 4).expect("there is room");
    memory.zero(words, 64).expect("allocated just now");
    let words = Words::global(words);
    let seen = RefCell::new(0);
    let body = |gpu: u32| {
        let block = position().block_idx.x;
        if (gpu, block) == (0, 0) {
            words.set(DATA, 7);
            words.store(FLAG, 1, Order::Release, scope);
        } else if (gpu, block) == (reader, 1) {
            while words.load(FLAG, Order::Acquire, scope) != 1 {
                if !simt::spin() {
                    return;
                }
            }
            seen.replace(words.get(DATA));
        }
    };
    launch_on_gpus(&mut memory, config, &[&|| body(0), &|| body(1)])?;
    Ok(seen.into_inner())
}

#[test]
fn only_system_scope_reaches_another_gpu() {
    for schedule in schedules() {
        let config = LaunchConfig { schedule, races: true, ..LaunchConfig::new("test", 2, 1) };
        assert_eq!(hand_over(&config, Scope::System, 1), Ok(7));
        assert_eq!(hand_over(&config, Scope::Device, 0), Ok(7));
        let fault = hand_over(&config, Scope::Device, 1).expect_err("they are on two GPUs");
        let said = fault.to_string();
        assert!(matches!(fault, Fault::Race(_)), "{said}");
        for part in ["device scope", "widen it", "GPU 0, block (0, 0, 0)", "GPU 1, block (1, 0, 0)"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn a_flag_of_device_scope_may_be_seen_before_the_data_on_another_gpu() {
    let seen = |scope, reader| {
        let run = |seed| {
            let schedule = Schedule::from_seed(seed);
            let config =
                LaunchConfig { schedule, weak_memory: true, ..LaunchConfig::new("test", 2, 1) };
            hand_over(&config, scope, reader).expect("races are not watched")
        };
        let mut seen: Vec<u32> = (1..200).map(run).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    assert_eq!(seen(Scope::System, 1), [7]);
    assert_eq!(seen(Scope::Device, 0), [7]);
    assert_eq!(seen(Scope::Device, 1), [0, 7]);
}

#[test]
fn a_search_explores_the_orders_of_all_gpus() {
    // Each of two threads swaps a word that both share: one of two orders.
    let executions = |gpus: usize| {
        let explored = search(1 << 10, || {
            let mut memory = Memory::of_gpus(gpus as u32, 1 << 10);
            let words = Words::zeros(&mut memory, 4);
            let body = || {
                words.add_at(0, 1, Order::Relaxed, Scope::System);
            };
            let bodies = vec![&body as &dyn Fn(); gpus];
            let config = LaunchConfig::new("test", 1, 1);
            launch_on_gpus(&mut memory, &config, &bodies).expect("nothing fails");
            ControlFlow::<()>::Continue(())
        });
        assert!(explored.exhausted, "{explored:?}");
        explored.executions
    };
    assert_eq!([1, 2, 3].map(executions), [1, 2, 6]);
}

#[test]
fn system_scope_weakens_to_device_scope_on_several_gpus() {
    let run = |sites, weaken| {
        let base = LaunchConfig::new("test", 2, 1);
        hand_over(&LaunchConfig { races: true, sites, weaken, ..base }, Scope::System, 1)
    };
    let sites = Sites::default();
    assert_eq!(run(Some(&sites), None), Ok(7));
    let strong = |site: &OrderSite| matches!(site.does, Orders::Access(_));
    let sites: Vec<_> = sites.sorted().into_iter().filter(strong).collect();
    assert_eq!(sites.len(), 2);
    for site in sites {
        assert_eq!(site.weaker()[0], Change::Scope(Scope::Device));
        for change in site.weaker() {
            let fault = run(None, Some(Weaken { site, change }));
            assert!(matches!(fault, Err(Fault::Race(_))), "{} {change}: {fault:?}", site.does);
        }
    }
}

#[test]
fn every_gpu_has_its_own_capacity() {
    let mut memory = Memory::of_gpus(2, 1000);
    let first = memory.alloc_on(0, 900, 1).expect("there is room");
    assert_eq!((memory.available_on(0), memory.available_on(1)), (100, 1000));
    let refused = memory.alloc_on(0, 200, 1);
    assert_eq!(refused, Err(MemoryError::OutOfMemory { requested: 200, available: 100 }));
    let second = memory.alloc_on(1, 200, 1).expect("there is room");
    memory.free(first).expect("it is live");
    assert_eq!((memory.available_on(0), memory.available_on(1)), (1000, 800));
    memory.free(second).expect("it is live");
    assert_eq!(memory.used(), 0);
}

#[test]
fn an_overrun_names_the_gpus_of_the_memory_and_the_thread() {
    let mut memory = Memory::of_gpus(2, 1000);
    let words = Words::global(memory.alloc_on(1, 8, 4).expect("there is room"));
    let overrun = || words.set(2, 1);
    let fault = launch_on_gpus(&mut memory, &LaunchConfig::new("test", 1, 1), &[&overrun, &|| {}]);
    let said = fault.expect_err("the write is outside").to_string();
    for part in ["offset 8 of allocation 0, on GPU 1 (8 bytes)", "GPU 0, block (0, 0, 0)"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_deadlock_names_the_gpus_of_the_waiting_blocks() {
    let mut memory = Memory::of_gpus(2, 1000);
    let words = Words::zeros(&mut memory, 1);
    // GPU 1 never adds its part.
    let arrive = || {
        words.add_at(0, 1, Order::AcqRel, Scope::System);
        while words.load(0, Order::Acquire, Scope::System) < 4 && simt::spin() {}
    };
    let config = LaunchConfig::new("test", 2, 1);
    let fault = launch_on_gpus(&mut memory, &config, &[&arrive, &|| {}]);
    let said = fault.expect_err("two of four arrive").to_string();
    assert!(said.contains("GPU 0, block (1, 0, 0): 1 thread(s)"), "{said}");
    assert!(!said.contains("GPU 1"), "{said}");
}
