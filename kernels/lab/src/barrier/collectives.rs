//! The collectives of the exchange.

use super::stress::come_late;
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Exchange, Members};
use gridsync_kernels::op::{
    Affine, ArgMax, Carried, Compose, Indexed, Max, Operation, Sum, same_words,
};
use gridsync_kernels::{block, warp};

/// The value that block `block` contributes to `round`: any two blocks and rounds differ.
#[device]
pub(super) fn brought(block: u32, round: u32) -> u32 {
    (block << 8 | round).wrapping_mul(0x9E37_79B1)
}

/// The map that block `block` contributes to `round`. Maps do not commute.
#[device]
pub(super) fn map(block: u32, round: u32) -> Affine {
    Affine { factor: brought(block, round) | 1, summand: brought(round, block) }
}

/// Crosses two [`Exchange`]s at once, four times a round: a reduction and a scan that do not
/// commute, and a scan on one of them between arrive and wait of an argmax of four words. Counts
/// the wrong results of all threads in `errors[0]`. Warps come up to `skew` cycles late.
///
/// # Safety
///
/// `words` has the words of two exchanges ([`Exchange::words`]), back to back; `errors` has one
/// element; blocks have a multiple of 32 threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn exchange_in_order(words: Global<u64>, errors: Global<u32>, rounds: u32, skew: u32) {
    let (mut first, mut second) = attach_to_both(words);
    let (block, blocks) = (thread::block_index() as u32, thread::block_count() as u32);
    let mut wrong = 0;
    for round in 0..rounds {
        come_late(round, skew);
        let (mut before, mut all) = (Compose::new().identity(), Compose::new().identity());
        let mut best = 0;
        for other in 0..blocks {
            if other == block {
                before = all;
            }
            all = Compose::new().combine(all, map(other, round));
            if brought(other, round) > brought(best, round) {
                best = other;
            }
        }
        let composed = first.all_reduce(Compose::new(), map(block, round));
        wrong += u32::from(!same_words(composed, all));
        let scanned = second.scan(Compose::new(), map(block, round));
        wrong += u32::from(!same_words(scanned.before, before));
        wrong += u32::from(!same_words(scanned.all, all));

        // Both exchanges are in use between arrive and wait.
        let op = ArgMax::<u64>::new();
        let arrival = first.arrive(op, op.lift(brought(block, round).into(), block.into()));
        let sum = second.scan(Sum::<u32>::new(), block);
        wrong += u32::from(sum.before != block * block.wrapping_sub(1) / 2);
        wrong += u32::from(sum.all != blocks * (blocks - 1) / 2);
        let Indexed { value, index } = arrival.wait();
        wrong += u32::from(value != brought(best, round).into() || index != best.into());
    }
    count(wrong, errors);
}

/// Crosses two [`Exchange`]s nine times a round: a broadcast of four words, a gather, two maxima,
/// and votes. Counts the wrong results of all threads in `errors[0]`. Warps come up to `skew`
/// cycles late.
///
/// # Safety
///
/// Same as for [`exchange_in_order`].
#[kernel(cooperative)]
pub unsafe fn exchange_votes(words: Global<u64>, errors: Global<u32>, rounds: u32, skew: u32) {
    let (mut first, mut second) = attach_to_both(words);
    let (block, blocks) = (thread::block_index() as u32, thread::block_count() as u32);
    let (thread, threads) =
        (thread::in_32_bits::index_in_block(), thread::in_32_bits::threads_per_block());
    let mut wrong = 0;
    for round in 0..rounds {
        come_late(round, skew);
        let root = round % blocks;
        let said = Indexed { value: u64::from(block) << 40, index: brought(block, round).into() };
        let said = second.broadcast(root, said);
        wrong += u32::from(said.value != u64::from(root) << 40);
        wrong += u32::from(said.index != brought(root, round).into());

        let other = (block + thread + round) % blocks;
        let gathered = first.gather(brought(block, round), |values| {
            // Some warps read late, when others could have crossed twice more.
            come_late(round, skew);
            (values.of(other), values.of(blocks + 5), values.count())
        });
        let expected = (brought(other, round), brought(blocks - 1, round), blocks);
        wrong += u32::from(gathered != expected);
        let expected = (0..blocks).map(|block| block ^ round).fold(0, u32::max);
        for _ in 0..2 {
            let greatest = first.all_reduce(Max::<u32>::new(), block ^ round);
            wrong += u32::from(greatest != expected);
        }

        // One thread of one block votes differently.
        let is_it = block == root && thread == round % threads;
        wrong += u32::from(!first.any(is_it)) + u32::from(first.any(false));
        wrong += u32::from(first.all(!is_it)) + u32::from(!second.all(true));
        wrong += u32::from(second.count(!is_it) != blocks * threads - 1);
    }
    count(wrong, errors);
}

