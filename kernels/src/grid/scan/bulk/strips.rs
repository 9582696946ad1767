//! The warps that work on one strip of every tile: the reducers and the scanners.

use super::ring::{
    EMPTY, PREFIX, REDUCED, Turn, gridsync_scan_before, gridsync_scan_prefix, gridsync_scan_strips,
};
use super::{BulkOperation, SCANNERS, Scan, Share};
use crate::grid::scan::tile::{Held, Places, lift};
use crate::grid::scan::{Form, ScanOperation};
use crate::grid::stamped::Readers;
use crate::op::Carried;
use crate::warp::{self, ROWS};
use cuda_std::bulk;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp};

impl<T: Scalar + Carried, S: Share> Scan<T, S> {
    /// Reduces strip `strip` of every tile. The first warp also sends the combined value of the
    /// tile, and stores the value before each strip.
    #[device]
    pub(super) fn reduce_strips<O: BulkOperation<T>>(self, op: O, strip: u32, lane: u32) {
        let mut number = 0;
        loop {
            let turn = Turn::of(number);
            let tile = turn.tile();
            if tile >= self.tiles {
                return;
            }
            let loaded = self.loaded(op, turn, tile, strip, lane);
            let total = total(op, loaded);
            if lane == 0 {
                gridsync_scan_strips().cast().write(turn.strip(strip), total);
            }
            turn.arrive(REDUCED);
            sync_warp(FULL_MASK);
            if strip == 0 {
                turn.wait(REDUCED);
                let strips = Self::scan_of_strips(op, turn, lane);
                let all = warp::total(strips);
                if S::Readers::sends(lane) {
                    self.values.send(self.share.number(tile) as usize * T::WORDS, all);
                }
                let before = warp::before(op, strips);
                if lane < SCANNERS {
                    gridsync_scan_before().cast().write(turn.strip(lane), before);
                    turn.arrive(PREFIX);
                    turn.arrive(EMPTY);
                }
                sync_warp(FULL_MASK);
            }
            number += 1;
        }
    }

    /// Scans strip `strip` of every tile.
    #[device]
    pub(super) fn scan_strips<O: BulkOperation<T>>(self, op: O, strip: u32, lane: u32) {
        let mut number = 0;
        loop {
            let turn = Turn::of(number);
            let tile = turn.tile();
            if tile >= self.tiles {
                break;
            }
            let loaded = self.loaded(op, turn, tile, strip, lane);
            let mut held = scanned(op, loaded);
            if self.mode.form == Form::Exclusive {
                held.shift(op, |row| (Self::start(tile, strip) + Self::pack(row, lane)) as u64);
            }
            turn.wait(PREFIX);
            held.warps = gridsync_scan_before().cast().read(turn.strip(strip));
            let prefix = gridsync_scan_prefix().cast().read(turn.stage as usize);

            let memory = self.strip(turn, strip);
            held.results(op, prefix, |row, results| {
                memory.write_pack(Self::pack(row, lane), results, CacheHint::Default);
            });
            bulk::fence_shared();
            sync_warp(FULL_MASK);
            if lane == 0 {
                self.store(memory, tile, strip);
            }
            // The previous stage is empty once the copy to the output has read it. A strip with
            // nothing to copy belongs to the very last tile: no load follows it.
            if number > 0 {
                if lane == 0 {
                    bulk::wait_read::<1>();
                }
                Turn::of(number - 1).arrive(EMPTY);
            }
            sync_warp(FULL_MASK);
            number += 1;
        }
        // The block's shared memory is freed when the block ends.
        if lane == 0 {
            bulk::wait_stored();
        }
    }

    /// This lane's packs of a strip, lifted. The pack with the end of the array was filled up with
    /// the identity, and the packs after it are the identity.
    #[device]
    fn loaded<O: BulkOperation<T>>(
        self,
        op: O,
        turn: Turn,
        tile: u32,
        strip: u32,
        lane: u32,
    ) -> [T::Pack<T>; ROWS] {
        let (memory, start) = (self.strip(turn, strip), Self::start(tile, strip));
        let read = |at| lift(op, memory.read_pack(at, CacheHint::Default), start + at);
        let elements = self.elements_of(tile, strip);
        if elements == Self::STRIP {
            return Pack::from_fn(|row| read(Self::pack(row, lane)));
        }
        // Compares so that rows differ only in the constant: otherwise each row would occupy a
        // register all the time.
        let from_lane = elements.saturating_sub(Self::pack(0, lane));
        Pack::from_fn(|row| match Self::pack(row, 0) < from_lane {
            true => read(Self::pack(row, lane)),
            false => Pack::splat(op.identity()),
        })
    }

    /// The first element of a lane's pack in a strip.
    #[inline(always)]
    fn pack(row: usize, lane: u32) -> usize {
        (row * WARP_SIZE as usize + lane as usize) * T::PACK
    }

    /// Requests the copy of a strip's results to the output. Called by one thread.
    #[device]
    fn store(self, memory: Shared<T>, tile: u32, strip: u32) {
        let (start, elements) = (Self::start(tile, strip), self.elements_of(tile, strip));
        // Copies move whole packs.
        let packed = elements - elements % T::PACK;
        if packed > 0 {
            bulk::store(self.output.part(start, packed), memory.part(0, packed));
        }
        for at in packed..elements {
            self.output.write(start + at, memory.read(at));
        }
    }
}

/// The combined value of a strip. The lanes of the warp have loaded one pack of each row. Called by
/// all lanes of the warp; all get the result.
#[device]
fn total<O: ScanOperation>(op: O, loaded: [Places<O>; ROWS]) -> O::Accumulator {
    let packs: [O::Accumulator; ROWS] =
        Pack::from_fn(|row| loaded[row].in_order(op.identity(), |a, b| op.combine(a, b)));
    if O::EXACT && O::COMMUTATIVE {
        return warp::reduce(op, packs.in_order(op.identity(), |a, b| op.combine(a, b)));
    }
    let of_lane = warp::reduce_rows(op, packs);
    let rows: [O::Accumulator; ROWS] = Pack::from_fn(|row| warp::of_lane(of_lane, row as u32));
    rows.in_order(op.identity(), |a, b| op.combine(a, b))
}

/// The scan of the packs that the lanes of a warp have loaded of a strip. Called by all lanes.
#[device]
fn scanned<O: ScanOperation>(op: O, loaded: [Places<O>; ROWS]) -> Held<O, ROWS> {
    if O::EXACT {
        let packs = Held::<O, ROWS>::packs(op, loaded);
        let (before, _) = warp::scan_rows(op, Held::<O, ROWS>::totals(packs));
        return Held::of(op, packs, before);
    }
    let (held, _) = Held::scan(op, loaded);
    held
}
