//! The scan by bulk copies: persistent blocks, with warps that load, reduce, look back and scan.
//! Hopper and later.
//!
//! A scan waits for memory twice: for the tile, and for the value before it. A block that keeps a
//! tile in registers while it waits loads nothing, and its polls queue after its own loads. So here
//! tiles move through a ring of shared memory by bulk copies, which bypass the path of loads and
//! stores, and each kind of warp works on a different tile at the same time:
//!
//! | warps | in each turn | wait for |
//! |---|---|---|
//! | 1 loader | draws a ticket, requests the tile | `EMPTY`: the scanners, the looker and the first reducer have read the previous tile |
//! | 8 reducers | reduce a strip each; the first sends the tile's aggregate | `FULL`; all strips |
//! | 1 looker | polls the words of earlier tiles, computes the prefix | `FULL`, other blocks |
//! | 8 scanners | scan a strip each, in place, and request its copy to the output | `FULL`, `PREFIX` |
//!
//! A tile's aggregate is sent as soon as the tile is loaded, while the scanners are turns behind.
//! So most values have arrived when a looker needs them. The looker goes through all tiles and
//! keeps the combined value of earlier groups; no block sends it. Order and bits are those of
//! [`Shape`](super::Shape).
//!
//! A block waits only for tiles with smaller tickets, and uses the stages of its ring in the order
//! of its tickets. So the unfinished tile with the smallest ticket waits for no other tile, and the
//! scan ends however few blocks are resident. `README.md` of the scan has the ring's protocol.

mod look;
mod ring;
mod strips;

use super::{Form, Mode, ScanOperation, Shape, Stripes};
use crate::grid::overlap::begin;
use crate::grid::peers::Peers;
use crate::grid::stamped::{OneGpu, Readers, Stamped};
use crate::grid::tiles::{ENDED, MOST_GROUP, STAMP, TICKET};
use crate::grid::workspace::{Workspace, clear, draw, is_last_stamp, last_stamp, leave_stamp};
use crate::op::{Carried, Max, Min, Number, Sum};
use crate::warp::{self, ROWS};
use cuda_std::memory::{Pack, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};
use cuda_std::{bulk, mbarrier};
use ring::{
    EMPTY, FULL, PREFIX, REDUCED, Turn, gridsync_scan_ring, gridsync_scan_strips,
    gridsync_scan_tiles,
};

/// Warps that scan, and warps that reduce: one per strip of a tile.
const SCANNERS: u32 = 8;
/// Tiles in the ring.
// Seven fit too. 2^30 f32 over two H200s: 1065 µs with six, 1054 with seven. 2^28: 280 and 280,
// 2^32: 4172 and 4172. 2026-11-25.
const STAGES: u32 = 6;

/// Threads of a block: one more warp looks back, and one loads.
pub const THREADS: u32 = (2 * SCANNERS + 2) * WARP_SIZE;
/// Bytes of dynamic shared memory of a block.
pub const SHARED: u32 = STAGES * STAGE;
/// Bytes of a stage.
const STAGE: u32 = SCANNERS * (ROWS as u32) * WARP_SIZE * 16;

impl Shape {
    /// The tiles of an array of `len` elements of `T` scanned by bulk copies: those of any large
    /// array with elements and accumulators of the same size, 4 or 8 bytes.
    ///
    /// # Panics
    /// Same as for [`of`](Self::of).
    #[must_use]
    pub fn for_bulk<T: Scalar>(len: usize) -> Self {
        Self::with::<T>(len, SCANNERS, ROWS as u32, MOST_GROUP)
    }
}

shared_array! {
    /// The stamp of the launch, and the number of tiles done when the block had ended.
    fn gridsync_scan_launch() -> [u32; 2];
}

/// Operations that can scan by bulk copies: results replace the elements in place. An element is
/// its own accumulator: `lift` changes nothing, whatever the index.
pub trait BulkOperation<T>: ScanOperation<Element = T, Accumulator = T, Output = T> {}

macro_rules! bulk_operations {
    ($($op:ident)*) => {$(
        impl<T: Number> BulkOperation<T> for $op<T> where
            Self: ScanOperation<Element = T, Accumulator = T, Output = T>
        {
        }
    )*};
}
bulk_operations! { Sum Min Max }

/// The tiles of the array that this grid scans.
trait Share: Copy {
    /// The readers of the values of these tiles.
    type Readers: Readers;

    /// Whether it has all tiles of the array. Then it also leaves the state that the next launch
    /// needs.
    const IS_WHOLE: bool;

    /// The number in the array of the tile with this ticket.
    fn number(self, ticket: u32) -> u32;
}

/// All tiles.
#[derive(Clone, Copy)]
struct Whole;

impl Share for Whole {
    type Readers = OneGpu;
    const IS_WHOLE: bool = true;

    #[inline(always)]
    fn number(self, ticket: u32) -> u32 {
        ticket
    }
}

/// The stripes of this GPU.
#[derive(Clone, Copy)]
struct Striped {
    stripes: Stripes,
    peers: Peers,
}

impl Share for Striped {
    type Readers = Peers;
    const IS_WHOLE: bool = false;

    #[inline(always)]
    fn number(self, ticket: u32) -> u32 {
        self.stripes.number(ticket, self.peers)
    }
}

/// The state shared by all warps of the grid.
#[derive(Clone, Copy)]
struct Scan<T, S: Share> {
    input: Global<T>,
    output: Global<T>,
    /// The tiles of this grid, which are the tickets.
    tiles: u32,
    share: S,
    /// The values that tiles send: their aggregates.
    values: Stamped<S::Readers>,
    state: Global<u32>,
    mode: Mode,
}