/// Attaches to the exchanges in both halves of `words`.
#[device]
fn attach_to_both(words: Global<u64>) -> (Exchange, Exchange) {
    let each = words.len() / 2;
    let second = words.part(each, each);
    (Exchange::attach(words.part(0, each)), Exchange::attach_nth::<1>(second, Members::grid()))
}

/// Adds this thread's wrong results.
#[device]
pub(super) fn count(wrong: u32, errors: Global<u32>) {
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

/// Composes the maps of all threads of the grid, `rounds` times. In the last round, each thread's
/// element of `before` gets the composition of the maps of all earlier threads, and `all` that of
/// all maps.
///
/// # Safety
///
/// Same as for [`exchange_in_order`], with the words of one exchange; `maps`, `before` and `all`
/// have an element for each thread of the grid.
#[kernel(cooperative, max_threads = 384)]
pub unsafe fn exchange_scan_threads(
    words: Global<u64>,
    maps: Global<u64>,
    before: Global<u64>,
    all: Global<u64>,
    rounds: u32,
) {
    let mut exchange = Exchange::attach(words);
    let at = thread::block_index() * thread::in_32_bits::threads_per_block() as usize
        + thread::in_32_bits::index_in_block() as usize;
    let op = Compose::new();
    for round in 0..rounds {
        // Earlier rounds use different maps.
        let own = maps.read(at).wrapping_add(u64::from(rounds - 1 - round));
        let scanned = exchange.scan_threads(op, op.lift(own, 0));
        if round == rounds - 1 {
            before.write(at, u64::from_words(scanned.before.to_words()));
            all.write(at, u64::from_words(scanned.all.to_words()));
        }
    }
}

/// Composes the maps of the threads of each block, `rounds` times. In the last round each thread
/// gets three compositions: in `through` that of the maps of its block up to its own, in `before`
/// that of the maps before its own, and in `all` that of all maps of the block. Counts in
/// `errors[0]` the lanes whose scan within the warp is wrong.
///
/// # Safety
///
/// Blocks have a multiple of 32 threads. `maps`, `through`, `before` and `all` have an element for
/// each thread of the grid, and `errors` has one.
#[kernel(max_threads = 1024)]
pub unsafe fn block_scans(
    maps: Global<u64>,
    through: Global<u64>,
    before: Global<u64>,
    all: Global<u64>,
    errors: Global<u32>,
    rounds: u32,
) {
    let (op, at) = (Compose::new(), thread::index());
    for round in 0..rounds {
        // Earlier rounds use different maps.
        let own = op.lift(maps.read(at).wrapping_add(u64::from(rounds - 1 - round)), 0);
        let inclusive = block::scan(op, own);
        thread::sync_threads();
        let exclusive = block::scan_exclusive(op, own);
        thread::sync_threads();
        let in_warp = op.combine(warp::scan_exclusive(op, own), own);
        count(u32::from(!same_words(in_warp, warp::scan(op, own))), errors);
        if round == rounds - 1 {
            through.write(at, u64::from_words(inclusive.to_words()));
            before.write(at, u64::from_words(exclusive.before.to_words()));
            all.write(at, u64::from_words(exclusive.all.to_words()));
        }
    }
}

/// Scans one number per thread of the grid, `rounds` times, each time from the results of the round
/// before. Does nothing else: it is for measurements. `numbers[t]` is the number of thread t before
/// the first round. A round turns x into x + 1 + the sum of the numbers of all threads before.
///
/// # Safety
///
/// Same as for [`exchange_scan_threads`]; `numbers` has an element for each thread of the grid.
#[kernel(cooperative)]
pub unsafe fn exchange_scan_threads_only(words: Global<u64>, numbers: Global<u32>, rounds: u32) {
    let mut exchange = Exchange::attach(words);
    let at = thread::block_index() * thread::in_32_bits::threads_per_block() as usize
        + thread::in_32_bits::index_in_block() as usize;
    let mut number = numbers.read(at);
    for _ in 0..rounds {
        let scanned = exchange.scan_threads(Sum::<u32>::new(), number);
        number = number.wrapping_add(1).wrapping_add(scanned.before);
    }
    numbers.write(at, number);
}
