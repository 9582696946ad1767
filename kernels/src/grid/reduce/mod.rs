//! The reduction of an array by the whole grid, in one launch.
//!
//! The array is parted into tiles, one for each block; [`Shape`] says how, and in which order
//! everything is combined. The results of the tiles, or of their strips while there are few, go to
//! memory as stamped words. The block that *started* last picks them up as they come and combines
//! them.
//!
//! Started last, not finished last: every other block runs already or has ended, so that its words
//! will come without any block that has yet to start. The wait ends however few blocks are resident,
//! and in whichever order they are. And since a block draws its number at the start, when it waits
//! for its first loads anyway, nothing is drawn, fenced or waited for at the end: the last word
//! travels to the waiting block, and that is all.
//!
//! A block for each tile, not as many as are resident and more tiles for each: the hardware hands
//! out blocks more evenly, and in prototypes on an H200 read memory about 1 % faster, than blocks
//! that stay.
//!
//! Moves n elements once, and some words twice.

mod shape;

pub use shape::{LARGE, MOST_TILES, SMALL, Shape};

use super::Carried;
use super::stamped::Stamped;
use crate::op::Operation;
use crate::warp;
use core::array::from_fn;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;
use shape::{ROWS, RUN, leaves_are_strips};

shared_array! {
    /// The results of the strips of the tile, at most 8 bytes each.
    fn gridsync_reduce_strips() -> [u64; LARGE as usize];
    /// The results of the chains of each warp.
    fn gridsync_reduce_chains() -> [u64; LARGE as usize];
    /// What the first thread found in the state.
    fn gridsync_reduce_state() -> [u32; STATE];
}

/// What a launch of [`reduce`] works in: nothing of it is the array's.
#[derive(Clone, Copy)]
pub struct Workspace {
    /// [`MOST_TILES`] words for an accumulator of 4 bytes, twice as many for one of 8.
    pub words: Global<u64>,
    /// [`STATE`] words: how many blocks have started, and the stamp of the last launch.
    pub state: Global<u32>,
}

/// Words of the state.
pub const STATE: usize = 2;
const STARTED: usize = 0;
const STAMP: usize = 1;

/// Reduces `input` to `result[0]`.
///
/// Called by every thread of a grid along x that is a [`Shape`]: `tiles` blocks of `warps` warps,
/// `runs` runs to a strip. For the order that is promised, it is the shape of the input's length.
/// The operation commutes. Nobody writes `input` while the kernel runs, so it overlaps none of the
/// others. The workspace is zeroed before the first launch, left as it is from one launch to the
/// next, whatever their lengths, and used by one launch at a time. The first thread of the block
/// that started last writes the result; it is visible to what follows on the stream. No co-residency
/// needed.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn reduce<O: Operation>(
    input: Global<O::Element>,
    Workspace { words, state }: Workspace,
    result: Global<O::Accumulator>,
    runs: u32,
) where
    O::Accumulator: Carried,
{
    let (tile, tiles) = (thread::block_idx_x(), thread::grid_dim_x());
    let at = Place::here();
    let (mut started, mut stamp) = (0, 0);
    if at.thread == 0 && tiles > 1 {
        // Relaxed: it says who waits, and carries nothing. Both are asked for now and looked at when
        // the tile is done. Not an addition, of which ptxas makes one for all lanes that come
        // together: it would wait for the result at once, to deal it out.
        started = state.fetch_inc(STARTED, tiles - 1, Ordering::Relaxed, Scope::Device);
        stamp = state.load(STAMP, Ordering::Relaxed, Scope::Device);
    }
    let strip = strip::<O>(input, runs, tile, at);

    let leaves_are_strips = leaves_are_strips(tiles, at.warps);
    let (strips, found) = (gridsync_reduce_strips(), gridsync_reduce_state());
    if at.thread == 0 {
        found.write(STARTED, started);
        found.write(STAMP, stamp);
    }
    if at.lane == 0 && (!leaves_are_strips || tiles == 1) {
        strips.cast().write(at.warp as usize, strip);
    }
    thread::sync_threads();
    // Adding 1 where it is loaded would wait for it there, before the loads of the tile.
    let stamp = found.read(STAMP) + 1;
    let leaves = Stamped {
        words,
        apart: MOST_TILES,
        stamp,
    };
    if leaves_are_strips && tiles > 1 {
        if at.lane == 0 {
            leaves.send((tile * at.warps + at.warp) as usize, strip);
        }
    } else if at.warp == 0 {
        let value = combine_warps::<O>(strips, at);
        if at.thread == 0 && tiles == 1 {
            result.write(0, O::finish(value));
        } else if at.thread == 0 {
            leaves.send(tile as usize, value);
        }
    }
    if tiles == 1 || found.read(STARTED) != tiles - 1 {
        return;
    }

    let count = match leaves_are_strips {
        true => tiles * at.warps,
        false => tiles,
    };
    let chains = warp::reduce::<O>(chain::<O>(leaves, count, at));
    if at.lane == 0 {
        gridsync_reduce_chains()
            .cast()
            .write(at.warp as usize, chains);
    }
    thread::sync_threads();
    if at.warp == 0 {
        let value = combine_warps::<O>(gridsync_reduce_chains(), at);
        if at.thread == 0 {
            result.write(0, O::finish(value));
        }
    }
    leave_for_next(words, state, stamp, at);
}

