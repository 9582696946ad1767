//! The barrier and the exchange across several GPUs.

use super::ROUNDS_TOGETHER;
use super::collectives::{brought, count, map};
use super::stress::{come_late, count_stale, keep_stores_busy, mix, write_own};
use cuda_std::prelude::*;
use cuda_std::time::clock;
use gridsync_kernels::grid::barrier::{BoundedSystemBarrier, SystemBarrier, SystemExchange};
use gridsync_kernels::op::{ArgMax, Compose, Indexed, Operation, Sum, same_words};

/// Crosses a [`SystemBarrier`] `2 × rounds` times, and checks each time that it held.
///
/// In every round each thread writes the number of the round to its cells in `own`, with plain
/// stores. After the barrier each block reads all cells of its own GPU, and those of another one,
/// `other`, with plain loads. It counts in `errors[0]` the cells that do not hold this round. A
/// second barrier keeps the next round's writes after these reads. After every three rounds the
/// block attaches again. With a `skew`, warps come up to `skew` cycles late, and in some rounds a
/// whole GPU does, chosen at random from its number `gpu`. If `errors` has more elements, each
/// thread first stores to some of them, far apart, which delays its later stores.
///
/// # Safety
///
/// `words` has the words of the barrier; `own` and `other` have the same length on every GPU, a
/// multiple of the number of threads of the grid; `errors` has at least one element, and the first
/// is 0 at the start; all blocks are resident.
#[kernel(cooperative)]
pub unsafe fn system_barrier_rounds(
    words: Global<u64>,
    own: Global<u32>,
    other: Global<u32>,
    errors: Global<u32>,
    first_round: u32,
    rounds: u32,
    skew: u32,
    gpu: u32,
) {
    let far = errors.part(1, errors.len() - 1);
    let mut barrier = SystemBarrier::attach(words);
    let mut wrong = 0;
    for round in 0..rounds {
        if round > 0 && round.is_multiple_of(ROUNDS_TOGETHER) {
            barrier = SystemBarrier::attach(words);
        }
        let round = first_round.wrapping_add(round);
        gpu_comes_late(gpu, round, skew);
        come_late(round, skew);
        keep_stores_busy(far, round);
        write_own(own, round);
        barrier.sync();
        wrong += count_stale(other, round);
        gpu_comes_late(gpu, !round, skew);
        wrong += count_stale(own, round);
        barrier.arrive();
        come_late(!round, skew);
        barrier.wait();
    }
    count(wrong, errors);
}

/// In one of four rounds all threads of a GPU wait `skew` cycles.
#[device]
fn gpu_comes_late(gpu: u32, round: u32, skew: u32) {
    if skew > 0 && mix(gpu, round).is_multiple_of(4) {
        let start = clock();
        spin::until(|| clock().wrapping_sub(start) >= u64::from(skew));
    }
}

/// Crosses a [`SystemBarrier`] `rounds` times. Does nothing else: it is for measurements.
///
/// # Safety
///
/// `words` has the words of the barrier; all blocks are resident.
#[kernel(cooperative)]
pub unsafe fn system_barrier_only(words: Global<u64>, rounds: u32) {
    let mut barrier = SystemBarrier::attach(words);
    for _ in 0..rounds {
        barrier.sync();
    }
}

/// Crosses a [`BoundedSystemBarrier`] `rounds` times, but the blocks with index `absent` or higher
/// leave after `leave_after` rounds. `crossed[b]` becomes the number of rounds that block b of this
/// GPU crossed.
///
/// # Safety
///
/// `words` has the words of the barrier; `crossed` has an element for each block; all blocks are
/// resident.
#[kernel(cooperative)]
pub unsafe fn bounded_system_barrier_rounds(
    words: Global<u64>,
    crossed: Global<u32>,
    rounds: u32,
    limit_ns: u64,
    absent: u32,
    leave_after: u32,
) {
    let mut barrier = BoundedSystemBarrier::attach(words, limit_ns);
    let block = thread::block_index();
    let rounds = if block >= absent as usize { leave_after } else { rounds };
    let mut done = 0;
    while done < rounds && barrier.sync().is_ok() {
        done += 1;
    }
    if thread::is_first_in_block() {
        crossed.write(block, done);
    }
}

