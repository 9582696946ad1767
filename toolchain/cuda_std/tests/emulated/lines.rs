//! A fault in the device standard library names the calling line, at each step of each function.

use crate::support::{config, upload};
use cuda_std::memory::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::memory::Scope::Device;
use cuda_std::memory::{CacheHint, Global, dynamic_shared};
use cuda_std::warp::*;
use cuda_std::{bulk, cluster, dependent, mbarrier, shared_array, spin, thread, time};
use simt::{Fault, LaunchConfig, Memory};

shared_array! {
    fn tile() -> [u32; 4];
    fn barriers() -> [u64; 1];
}

/// Stops a kernel of one warp after one step, two steps, and so on until it ends. Wherever a thread
/// is at that point, the fault names a line of this file.
fn walk(name: &str, kernel: &dyn Fn(Global<u32>)) {
    let launch = |step_limit| {
        let mut memory = Memory::new(1 << 10);
        let words = upload(&mut memory, &[0u32; 8]);
        let config = LaunchConfig { step_limit, dynamic_shared: 16, ..config(1, 32) };
        simt::launch(&mut memory, &config, &|| kernel(words))
    };
    let steps = match launch(1 << 20) {
        Ok(stats) => stats.steps,
        Err(fault) => panic!("{name}: {fault}"),
    };
    for limit in 1..steps {
        let fault = launch(limit).expect_err("it takes more steps");
        assert!(matches!(fault, Fault::StepLimit { .. }), "{name}: {fault}");
        let site = fault.site().expect("the warp has started");
        assert_eq!(site.place.file(), file!(), "step {limit} of {name}: {fault}");
    }
}

macro_rules! walk {
    ($(|$words:pat_param| $kernel:expr;)*) => {$(
        walk(stringify!($kernel), &|$words: Global<u32>| {
            let _ = $kernel;
        });
    )*};
}

#[test]
fn functions_of_threads_and_warps_name_their_callers() {
    let all = FULL_MASK;
    walk! {
        |_| (thread::index(), thread::first(), thread::is_first_in_block(), thread::thread_count());
        |_| thread::sync_threads();
        |_| thread::sync_threads_count(true);
        |_| thread::sync_threads_and(true);
        |_| thread::sync_threads_or(true);
        |_| thread::fence(AcqRel, Device);
        |_| { thread::block_fence(); thread::device_fence(); thread::system_fence() };
        |_| (warp_index(), lane_id(), activemask());
        |_| sync_warp(all);
        |_| warp_shuffle_up(all, 1u64, 1, 32);
        |_| warp_shuffle_down(all, 1u32, 1, 32);
        |_| warp_shuffle_xor(all, 1f64, 1, 32);
        |_| warp_shuffle_idx(all, 1u16, 1, 32);
        |_| (warp_vote_all(all, true), warp_vote_any(all, true), warp_vote_ballot(all, true));
        |_| (warp_match_any(all, 1u32), warp_match_all(all, 1u64));
        |_| (warp_redux_add(all, 1), warp_redux_min_i32(all, 1), warp_redux_xor(all, 1));
        |_| { time::nanosleep(10); (time::clock(), time::global_timer()) };
        |_| { cluster::sync(); (cluster::rank(), cluster::blocks()) };
        |_| { cluster::arrive(); cluster::wait(); (cluster::index(), cluster::count()) };
        |_| { cluster::arrive_relaxed(); cluster::wait() };
        |_| { dependent::wait_for_previous(); dependent::let_next_start() };
    }
}

#[test]
fn accesses_and_waits_name_their_callers() {
    walk! {
        |words| { words.write(lane_id() as usize % 8, 1); words.part(1, 2).read(0) };
        |words| { words.write_volatile(0, 1); words.read_volatile(0) };
        |words| { words.store(0, 1, Release, Device); words.load(0, Acquire, Device) };
        |words| { words.write_pack(0, [1; 4], CacheHint::Default); words.read_pack(0, CacheHint::Default) };
        |words| { words.prefetch(0); words.cast::<u64>().load_pair(0, Device) };
        |words| words.fetch_add(0, 1, Relaxed, Device);
        |words| words.fetch_inc(0, 9, Relaxed, Device);
        |words| words.compare_exchange(0, 0, 1, AcqRel, Device);
        |words| words.add(0, 1, Release, Device);
        |_| { tile().write(0, 1); tile().read(0) };
        |_| { dynamic_shared::<u32>().write(0, 1); dynamic_shared::<u32>().read(0) };
        |words| {
            words.add(0, 1, Release, Device);
            spin::until(|| words.load(0, Acquire, Device) == 32);
            spin::until_reached(words, 0, 32);
            spin::while_nonzero(words, 1);
            spin::until_timeout(100, || words.load(1, Acquire, Device) == 1)
        };
    }
}

#[cfg(feature = "device-runtime")]
#[test]
fn functions_of_the_device_runtime_name_their_callers() {
    use crate::device_runtime::nothing;
    use cuda_std::device_runtime::{Block, Error, Geometry, attribute, device, launch};

    let all = || -> Result<(), Error> {
        let block = Block::this();
        let (stream, event) = (block.stream()?, block.event()?);
        event.record(&stream)?;
        block.default_stream().wait(&event)?;
        device().and_then(|_| attribute(cuda_std::device_runtime::Attribute::WarpSize))?;
        // SAFETY: the kernel does nothing, and the launch is rejected.
        unsafe { launch::<nothing>(Geometry::new(0, 0), &stream, ()) }
    };
    walk! {
        |_| assert_eq!(all(), Err(Error::INVALID_CONFIGURATION));
    }
}

#[test]
fn bulk_copies_and_their_barriers_name_their_callers() {
    walk! {
        |words| {
            if lane_id() == 0 {
                mbarrier::init(barriers(), 0, 2);
                mbarrier::fence_init();
            }
            thread::sync_threads();
            if lane_id() == 0 {
                mbarrier::arrive_expect(barriers(), 0, 16);
                mbarrier::arrive(barriers(), 0);
                bulk::load(tile(), words.part(0, 4), barriers(), 0);
            }
            mbarrier::wait(barriers(), 0, 0);
            bulk::fence_shared();
            if lane_id() == 0 {
                bulk::store(words.part(4, 4), tile());
                bulk::wait_read::<0>();
                bulk::wait_stored();
            }
        };
    }
}
