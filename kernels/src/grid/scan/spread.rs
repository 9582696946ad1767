//! The scan of an array that is spread over several GPUs.
//!
//! The array is divided into **stripes** of adjacent tiles, which are dealt to the GPUs in turn. So
//! all GPUs are at about the same position in the array all the time, and none waits long for the
//! tiles of another. Each GPU has its stripes consecutively in its own memory, reads and writes
//! only those, and sends the aggregates of its tiles to the words of **every** GPU. Each tile polls
//! only its GPU's words.
//!
//! Nothing else differs from the scan of one GPU: the bits are the same, and a tile waits only for
//! tiles before it. `README.md` explains why the waits end.

use super::{Form, Places, ScanOperation, Shape, Strip, most_rows, tile_of};
use crate::block::ThreadPosition;
use crate::grid::peers::{HEAD, Peers};
use crate::grid::stamped::Stamped;
use crate::grid::tiles::{TICKET, Tiles};
use crate::grid::workspace::{Workspace, draw};
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

shared_array! {
    /// The number that the block has drawn.
    fn gridsync_scan_ticket() -> [u32; 1];
}

/// How the tiles of an array are dealt to several GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Tiles of a stripe: a power of two. Tile t of the array is in stripe t / `tiles`, and stripe
    /// s is on GPU s mod the number of GPUs.
    pub tiles: u32,
    /// The stamp of this launch, the same on all GPUs: no word holds it yet.
    pub stamp: u32,
}

impl Stripes {
    /// The number in the array of tile `tile` of this GPU.
    #[inline(always)]
    pub(super) fn number(self, tile: u32, peers: Peers) -> u32 {
        let stripe = (tile >> self.tiles.trailing_zeros()) * peers.count + peers.own;
        stripe * self.tiles + (tile & (self.tiles - 1))
    }
}

/// Scans an array that is spread over several GPUs, to the bits of [`scan`](super::scan()).
///
/// Called by every thread of a grid along x on each GPU, all of the same kernel. A block has
/// `warps` warps and processes tiles until none is left, so any number of blocks works; fastest
/// with as many as fit at once, but not more than tiles. `shape` is the [`Shape`] for the length of
/// the whole array. `input` and `output` are the stripes of this GPU, consecutively.
///
/// `words` has the [head](crate::grid::barrier::head) with the addresses of the words of all GPUs,
/// and after it an accumulator's words for each of the shape's [places](Shape::places), zeroed
/// before the first launch. The state is that of one GPU, [`STATE`](super::STATE) words, zeroed as
/// well. No GPU begins before the last launch has ended on all of them. All GPUs run their grids at
/// the same time: a grid waits for tiles of the others.
///
/// Operations that use the index of an element see it count from 0 on each GPU.
#[device(protocol = "the scan over several GPUs")]
pub fn scan_spread<O: ScanOperation>(
    op: O,
    input: Global<O::Element>,
    output: Global<O::Output>,
    workspace: Workspace,
    shape: Shape,
    stripes: Stripes,
    form: Form,
) {
    let arrays = (input, output);
    match const { most_rows::<O::Element, O::Accumulator>() } {
        1 => scan_by::<O, 1>(op, arrays, workspace, shape, stripes, form),
        2 => scan_by::<O, 2>(op, arrays, workspace, shape, stripes, form),
        4 => scan_by::<O, 4>(op, arrays, workspace, shape, stripes, form),
        _ => scan_by::<O, 8>(op, arrays, workspace, shape, stripes, form),
    }
}

/// [`scan_spread`] with registers for `ROWS` rows.
#[device]
fn scan_by<O: ScanOperation, const ROWS: usize>(
    op: O,
    (input, output): (Global<O::Element>, Global<O::Output>),
    Workspace { words, state }: Workspace,
    shape: Shape,
    stripes: Stripes,
    form: Form,
) where
    [Places<O>; ROWS]: Pack<Places<O>>,
    [O::Accumulator; ROWS]: Pack<O::Accumulator>,
{
    let at = ThreadPosition::here();
    let values = Stamped::of_all_gpus(words, stripes.stamp);
    let own = input.len().div_ceil(shape.tile::<O::Element>()) as u32;
    loop {
        let ticket = ticket(state, own, at);
        if ticket >= own {
            return;
        }
        let number = stripes.number(ticket, values.readers);
        let tiles = Tiles::of(number, shape.tiles, shape.group, values);
        let strip = Strip::new::<O::Element>(ticket, shape.rows, at);
        let (held, aggregate) = tile_of::<O, ROWS>(op, input, strip, form, at);
        tiles.send(aggregate, at);
        let (prefix, _) = tiles.prefix(op, aggregate, op.identity(), false, at);
        strip.store(op, output, held, prefix);
    }
}

/// The next ticket of this block, for all of its threads. Each block draws one ticket more than its
/// tiles. It contains a block barrier; another one has to come before the next call.
#[device]
fn ticket(state: Global<u32>, own: u32, at: ThreadPosition) -> u32 {
    let ticket = gridsync_scan_ticket();
    if at.thread == 0 {
        ticket.write(0, draw(state, TICKET, own + thread::grid_dim_x()));
    }
    thread::sync_threads();
    ticket.read(0)
}

/// Words for scans across several GPUs with `words` words of [places](Shape::places), including the
/// head.
#[must_use]
pub const fn head_and_places(words: usize) -> usize {
    HEAD + words
}