/// Crosses a [`SystemExchange`] three times a round, on GPU `gpu` of `gpus`: a sum, and a reduction
/// and a scan that do not commute. Counts the wrong results of all threads in `errors[0]`. Warps
/// come up to `skew` cycles late, and in some rounds whole GPUs. After every three rounds the block
/// attaches again.
///
/// # Safety
///
/// `words` has the words of the exchange; `errors` has one element; blocks have a multiple of 32
/// threads and are all resident.
#[kernel(cooperative)]
pub unsafe fn system_exchange_rounds(
    words: Global<u64>,
    errors: Global<u32>,
    gpu: u32,
    gpus: u32,
    rounds: u32,
    skew: u32,
) {
    let mut exchange = SystemExchange::attach(words);
    let (rank, ranks) = rank(gpu, gpus);
    let mut wrong = 0;
    for round in 0..rounds {
        if round > 0 && round.is_multiple_of(ROUNDS_TOGETHER) {
            exchange = SystemExchange::attach(words);
        }
        gpu_comes_late(gpu, round, skew);
        come_late(round, skew);
        let sum = exchange.all_reduce(Sum::<u32>::new(), rank.wrapping_add(round));
        wrong += u32::from(sum != (ranks * (ranks - 1) / 2).wrapping_add(ranks * round));

        let op = Compose::new();
        let (mut before, mut all) = (op.identity(), op.identity());
        for other in 0..ranks {
            if other == rank {
                before = all;
            }
            all = op.combine(all, map(other, round));
        }
        let composed = exchange.all_reduce(op, map(rank, round));
        wrong += u32::from(!same_words(composed, all));
        let scanned = exchange.scan(op, map(rank, round));
        wrong += u32::from(!same_words(scanned.before, before));
        wrong += u32::from(!same_words(scanned.all, all));
    }
    count(wrong, errors);
}

/// Crosses a [`SystemExchange`] five times a round: an argmax of four words, a broadcast of four
/// words, and votes. Counts wrong results as [`system_exchange_rounds`] does.
///
/// # Safety
///
/// Same as for [`system_exchange_rounds`].
#[kernel(cooperative)]
pub unsafe fn system_exchange_votes(
    words: Global<u64>,
    errors: Global<u32>,
    gpu: u32,
    gpus: u32,
    rounds: u32,
    skew: u32,
) {
    let mut exchange = SystemExchange::attach(words);
    let (rank, ranks) = rank(gpu, gpus);
    let mut wrong = 0;
    for round in 0..rounds {
        gpu_comes_late(gpu, round, skew);
        come_late(round, skew);
        let mut best = 0;
        for other in 0..ranks {
            if brought(other, round) > brought(best, round) {
                best = other;
            }
        }
        let op = ArgMax::<u64>::new();
        let found = exchange.all_reduce(op, op.lift(brought(rank, round).into(), rank.into()));
        wrong += u32::from(found.value != brought(best, round).into());
        wrong += u32::from(found.index != best.into());

        let (root, blocks) = (round % ranks, thread::block_count() as u32);
        let said = Indexed { value: u64::from(rank) << 40, index: brought(rank, round).into() };
        let said = exchange.broadcast(root / blocks, root % blocks, said);
        wrong += u32::from(said.value != u64::from(root) << 40);
        wrong += u32::from(said.index != brought(root, round).into());

        // One thread of one block votes differently.
        let threads = thread::in_32_bits::threads_per_block();
        let is_it = rank == root && thread::in_32_bits::index_in_block() == round % threads;
        wrong += u32::from(exchange.count(is_it) != 1);
        wrong += u32::from(!exchange.any(is_it)) + u32::from(exchange.all(!is_it));
    }
    count(wrong, errors);
}

/// The rank of this block among those of all GPUs, and the number of ranks.
#[device]
fn rank(gpu: u32, gpus: u32) -> (u32, u32) {
    let blocks = thread::block_count() as u32;
    (gpu * blocks + thread::block_index() as u32, gpus * blocks)
}

/// Computes the mean of one number per block of all `gpus` GPUs, `rounds` times, each time from the
/// means of the round before. Does nothing else: it is for measurements. `means[b]` is the number
/// of block b of this GPU before the first round, and its mean after the last.
///
/// # Safety
///
/// Same as for [`system_exchange_rounds`]; `means` has one element for each block.
#[kernel(cooperative)]
pub unsafe fn system_exchange_only(words: Global<u64>, means: Global<f32>, gpus: u32, rounds: u32) {
    let mut exchange = SystemExchange::attach(words);
    let share = 1.0 / (gpus as usize * thread::block_count()) as f32;
    let mut mean = means.read(thread::block_index());
    for _ in 0..rounds {
        mean = exchange.all_reduce(Sum::<f32>::new(), mean) * share;
    }
    if thread::is_first_in_block() {
        means.write(thread::block_index(), mean);
    }
}