/// Where a thread stands in its block, which lies along x: what is asked for at the start holds up
/// the first loads.
#[derive(Clone, Copy)]
struct Place {
    thread: u32,
    warp: u32,
    lane: u32,
    threads: u32,
    warps: u32,
}

impl Place {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn here() -> Self {
        let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        Self {
            thread,
            warp: thread / WARP_SIZE,
            lane: thread % WARP_SIZE,
            threads,
            warps: threads / WARP_SIZE,
        }
    }
}

/// Combines this warp's strip of `tile`. By all lanes of a warp, which all have the result.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn strip<O: Operation>(
    input: Global<O::Element>,
    runs: u32,
    tile: u32,
    at: Place,
) -> O::Accumulator {
    // One accumulator for each place in a pack: independent chains, and no shuffling within a pack.
    let mut places = <O::Element as Scalar>::Pack::splat(O::identity());
    let is_aligned = input.unaligned_head() == 0;
    let mut run = 0;
    while run < runs {
        let number = (tile * runs + run) as usize * at.warps as usize + at.warp as usize;
        let start = number * RUN * O::Element::PACK;
        if start + RUN * O::Element::PACK <= input.len() && is_aligned {
            let run = input.part(start, RUN * O::Element::PACK);
            places = whole_run::<O>(run, at.lane, places);
        } else if start < input.len() {
            let rest = input.part(start, input.len() - start);
            places = run_with_care::<O>(rest, is_aligned, at.lane, places);
        }
        run += 1;
    }
    warp::reduce::<O>(places.fold(O::combine))
}

/// What a lane combines a strip in: an accumulator for each place in a pack.
type Places<O> = <<O as Operation>::Element as Scalar>::Pack<<O as Operation>::Accumulator>;

/// Combines this lane's packs of a run that is whole and aligned into `places`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn whole_run<O: Operation>(run: Global<O::Element>, lane: u32, places: Places<O>) -> Places<O> {
    // All are in flight before the first is looked at.
    let loaded: [_; ROWS] = Pack::from_fn(|row| {
        let pack = row * WARP_SIZE as usize + lane as usize;
        run.read_pack(pack * O::Element::PACK, CacheHint::ReadOnly)
    });
    loaded.in_order(places, |places, pack| {
        places.zip(O::Element::map_pack(pack, O::lift), O::combine)
    })
}