/// Scans `input` into `output` like [`scan`](super::scan()), to the same bits.
///
/// Called by every thread of a grid along x, with [`THREADS`] threads and [`SHARED`] bytes of
/// dynamic shared memory per block. Fastest with as many blocks as fit at once, but not more than
/// tiles. `tiles` is from [`Shape::for_bulk`]. Input and output begin at multiples of 16 bytes.
/// Otherwise the same as for `scan`.
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
    begin();
    let launch = gridsync_scan_launch();
    make_ring(|| launch.write(0, last_stamp(state, STAMP) + 1));
    let values = Stamped::new(words, 1, launch.read(0));
    let scan = Scan { input, output, tiles, share: Whole, values, state, mode };
    let done = scan.run(op);
    // All polls of the block come before its count.
    thread::sync_threads();
    if is_last_stamp(scan.values.stamp) {
        scan.begin_anew(done);
    }
}

/// Scans an array that is spread over several GPUs like [`scan_spread`](super::scan_spread), to the
/// same bits.
///
/// Called by every thread of a grid along x on each GPU, with [`THREADS`] threads and [`SHARED`]
/// bytes of dynamic shared memory per block. Fastest with as many blocks as fit at once, but not
/// more than tiles. Stripes are of the tiles of [`Shape::for_bulk`] for the whole array. Input and
/// output begin at multiples of 16 bytes. Otherwise the same as for `scan_spread`.
#[device(protocol = "the scan over several GPUs")]
pub fn scan_spread_by_bulk<O, T>(
    op: O,
    input: Global<T>,
    output: Global<T>,
    Workspace { words, state }: Workspace,
    stripes: Stripes,
    form: Form,
) where
    O: BulkOperation<T>,
    T: Scalar + Carried,
{
    make_ring(|| ());
    let values = Stamped::of_all_gpus(words, stripes.stamp);
    let share = Striped { stripes, peers: values.readers };
    let tiles = input.len().div_ceil(Scan::<T, Striped>::TILE) as u32;
    Scan { input, output, tiles, share, values, state, mode: Mode::whole(form) }.run(op);
}

/// Makes the barriers of the ring. Called by all threads of the block; the first also calls `also`.
/// It contains a block barrier.
#[device]
fn make_ring(also: impl FnOnce()) {
    if thread::thread_idx_x() == 0 {
        let ring = gridsync_scan_ring();
        for stage in 0..STAGES {
            // Every lane arrives for itself. The first reducer arrives with one lane per strip.
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
        also();
    }
    thread::sync_threads();
}

impl<T: Scalar + Carried, S: Share> Scan<T, S> {
    /// Elements of a strip.
    const STRIP: usize = ROWS * WARP_SIZE as usize * T::PACK;
    /// Elements of a tile.
    const TILE: usize = SCANNERS as usize * Self::STRIP;

    /// Runs the role of this thread's warp, and returns in the loader's lane the number of tiles
    /// that the block has had. Called by all threads of the block.
    #[device]
    fn run<O: BulkOperation<T>>(self, op: O) -> u32 {
        let thread = thread::thread_idx_x();
        let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
        let mut done = 0;
        if warp < SCANNERS {
            self.scan_strips(op, warp, lane);
        } else if warp < 2 * SCANNERS {
            self.reduce_strips(op, warp - SCANNERS, lane);
        } else if warp == 2 * SCANNERS {
            self.look(op, lane);
        } else if lane == 0 {
            done = self.load(op);
        }
        sync_warp(FULL_MASK);
        done
    }

    /// Elements of this grid in a strip.
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

    /// The shared memory of a strip of this turn's tile.
    #[device]
    fn strip(self, turn: Turn, strip: u32) -> Shared<T> {
        dynamic_shared::<T>().part(turn.strip(strip) * Self::STRIP, Self::STRIP)
    }

    /// Loads tiles in the order of its tickets; returns their number. Called by one thread.
    #[device]
    fn load<O: BulkOperation<T>>(self, op: O) -> u32 {
        // Each block draws one ticket more than its tiles, and stops at one past the last tile.
        let draws = self.tiles + thread::grid_dim_x();
        let ticket = || draw(self.state, TICKET, draws);
        let (mut number, mut tile) = (0, ticket());
        loop {
            let turn = Turn::of(number);
            // In a new ring every stage is empty: waits for the parity before the first phase.
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

    /// Requests the copy of a tile to the memory of this turn. Called by one thread.
    #[device]
    fn ask_for<O: BulkOperation<T>>(self, op: O, turn: Turn, tile: u32) {
        let start = Self::start(tile, 0);
        let elements = Self::TILE.min(self.input.len() - start);
        let memory = dynamic_shared::<T>().part(turn.strip(0) * Self::STRIP, Self::TILE);
        // Copies move whole packs. The pack with the end of the array is filled up with the
        // identity, because the tile's combined value may be left for the next launch.
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

    /// The scan of the strips' totals. Called by all lanes of a warp; the first have a strip each.
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
}

impl<T: Scalar + Carried> Scan<T, Whole> {
    /// Zeroes the words and the stamp when no block polls any more: in the block whose count
    /// completes the tiles. Called by all threads of the block; `done` is from the loader.
    #[device]
    fn begin_anew(self, done: u32) {
        let launch = gridsync_scan_launch();
        if thread::thread_idx_x() == THREADS - WARP_SIZE {
            // A block without tiles counts nothing: it may have read the stamp of another launch.
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
