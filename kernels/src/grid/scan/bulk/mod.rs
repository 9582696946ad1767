//! The same scan by bulk copies: blocks that stay, and in each of them warps that load, that reduce,
//! that look and that scan. Hopper and later.
//!
//! A scan waits for memory twice, for the tile and for what lies before it. A block that holds a tile
//! in registers while it waits loads nothing meanwhile, and what it looks for queues behind its own
//! loads. So here tiles come and go through a ring of shared memory by bulk copies, which go round the
//! path of loads and stores, and everybody works on another tile at the same time:
//!
//! | warps | turn by turn | wait for |
//! |---|---|---|
//! | 1 loader | draws a ticket, asks for the tile | `EMPTY`: the scanners, the looker and the first reducer have read the one before |
//! | 8 reducers | reduce a strip each; the first sends the tile's aggregate | `FULL`; all strips |
//! | 1 looker | looks what the tiles before have sent, and finds the prefix | `FULL`, other blocks |
//! | 8 scanners | scan a strip each, in place, and ask for it to be stored | `FULL`, `PREFIX` |
//!
//! The aggregate of a tile is on its way as soon as the tile is there, while the scanners are turns
//! behind: so what lies before a tile has mostly arrived when it is looked for. The looker goes through
//! all tiles, and keeps what the groups before combine to; nobody sends it. The order is that of
//! [`Shape`](super::Shape), and so are the bits.
//!
//! A block waits for tiles with smaller tickets only, and takes the stages of its ring in the order of
//! its tickets. So the tile with the smallest ticket of all that are unfinished waits for nobody, and
//! the scan ends however few blocks are resident. The protocol of the ring: `README.md` of the scan.

mod look;
mod ring;
mod strips;

use super::{Mode, ScanOperation, Shape};
use crate::grid::stamped::Stamped;
use crate::grid::tiles::{ENDED, MOST_GROUP, STAMP, TICKET};
use crate::grid::workspace::{Workspace, clear, draw, is_last_stamp, last_stamp, leave_stamp};
use crate::op::{Carried, Number, Sum};
use crate::warp::{self, ROWS};
use cuda_std::memory::{Pack, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};
use cuda_std::{bulk, mbarrier};
use ring::{
    EMPTY, FULL, PREFIX, REDUCED, Turn, gridsync_scan_ring, gridsync_scan_strips,
    gridsync_scan_tiles,
};

/// Warps that scan, and that reduce: those of a tile.
const SCANNERS: u32 = 8;
/// Tiles in the ring.
const STAGES: u32 = 6;

/// Threads of a block: one more warp looks, and one loads.
pub const THREADS: u32 = (2 * SCANNERS + 2) * WARP_SIZE;
/// Bytes of dynamic shared memory of a block.
pub const SHARED: u32 = STAGES * SCANNERS * (ROWS as u32) * WARP_SIZE * 16;

impl Shape {
    /// The tiles of an array of `len` elements of `T` that is scanned by bulk copies: those of every
    /// large array whose elements and accumulators have one size of 4 or 8 bytes.
    ///
    /// # Panics
    /// As for [`of`](Self::of).
    #[must_use]
    pub fn for_bulk<T: Scalar>(len: usize) -> Self {
        Self::with::<T>(len, SCANNERS, ROWS as u32, MOST_GROUP)
    }
}

shared_array! {
    /// The stamp of the launch, and how many tiles were done when the block had ended.
    fn gridsync_scan_launch() -> [u32; 2];
}

/// The operations that scan by bulk copies: their results take the place of the elements. An element is
/// its own accumulator: `lift` changes none, whatever its index.
pub trait BulkOperation<T>: ScanOperation<Element = T, Accumulator = T, Output = T> {}

impl<T: Number> BulkOperation<T> for Sum<T> where
    Self: ScanOperation<Element = T, Accumulator = T, Output = T>
{
}

/// What every warp of the grid knows.
#[derive(Clone, Copy)]
struct Scan<T> {
    input: Global<T>,
    output: Global<T>,
    tiles: u32,
    /// The values that tiles send: their aggregates.
    values: Stamped,
    state: Global<u32>,
    mode: Mode,
}

/// Scans `input` into `output` as [`scan`](super::scan()) does, to the same bits.
///
/// Called by every thread of a grid along x of [`THREADS`] threads and [`SHARED`] bytes of dynamic
/// shared memory a block, best of as many blocks as fit at once and no more than tiles. The input is
/// parted into `tiles` tiles, as [`Shape::for_bulk`] says. Input and output begin at multiples of 16
/// bytes. All else as for `scan`.
#[device(protocol = "the scan")]
pub fn scan_by_bulk<O, T>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    Workspace { words, state }: Workspace,
    tiles: u32,
    mode: Mode,
) where
    O: BulkOperation<T>,
    T: Scalar + Carried,
{
    let (thread, launch) = (thread::thread_idx_x(), gridsync_scan_launch());
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    if thread == 0 {
        let ring = gridsync_scan_ring();
        for stage in 0..STAGES {
            // Every lane arrives for itself, of the first reducer one for each strip.
            let arrivals = [
                (FULL, 1),
                (REDUCED, SCANNERS * WARP_SIZE),
                (PREFIX, SCANNERS + 1),
                (EMPTY, SCANNERS * WARP_SIZE + SCANNERS + WARP_SIZE),
            ];
            arrivals.for_each(|_, (barrier, arrivals)| {
                mbarrier::init(ring, (barrier + stage) as usize, arrivals);
            });
        }
        mbarrier::fence_init();
        launch.write(0, last_stamp(state, STAMP) + 1);
    }
    thread::sync_threads();
    let scan = Scan {
        input,
        output,
        tiles,
        values: Stamped { words, apart: 1, stamp: launch.read(0) },
        state,
        mode,
    };
    let mut done = 0;
    if warp < SCANNERS {
        scan.scan_strips(op, warp, lane);
    } else if warp < 2 * SCANNERS {
        scan.reduce_strips(op, warp - SCANNERS, lane);
    } else if warp == 2 * SCANNERS {
        scan.look(op, lane);
    } else if lane == 0 {
        done = scan.load(op);
    }
    sync_warp(FULL_MASK);
    // All looks of the block come before its count.
    thread::sync_threads();
    if is_last_stamp(scan.values.stamp) {
        scan.begin_anew(done);
    }
}

