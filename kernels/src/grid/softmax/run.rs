//! What a warp does with a run of the matrix: it keeps it in registers.

use super::Softmax;
use crate::block::{Slots, ThreadPosition};
use crate::grid::guarded::read_pack_within;
use crate::grid::reduce::{RUN_ROWS as ROWS, Shifted, is_aligned};
use crate::op::{Carried, Exponent};
use crate::warp::among_lanes;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// A value for each element of a lane.
pub(super) type Values<T, A> = [<T as Scalar>::Pack<A>; ROWS];

/// The elements of a warp: whole rows, or a run of one row. They begin at element `start` of the
/// matrix. A row has room for `GROUPS` groups of 32 packs, one per lane, or for part of a group if
/// that is 1.
#[derive(Clone, Copy)]
pub(super) struct Run<const GROUPS: usize> {
    pub(super) start: usize,
    /// The number of rows, at least 1.
    pub(super) rows: u32,
    /// The number of elements of a row that are in the run, at least 1.
    pub(super) len: u32,
    /// Log2 of a row's space in packs, of at most a group.
    pub(super) log_packs: u32,
    pub(super) lane: u32,
}

/// Where a pack is.
#[derive(Clone, Copy)]
struct Place {
    /// The index of its first element in the run.
    first: usize,
    /// The number of its elements that exist, if not all.
    left: u32,
}

impl<const GROUPS: usize> Run<GROUPS> {
    /// The place of a lane's pack `group`. Without such a row or pack it is one that exists, of
    /// which no elements are left: a branch around a load would delay the next load.
    #[device]
    fn place<T: Scalar>(self, group: usize) -> Place {
        let width = T::PACK as u32;
        let in_group = WARP_SIZE >> self.log_packs;
        let row = (group / GROUPS) as u32 * in_group + (self.lane >> self.log_packs);
        let lane = self.lane & ((1 << self.log_packs) - 1);
        let pack = (group % GROUPS) as u32 * WARP_SIZE + lane;
        let first = pack.min((self.len - 1) / width) * width;
        if row < self.rows {
            let left = self.len.saturating_sub(pack * width);
            Place { first: (row * self.len + first) as usize, left }
        } else {
            Place { first: first as usize, left: 0 }
        }
    }

    /// The elements. Those that do not exist are −∞, which changes neither a maximum nor a sum of
    /// exponentials. `columns` is that of the matrix.
    #[device]
    pub(super) fn load<T: Exponent>(self, input: Global<T>, columns: usize) -> Values<T, T::Wide> {
        let len = self.rows as usize * self.len as usize;
        let first = |group| self.place::<T>(group).first;
        // All loads are in flight before the first is used: they are on the other side of a join.
        let packs: Values<T, T> = if is_aligned(input, columns) {
            let run = input.part(self.start, len);
            Pack::from_fn(|group| run.read_pack(first(group), CacheHint::Streaming))
        } else if let Some(run) = Shifted::of(input, self.start, len) {
            Pack::from_fn(|group| run.read_pack(first(group)))
        } else {
            let run = input.part(self.start, len);
            Pack::from_fn(|group| read_pack_within(run, first(group), T::default(), |x, _| x))
        };
        Pack::from_fn(|group| {
            let left = self.place::<T>(group).left;
            <T::Pack<T::Wide>>::from_fn(|at| {
                if (at as u32) < left { packs[group][at].widen() } else { T::LEAST }
            })
        })
    }

    /// Writes `of(group, at)` for each element.
    #[device]
    pub(super) fn store<T: Scalar>(
        self,
        output: Global<T>,
        columns: usize,
        of: impl Fn(usize, usize) -> T,
    ) {
        let run = output.part(self.start, self.rows as usize * self.len as usize);
        let is_aligned = is_aligned(output, columns);
        let _: [(); ROWS] = Pack::from_fn(|group| {
            let Place { first, left } = self.place::<T>(group);
            let pack = <T::Pack<T>>::from_fn(|at| of(group, at));
            if is_aligned && left > 0 {
                run.write_pack(first, pack, CacheHint::Streaming);
            } else {
                pack.for_each(|at, y| {
                    if (at as u32) < left {
                        run.write(first + at, y);
                    }
                });
            }
        });
    }

    /// Combines `of(group, at)` of each row in the order of a reduction, and returns
    /// `finish(group, all)` for each group. All groups of a row have the same result.
    #[device]
    pub(super) fn combine<T: Scalar, A: Carried, B: Copy>(
        self,
        (none, nothing): (A, B),
        of: impl Fn(usize, usize) -> A,
        combine: impl Fn(A, A) -> A,
        finish: impl Fn(usize, A) -> B,
    ) -> [B; ROWS] {
        let ends = |group: usize| (group + 1).is_multiple_of(GROUPS);
        let lanes = 1 << self.log_packs;
        let mut places = <T::Pack<A>>::splat(none);
        let ended: [B; ROWS] = Pack::from_fn(|group| {
            let taken = <T::Pack<A>>::from_fn(|at| combine(places[at], of(group, at)));
            if ends(group) {
                places = <T::Pack<A>>::splat(none);
                finish(group, among_lanes(taken.fold(&combine), lanes, &combine))
            } else {
                places = taken;
                nothing
            }
        });
        Pack::from_fn(|group| ended[group / GROUPS * GROUPS + GROUPS - 1])
    }

    /// Writes the softmax of rows that the run has whole, or of one whose runs the warps of the
    /// block have: then the warps combine their results with `in_block`.
    #[device]
    pub(super) fn soften<T: Softmax, const IN_BLOCK: bool>(
        self,
        input: Global<T>,
        output: Global<T>,
        columns: usize,
    ) {
        let elements = self.load(input, columns);
        let greatest = self.combine::<T, _, _>(
            (T::LEAST, T::LEAST),
            |group, at| elements[group][at],
            T::greater,
            |_, all| {
                if IN_BLOCK {
                    among_warps(gridsync_softmax_greatest(), all, T::LEAST, T::greater)
                } else {
                    all
                }
            },
        );
        let exponentials: Values<T, T::Wide> = Pack::from_fn(|group| {
            <T::Pack<T::Wide>>::from_fn(|at| T::exponential(elements[group][at], greatest[group]))
        });
        let factors = self.combine::<T, _, _>(
            (0.0, T::LEAST),
            |group, at| T::to_f64(exponentials[group][at]),
            |a: f64, b| a + b,
            |group, mut sum| {
                if IN_BLOCK {
                    sum = among_warps(gridsync_softmax_sums(), sum, 0.0, |a, b| a + b);
                }
                T::factor(greatest[group], sum)
            },
        );
        let share = |group: usize, at| T::share(exponentials[group][at], factors[group]);
        self.store(output, columns, share);
    }
}

shared_array! {
    /// The greatest element of each warp.
    fn gridsync_softmax_greatest() -> [u32; 2 * WARP_SIZE as usize];
    /// The sum of exponentials of each warp.
    fn gridsync_softmax_sums() -> [u32; 2 * WARP_SIZE as usize];
}

/// Combines one value per warp of the block, neighbours first. Called by all threads of the block,
/// once for each memory; all get the result.
#[device]
fn among_warps<A: Carried>(
    memory: Shared<u32>,
    value: A,
    none: A,
    combine: impl Fn(A, A) -> A,
) -> A {
    let values = Slots::<2>::new(memory);
    let at = ThreadPosition::here();
    if at.lane == 0 {
        values.write(at.warp as usize, value);
    }
    thread::sync_threads();
    let value = if at.lane < at.warps { values.read(at.lane as usize) } else { none };
    among_lanes(value, WARP_SIZE, combine)
}