/// The same of a run that begins `rest`, which is not whole or not aligned: what lies past the end
/// is the identity.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn run_with_care<O: Operation>(
    rest: Global<O::Element>,
    is_aligned: bool,
    lane: u32,
    mut places: Places<O>,
) -> Places<O> {
    let width = O::Element::PACK;
    let packs = match is_aligned {
        true => (rest.len() / width).min(RUN) as u32,
        false => 0,
    };
    // As many at once as registers are left for, beside the accumulators.
    let at_once = match size_of::<Places<O>>() {
        ..=16 => ROWS,
        17..=32 => ROWS / 2,
        _ => ROWS / 4,
    };
    let mut first = 0;
    while first < ROWS && first as u32 * WARP_SIZE < packs {
        // What lies past the end is loaded from before it and then left out: a branch around a load
        // would hold up the next one.
        let pack = |row| (first + row) as u32 * WARP_SIZE + lane;
        let loaded: [_; ROWS] = Pack::from_fn(|row| {
            let at = pack(row).min(packs - 1) as usize * width;
            let loaded = (row < at_once).then(|| rest.read_pack(at, CacheHint::ReadOnly));
            (pack(row) < packs, loaded)
        });
        places = loaded.in_order(places, |places, (is_there, loaded)| match loaded {
            Some(loaded) => {
                let lift = |x| if is_there { O::lift(x) } else { O::identity() };
                places.zip(O::Element::map_pack(loaded, lift), O::combine)
            }
            None => places,
        });
        first += at_once;
    }
    // What is left is less than a pack, or all of it if the packs are not aligned.
    let elements = rest.len().min(RUN * width) as u32;
    let mut pack = lane;
    while pack * (width as u32) < elements {
        if pack >= packs {
            let ragged = Pack::from_fn(|place| match pack * width as u32 + place as u32 {
                at if at < elements => O::lift(rest.read(at as usize)),
                _ => O::identity(),
            });
            places = places.zip(ragged, O::combine);
        }
        pack += WARP_SIZE;
    }
    places
}

/// Combines the values of all warps of the block by halves. By all lanes of a warp, which all have
/// the result.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn combine_warps<O: Operation>(values: Shared<u64>, at: Place) -> O::Accumulator {
    warp::reduce::<O>(match at.lane {
        lane if lane < at.warps => values.cast().read(lane as usize),
        _ => O::identity(),
    })
}

/// Waits for this thread's leaves, of `count` in all, and combines them in order.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn chain<O: Operation>(leaves: Stamped, count: u32, at: Place) -> O::Accumulator
where
    O::Accumulator: Carried,
{
    // What is looked at in vain holds up what is not.
    if count <= at.threads {
        chain_by::<O, 1>(leaves, count, at)
    } else if count <= 2 * at.threads {
        chain_by::<O, 2>(leaves, count, at)
    } else {
        chain_by::<O, 8>(leaves, count, at)
    }
}

/// The same, looking at `LOOKS` leaves at once.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn chain_by<O: Operation, const LOOKS: usize>(
    leaves: Stamped,
    count: u32,
    at: Place,
) -> O::Accumulator
where
    O::Accumulator: Carried,
{
    let (mut next, step) = (at.thread, at.threads);
    let mut chain = O::identity();
    // A turn takes some leaves, or none: what is not there yet is looked for again.
    spin::until(|| {
        if next >= count {
            return true;
        }
        // All looks are in flight together; one past the end goes to the first.
        let looked: [_; LOOKS] = from_fn(|i| {
            let leaf = next + i as u32 * step;
            let leaf = if leaf < count { leaf } else { next };
            leaves.look::<O::Accumulator>(leaf as usize)
        });
        let mut came = true;
        // An iterator over the array would put it into local memory.
        #[allow(clippy::needless_range_loop)]
        for i in 0..LOOKS {
            came = came && next < count && leaves.is_new::<O::Accumulator>(looked[i]);
            if came {
                chain = O::combine(chain, looked[i].value());
                next += step;
            }
        }
        next >= count
    });
    chain
}

/// Leaves the stamp for the next launch; the count of blocks has wrapped to 0. Every word has been seen by now, so that no other block
/// touches any. Stamps begin anew after 2^32 − 1 launches: what older ones left must go first.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn leave_for_next(words: Global<u64>, state: Global<u32>, mut stamp: u32, at: Place) {
    if stamp == u32::MAX {
        let mut word = at.thread as usize;
        while word < words.len() {
            words.store(word, 0, Ordering::Relaxed, Scope::Device);
            word += at.threads as usize;
        }
        stamp = 0;
    }
    if at.thread == 0 {
        state.store(STAMP, stamp, Ordering::Relaxed, Scope::Device);
    }
}