impl<T: Scalar + Carried> Scan<T> {
    /// Elements of a strip.
    const STRIP: usize = ROWS * WARP_SIZE as usize * T::PACK;
    /// Elements of a tile.
    const TILE: usize = SCANNERS as usize * Self::STRIP;

    /// Elements that the array has of a strip.
    #[inline(always)]
    fn elements_of(self, tile: u32, strip: u32) -> usize {
        let rest = self.input.len().saturating_sub(Self::start(tile, strip));
        rest.min(Self::STRIP)
    }

    /// The first element of a strip.
    #[inline(always)]
    fn start(tile: u32, strip: u32) -> usize {
        tile as usize * Self::TILE + strip as usize * Self::STRIP
    }

    /// The memory of a strip of this turn's tile.
    #[device]
    fn strip(self, turn: Turn, strip: u32) -> Shared<T> {
        dynamic_shared::<T>().part(turn.strip(strip) * Self::STRIP, Self::STRIP)
    }

    /// Loads tiles in the order of its tickets; says how many. By one thread.
    #[device]
    fn load<O: BulkOperation<T>>(self, op: O) -> u32 {
        // Each block draws once more than it has tiles, and stops at a number past the tiles.
        let draws = self.tiles + thread::grid_dim_x();
        let ticket = || draw(self.state, TICKET, draws);
        let (mut number, mut tile) = (0, ticket());
        loop {
            let turn = Turn::of(number);
            // The stage of a fresh ring is empty: the parity before.
            mbarrier::wait(gridsync_scan_ring(), (EMPTY + turn.stage) as usize, 1 - turn.parity);
            gridsync_scan_tiles().write(turn.stage as usize, tile);
            if tile >= self.tiles {
                turn.arrive(FULL);
                return number;
            }
            self.ask_for(op, turn, tile);
            tile = ticket();
            number += 1;
        }
    }

    /// Has the elements of a tile copied to the memory of this turn. By one thread.
    #[device]
    fn ask_for<O: BulkOperation<T>>(self, op: O, turn: Turn, tile: u32) {
        let start = Self::start(tile, 0);
        let elements = Self::TILE.min(self.input.len() - start);
        let memory = dynamic_shared::<T>().part(turn.strip(0) * Self::STRIP, Self::TILE);
        // Copies are of whole packs. The one that the array ends in is filled up with what changes
        // nothing: what the tile combines to may be left for the next launch.
        let packed = elements - elements % T::PACK;
        if packed < elements {
            <T::Pack<()>>::splat(()).for_each(|place, ()| {
                let at = packed + place;
                memory.write(
                    at,
                    match at {
                        at if at < elements => self.input.read(start + at),
                        _ => op.identity(),
                    },
                );
            });
        }
        if packed == 0 {
            return turn.arrive(FULL);
        }
        let (ring, full) = (gridsync_scan_ring(), (FULL + turn.stage) as usize);
        mbarrier::arrive_expect(ring, full, (packed * size_of::<T>()) as u32);
        bulk::load(memory.part(0, packed), self.input.part(start, packed), ring, full);
    }

    /// The scan of the strips' totals. By all lanes of a warp, the first ones for a strip each.
    #[device]
    fn scan_of_strips<O: BulkOperation<T>>(op: O, turn: Turn, lane: u32) -> T {
        warp::scan(
            op,
            match lane {
                strip if strip < SCANNERS => gridsync_scan_strips().cast().read(turn.strip(strip)),
                _ => op.identity(),
            },
        )
    }

    /// Zeroes the words and the stamp, when nobody looks any more: the block does that ends last, by
    /// the tiles that all have done. By all threads of the block; `done` is that of the loader.
    #[device]
    fn begin_anew(self, done: u32) {
        let launch = gridsync_scan_launch();
        if thread::thread_idx_x() == THREADS - WARP_SIZE {
            // A block without tiles counts nothing: it may have found a stamp of another launch.
            let before = match done {
                0 => 0,
                _ => self.state.fetch_add(ENDED, done, Ordering::AcqRel, Scope::Device),
            };
            launch.write(1, before + done);
        }
        thread::sync_threads();
        if launch.read(1) != self.tiles {
            return;
        }
        clear(self.values.words, thread::thread_idx_x(), THREADS);
        if thread::thread_idx_x() == 0 {
            self.state.store(ENDED, 0, Ordering::Relaxed, Scope::Device);
            leave_stamp(self.state, STAMP, 0);
        }
    }
}
