//! Wrong rungs of the ladder of scans. Each breaks one rule that the right rung follows.

use super::scans::hangs_where_blocks_start_in_another_order;
use cuda_std::prelude::{Global, Ordering, Scope, kernel, shared_array, spin, thread};
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_idx, warp_vote_ballot};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Fault;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            hillis_and_steele_in_one_buffer_are_a_data_race_and_wrong,
            a_look_back_at_state_and_value_apart_is_a_data_race_and_stale;
        thorough:
            a_look_back_hangs_if_tiles_are_numbered_by_blocks;
    }
}

/// Threads of the only block.
const THREADS: u32 = 256;
/// Tiles of a look-back, each with one element and a block of one warp. At most 128 are resident.
const TILES: u32 = 200;

shared_array! {
    fn broken_scan_buffer() -> [u32; THREADS as usize];
}

/// Rung 2 with one buffer: a thread may read what another thread overwrote in the same step.
///
/// # Safety
/// One block; an element of each view for each thread. `_words` may be empty.
#[kernel]
unsafe fn hillis_steele_in_one_buffer(
    input: Global<u32>,
    output: Global<u32>,
    _words: Global<u64>,
) {
    let buffer = broken_scan_buffer();
    let me = thread::index_in_block();
    buffer.write(me, input.read(me));
    thread::sync_threads();
    let mut distance = 1;
    while distance < THREADS as usize {
        if me >= distance {
            buffer.write(me, buffer.read(me - distance) + buffer.read(me));
        }
        thread::sync_threads();
        distance *= 2;
    }
    output.write(me, buffer.read(me));
}

/// State of a tile.
const AGGREGATE: u32 = 1;
const PREFIX: u32 = 2;

/// The look-back of rung 9 by one warp. `look` returns the state and the value of a tile.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn sum_before(tile: usize, look: impl Fn(usize) -> (u32, u32)) -> u32 {
    let lane = lane_id();
    let (mut sum, mut end) = (0, tile);
    loop {
        let (state, value) = match end.checked_sub(lane as usize + 1) {
            Some(earlier) => look(earlier),
            None => (PREFIX, 0),
        };
        let prefixes = warp_vote_ballot(FULL_MASK, state == PREFIX);
        let counts = if lane <= prefixes.trailing_zeros() { value } else { 0 };
        sum += warp::reduce(Sum::<u32>::new(), counts);
        if prefixes != 0 {
            return sum;
        }
        end -= WARP_SIZE as usize;
    }
}

/// Rung 9, but the block's number is the tile's number, as if blocks started in order.
///
/// # Safety
/// Each block is one warp and has a tile; for each tile an element of each view and a word of 0.
#[kernel]
unsafe fn looks_back_by_block(input: Global<u32>, output: Global<u32>, words: Global<u64>) {
    let tile = thread::block_index();
    let tell = |state: u32, sum: u32| {
        if lane_id() == 0 {
            let word = u64::from(state) << 32 | u64::from(sum);
            words.store(tile, word, Ordering::Relaxed, Scope::Device);
        }
    };
    let element = input.read(tile);
    tell(if tile == 0 { PREFIX } else { AGGREGATE }, element);
    let before = sum_before(tile, |earlier| {
        let mut word = 0;
        spin::until(|| {
            word = words.load(earlier, Ordering::Relaxed, Scope::Device);
            word != 0
        });
        ((word >> 32) as u32, word as u32)
    });
    tell(PREFIX, before + element);
    if lane_id() == 0 {
        output.write(tile, before + element);
    }
}

