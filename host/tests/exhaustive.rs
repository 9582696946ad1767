//! All executions of tiny grids: barriers and a scan, both right and wrong.

use cuda_std::launch::Kernel;
use cuda_std::prelude::*;
use gridsync::check::{Check, Rerun, Wrong};
use gridsync::device::{Device, Devices, EmulatorConfig, Geometry, Launch};
use gridsync::launch::system_words;
use gridsync_kernels::grid::barrier::{
    Barrier, GridBarrier, LateBarrier, SplitBarrier, SystemBarrier,
};
use gridsync_lab_kernels::barrier::{
    FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier, ReleaseBarrier,
    TreeBarrier,
};
use std::time::Instant;

/// Limit on the executions that a test explores.
const LIMIT: u64 = 1 << 20;

/// Crossings of each barrier.
const ROUNDS: u32 = 2;

/// In each round a block writes its word, crosses the barrier, and reads the word of the next block.
#[device]
fn cross<B: Barrier>(state: Global<u32>, words: Global<u32>, wrong: Global<u32>) {
    let (me, blocks) = (thread::block_index(), thread::block_count());
    let mut barrier = B::attach(state);
    for round in 1..=ROUNDS {
        // One word per round, so no block overwrites a word that others still read.
        let of = |block: usize| round as usize * blocks + block;
        // The first thread reads the word that the last one wrote.
        if thread::index_in_block() == thread::threads_per_block() - 1 {
            words.write(of(me), round);
        }
        barrier.sync();
        if thread::is_first_in_block() && words.read(of((me + 1) % blocks)) != round {
            wrong.write(me, round);
        }
    }
}

macro_rules! kernels {
    ($($name:ident: $barrier:ty,)*) => {
        $(
            #[kernel(cooperative)]
            unsafe fn $name(state: Global<u32>, words: Global<u32>, wrong: Global<u32>) {
                cross::<$barrier>(state, words, wrong);
            }
        )*
    };
}

kernels! {
    growing: GrowingBarrier,
    phase: PhaseBarrier,
    flip: FlipBarrier,
    generation: GenerationBarrier,
    release: ReleaseBarrier,
    tree: TreeBarrier,
    lock_free: LockFreeBarrier,
    late: LateBarrier,
    split: SplitBarrier<2>,
    grid: GridBarrier,
}

/// Explores all executions of a kernel that crosses a barrier of type `B`, and returns their
/// number.
#[track_caller]
fn executions<K, B>(check: &Check, blocks: u32) -> u64
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>)>,
    B: Barrier,
{
    executions_of::<K, B>(check, (blocks, 1))
}

/// The same for blocks of several threads.
#[track_caller]
fn executions_of<K, B>(check: &Check, (blocks, threads): (u32, u32)) -> u64
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>)>,
    B: Barrier,
{
    let run = |device: &Device| -> Result<(), Wrong> {
        let state = device.zeroed::<u32>(B::words(blocks as usize))?;
        let words = device.zeroed::<u32>((ROUNDS as usize + 1) * blocks as usize)?;
        let wrong = device.zeroed::<u32>(blocks as usize)?;
        let args = (state.view(), words.view(), wrong.view());
        // SAFETY: the barrier has its words, and each block has one word per round. All live until
        // the download.
        unsafe { device.launch::<K>(&Geometry::new(blocks, threads), args)? };
        match wrong.download()?.iter().find(|&&round| round != 0) {
            None => Ok(()),
            Some(round) => Err(format!("a block read an old word in round {round}").into()),
        }
    };
    exhausted(K::NAME, check, run)
}

/// The same over GPUs with one block of one thread each: the block reads the word of the next GPU.
#[kernel(cooperative)]
unsafe fn system(state: Global<u64>, own: Global<u32>, next: Global<u32>, wrong: Global<u32>) {
    let mut barrier = SystemBarrier::attach(state);
    for round in 1..=ROUNDS {
        own.write(round as usize, round);
        barrier.sync();
        if next.read(round as usize) != round {
            wrong.write(0, round);
        }
    }
}

#[test]
fn the_barrier_of_two_gpus_holds_in_all_executions() {
    for check in [Check::default().sequential(), Check::default()] {
        let check = check.on(EmulatorConfig { gpus: 2, ..EmulatorConfig::default() });
        let executions = exhausted("system", &check, |device| {
            let devices = Devices::of(device);
            let state = system_words::<SystemBarrier>(&devices, 1)?;
            let words = devices.zeroed::<u32>(ROUNDS as usize + 1)?;
            let wrong = devices.zeroed::<u32>(1)?;
            let launch = |gpu: usize| {
                let (own, next) = (words[gpu].view(), words[1 - gpu].view());
                let args = (state[gpu].view(), own, next, wrong[gpu].view());
                Launch::new::<system>(Geometry::new(1, 1), args)
            };
            // SAFETY: the barrier has its words, and each block has one word per round. All live
            // until the download.
            unsafe { devices.launch(&[launch(0), launch(1)])? };
            let wrong = devices.each(|gpu, _| wrong[gpu].download())?;
            if wrong.iter().flatten().any(|&round| round != 0) {
                Err(format!("a block read an old word: {wrong:?}").into())
            } else {
                Ok(())
            }
        });
        // They differ in whether the other GPU has sent before a GPU first polls.
        assert!(executions > 1, "{executions}");
    }
}

/// Explores all executions of a kernel that must pass, and returns their number.
#[track_caller]
fn exhausted(name: &str, check: &Check, run: impl Fn(&Device) -> Result<(), Wrong>) -> u64 {
    let start = Instant::now();
    let every = check.every(LIMIT, run).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    println!("{name}: {every}, {:?}", start.elapsed());
    assert!(every.exhausted, "{name}: {every}");
    every.executions
}

/// Number of orders in which three blocks can arrive in two rounds.
const ORDERS: u64 = 36;

#[test]
fn barriers_of_two_blocks_hold_in_all_executions() {
    for check in [Check::default().sequential(), Check::default()] {
        executions::<growing, GrowingBarrier>(&check, 2);
        executions::<phase, PhaseBarrier>(&check, 2);
        executions::<flip, FlipBarrier>(&check, 2);
        executions::<generation, GenerationBarrier>(&check, 2);
        executions::<release, ReleaseBarrier>(&check, 2);
        executions::<tree, TreeBarrier>(&check, 2);
        executions::<lock_free, LockFreeBarrier>(&check, 2);
        executions::<late, LateBarrier>(&check, 2);
        executions::<split, SplitBarrier<2>>(&check, 2);
        executions::<grid, GridBarrier>(&check, 2);
    }
}

#[test]
fn barriers_of_three_blocks_hold_in_all_executions_without_races() {
    let check = Check::default().sequential();
    executions::<growing, GrowingBarrier>(&check, 3);
    executions::<phase, PhaseBarrier>(&check, 3);
    executions::<flip, FlipBarrier>(&check, 3);
    executions::<late, LateBarrier>(&check, 3);
    executions::<split, SplitBarrier<2>>(&check, 3);
    executions::<grid, GridBarrier>(&check, 3);
    executions::<lock_free, LockFreeBarrier>(&check, 3);
    // For these, only the order of arrivals matters.
    assert_eq!(executions::<generation, GenerationBarrier>(&check, 3), ORDERS);
    assert_eq!(executions::<release, ReleaseBarrier>(&check, 3), ORDERS);
    assert_eq!(executions::<tree, TreeBarrier>(&check, 3), ORDERS);
}

#[test]
fn barriers_of_three_blocks_hold_in_all_executions_on_weak_memory() {
    let check = Check::default();
    executions::<flip, FlipBarrier>(&check, 3);
    executions::<lock_free, LockFreeBarrier>(&check, 3);
    assert_eq!(executions::<release, ReleaseBarrier>(&check, 3), ORDERS);
    assert_eq!(executions::<tree, TreeBarrier>(&check, 3), ORDERS);
}