/// Rung 9, but with state and value in separate words. Nothing orders the two: a warp that has read
/// the state may read the value of another state or an unwritten value.
///
/// # Safety
/// Each block is one warp and has a tile; for each tile an element of each view and a word of 0,
/// and one more word of 0 for the ticket.
#[kernel]
unsafe fn looks_back_at_state_and_value_apart(
    input: Global<u32>,
    output: Global<u32>,
    words: Global<u64>,
) {
    let ticket = match lane_id() {
        0 => words.fetch_add(0, 1, Ordering::Relaxed, Scope::Device),
        _ => 0,
    };
    let tile = warp_shuffle_idx(FULL_MASK, ticket, 0, WARP_SIZE).0 as usize;
    let (states, values) = (words.part(1, TILES as usize), output);
    let tell = |state: u32, sum: u32| {
        if lane_id() == 0 {
            states.store(tile, u64::from(state), Ordering::Relaxed, Scope::Device);
            values.write(tile, sum);
        }
    };
    let element = input.read(tile);
    tell(if tile == 0 { PREFIX } else { AGGREGATE }, element);
    let before = sum_before(tile, |earlier| {
        let mut state = 0;
        spin::until(|| {
            state = states.load(earlier, Ordering::Relaxed, Scope::Device);
            state != 0
        });
        (state as u32, values.read(earlier))
    });
    if tile > 0 {
        tell(PREFIX, before + element);
    }
}

/// The prefix sums of 1 to `len`, by `K` in this grid.
fn sums<K>(device: &Device, len: u32, geometry: Geometry) -> Result<Vec<u32>, DeviceError>
where
    K: cuda_std::launch::Kernel<Args = (Global<u32>, Global<u32>, Global<u64>)>,
{
    let input = device.upload(&(1..=len).collect::<Vec<u32>>())?;
    let output = device.zeroed::<u32>(len as usize)?;
    let words = device.zeroed::<u64>(1 + len as usize)?;
    let args = (input.view(), output.view(), words.view());
    // SAFETY: an element of each view and all words that the kernels need, set to 0. The download
    // waits for the launch.
    unsafe { device.launch::<K>(&geometry, args)? };
    output.download()
}

fn in_one_buffer(device: &Device) -> Result<Vec<u32>, DeviceError> {
    sums::<hillis_steele_in_one_buffer>(device, THREADS, Geometry::new(1, THREADS))
}

fn by_block(device: &Device) -> Result<Vec<u32>, DeviceError> {
    sums::<looks_back_by_block>(device, TILES, Geometry::new(TILES, WARP_SIZE))
}

fn state_and_value_apart(device: &Device) -> Result<Vec<u32>, DeviceError> {
    let geometry = Geometry::new(TILES, WARP_SIZE);
    sums::<looks_back_at_state_and_value_apart>(device, TILES, geometry)
}

/// Whether `sums` are the prefix sums of 1, 2, 3…
fn are_right(sums: &[u32]) -> bool {
    let right = (1..).map(|n: u32| n * (n + 1) / 2);
    sums.iter().copied().eq(right.take(sums.len()))
}

/// Checks that `scan` is a data race under every schedule, and returns wrong sums under at least
/// one if races are not checked.
#[track_caller]
fn is_a_race_and_wrong(scan: fn(&Device) -> Result<Vec<u32>, DeviceError>) {
    for schedule in schedules() {
        let caught = scan(&emulator_under(schedule));
        let Err(DeviceError::Fault(fault)) = caught else {
            panic!("{schedule:?}: {caught:?}");
        };
        assert!(matches!(*fault, Fault::Race(_)), "{schedule:?}: {fault}");
    }
    let is_wrong = |schedule| {
        let sums = scan(&unjudged_under(schedule)).expect("it should run to its end");
        !are_right(&sums)
    };
    assert!(schedules().into_iter().any(is_wrong));
}

fn hillis_and_steele_in_one_buffer_are_a_data_race_and_wrong() {
    is_a_race_and_wrong(in_one_buffer);
}

fn a_look_back_at_state_and_value_apart_is_a_data_race_and_stale() {
    is_a_race_and_wrong(state_and_value_apart);
}

fn a_look_back_hangs_if_tiles_are_numbered_by_blocks() {
    hangs_where_blocks_start_in_another_order(by_block);
}