#[test]
#[ignore = "takes a minute"]
fn barriers_of_one_counter_hold_in_all_executions_on_weak_memory() {
    let check = Check::default();
    executions::<growing, GrowingBarrier>(&check, 3);
    executions::<phase, PhaseBarrier>(&check, 3);
    executions::<grid, GridBarrier>(&check, 3);
}

#[test]
fn barriers_of_two_warps_hold_in_all_executions() {
    for check in [Check::default().sequential(), Check::default()] {
        executions_of::<phase, PhaseBarrier>(&check, (2, 32));
        executions_of::<release, ReleaseBarrier>(&check, (2, 32));
        executions_of::<lock_free, LockFreeBarrier>(&check, (2, 32));
    }
    // On weak memory each lane of a warp may poll its own old value.
    executions_of::<grid, GridBarrier>(&Check::default().sequential(), (2, 32));
}

/// State of a tile in a look-back: nothing, its own value, or the sum up to and including it.
const OWN: u32 = 1;
const SUM: u32 = 2;

/// The sums of 1, 2, 3 … in a single pass with decoupled look-back (Merrill and Garland, 2016), one
/// value per block. Block numbers are tickets. The value and the sum of a tile are in separate
/// words.
#[device]
fn look_back(ticket: Global<u32>, status: Global<u32>, values: Global<u32>, order: Ordering) {
    let tile = ticket.fetch_add(0, 1, Ordering::Relaxed, Scope::Device) as usize;
    let own = tile as u32 + 1;
    let sum_of = |tile: usize| status.len() + tile;
    let mut sum = own;
    if tile > 0 {
        values.write(tile, own);
        status.store(tile, OWN, order, Scope::Device);
    }
    for at in (0..tile).rev() {
        let mut found = 0;
        spin::until(|| {
            found = status.load(at, Ordering::Acquire, Scope::Device);
            found != 0
        });
        if found == SUM {
            sum += values.read(sum_of(at));
            break;
        }
        sum += values.read(at);
    }
    values.write(sum_of(tile), sum);
    status.store(tile, SUM, order, Scope::Device);
}

#[kernel]
unsafe fn scan_sums(ticket: Global<u32>, status: Global<u32>, values: Global<u32>) {
    look_back(ticket, status, values, Ordering::Release);
}

#[kernel]
unsafe fn scan_unreleased(ticket: Global<u32>, status: Global<u32>, values: Global<u32>) {
    look_back(ticket, status, values, Ordering::Relaxed);
}

fn scans<K>(device: &Device, blocks: u32) -> Result<(), Wrong>
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>)>,
{
    let (ticket, status) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(blocks as usize)?);
    let values = device.zeroed::<u32>(2 * blocks as usize)?;
    let args = (ticket.view(), status.view(), values.view());
    // SAFETY: a ticket, and three words per block. All live until the download.
    unsafe { device.launch::<K>(&Geometry::new(blocks, 1), args)? };
    let right: Vec<u32> = (1..=blocks).map(|block| block * (block + 1) / 2).collect();
    match &values.download()?[blocks as usize..] {
        sums if sums == right => Ok(()),
        sums => Err(format!("{sums:?} in place of {right:?}").into()),
    }
}

#[test]
fn a_look_back_is_right_in_all_executions() {
    for check in [Check::default().sequential(), Check::default()] {
        for blocks in [2, 3] {
            exhausted("look-back", &check, |device| scans::<scan_sums>(device, blocks));
        }
    }
}

#[test]
fn a_look_back_without_release_fails_and_its_path_repeats_the_failure() {
    for check in [Check::default().sequential(), Check::default()] {
        let run = |device: &Device| scans::<scan_unreleased>(device, 2);
        let failure = check.every(LIMIT, run).expect_err("the sum before is not released");
        let Rerun::Path(path) = &failure.rerun else { panic!("{failure}") };
        let story = failure.story.as_ref().expect("the failure comes again");
        assert!((2..12).contains(&story.steps.len()), "{failure}");
        let again = Check::path(path).run(run).expect_err("the same execution");
        assert_eq!(
            (again.what.to_string(), again.rerun),
            (failure.what.to_string(), failure.rerun)
        );
    }
}
