//! The launches of a sort.

use super::plan::{InBlocks, Plan, ROW};
use super::segments::Parts;
use super::{Index, Key, Moved, Order, Sorter};
use crate::device::{Device, DeviceError, Geometry};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::sort::{Counting, CountingRows, OneBlock, Pass, ShortRows, Windows};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::sort::{
    self as kernels, Arrays, Large, Payload, Rows, SHORT_ROW_THREADS, Small, State, Task, Tiles,
    carries_len, one_block_shared_bytes, passes, short_row_shared_bytes, short_rows_of_block,
};
use std::marker::PhantomData;
use std::ops::Range;

impl<K: Key> Sorter<K> {
    /// Sorts from the first of `keys` and of `values` to the second.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_pairs<V: Moved>(
        &mut self,
        order: Order,
        keys: [Global<K>; 2],
        values: [Global<V>; 2],
        how: How<'_>,
    ) -> Result<(), DeviceError> {
        let len = if how.needs_no_spare::<K>(&self.device) { 0 } else { keys[0].len() };
        self.keys.fit(len)?;
        self.spare.fit((len * size_of::<V>()).div_ceil(8))?;
        let ([input, output], spare) = (keys.map(Global::cast), self.keys.view());
        let keys = Arrays { input, spare, output };
        let spare = self.spare.view().cast().part(0, len);
        let values: Arrays<V> = Arrays { input: values[0], spare, output: values[1] };
        // SAFETY: the caller's promise; the spare arrays are as long.
        unsafe { self.run_with(order, keys, values, how) }
    }

    /// Sorts the indices of `input` into `indices`, whose type can hold them.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(in crate::primitives) unsafe fn run_argsort<I: Index>(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        indices: Global<I>,
        how: How<'_>,
    ) -> Result<(), DeviceError> {
        let len = if how.needs_no_spare::<K>(&self.device) { 0 } else { input.len() };
        // Twice, because the keys are not wanted.
        self.keys.fit(2 * len)?;
        let unwanted = self.keys.view().part(len, len);
        // SAFETY: the caller's promise; the spare keys are those before.
        unsafe { self.run_with_indices(order, input, (unwanted, indices), how) }
    }

    /// Sorts `input` into `keys`, and its indices, whose type can hold them, into `indices`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_with_indices<I: Index>(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        (keys, indices): (Global<K::Word>, Global<I>),
        how: How<'_>,
    ) -> Result<(), DeviceError> {
        let len = if how.needs_no_spare::<K>(&self.device) { 0 } else { input.len() };
        self.keys.fit(len)?;
        self.spare.fit((len * size_of::<I>()).div_ceil(8))?;
        let keys = Arrays { input, spare: self.keys.view().part(0, len), output: keys };
        let spare = self.spare.view().cast().part(0, len);
        let indices = Arrays { input: indices.part(0, 0), spare, output: indices };
        // SAFETY: the caller's promise; the spare arrays are as long.
        unsafe { self.run_with(order, keys, indices, how.with_indices()) }
    }

    /// [`run`](Self::run) with the kernels that move so many bytes with each key.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_with<V: Moved>(
        &mut self,
        order: Order,
        keys: Arrays<K::Word>,
        values: Arrays<V>,
        how: How<'_>,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise; a value is as long as the payload.
        unsafe {
            if size_of::<V>() == 4 {
                self.run::<u32>(order, keys, Some(values.cast()), how)
            } else {
                self.run::<u64>(order, keys, Some(values.cast()), how)
            }
        }
    }

    /// Submits the launches of a sort.
    ///
    /// # Safety
    /// The arrays are on this device and as long as `keys.input`, except those of the spare keys,
    /// which may be longer, and an input of indices. Outputs have the elements that are kept. If
    /// [`How::needs_no_spare`] holds, spare arrays and the output of keys may be empty. They do
    /// not overlap, but an output is its input if `how` says so.
    pub(super) unsafe fn run<P: Payload<Word: Pod>>(
        &mut self,
        order: Order,
        keys: Arrays<K::Word>,
        payloads: Option<Arrays<P::Word>>,
        how: How<'_>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, Large>>
            + Entry<Pass<K::Word, P, Small>>
            + Entry<OneBlock<K::Word, P>>
            + Entry<Windows<K::Word, P>>
            + Entry<ShortRows<K::Word, P>>,
    {
        let none = self.words.view().cast::<P::Word>().part(0, 0);
        let payloads = payloads.unwrap_or(Arrays { input: none, spare: none, output: none });
        if keys.input.is_empty() || how.kept == 0 {
            return Ok(());
        }
        let order = K::order(order);
        if let Some(segments) = how.segments {
            // SAFETY: the caller's promise.
            return unsafe { self.run_segments(order, segments, keys, payloads, how) };
        }
        if let Some(blocks) = how.in_blocks::<K>(&self.device) {
            // SAFETY: the caller's promise; the blocks are made for the rows.
            return unsafe { self.run_rows_in_blocks(order, blocks, keys, payloads, how) };
        }
        if how.rows > 1 && !Plan::has_rows_of(how.columns) {
            for row in 0..how.rows {
                let row = row * how.columns..(row + 1) * how.columns;
                // SAFETY: the caller's promise.
                unsafe { self.run_row(order, row, keys, payloads, how)? };
            }
            return Ok(());
        }
        let plan = Plan::of::<K, P>(&self.device, how.rows, how.columns);
        // SAFETY: the caller's promise.
        unsafe { self.run_in_passes(order, &plan, None, keys, payloads, how) }
    }

    /// Submits the launches that sort one of several rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_row<P: Payload<Word: Pod>>(
        &mut self,
        order: K::Order,
        row: Range<usize>,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
        how: How<'_>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, Large>> + Entry<Pass<K::Word, P, Small>>,
    {
        let (first, len) = (row.start, row.len());
        let keys = row_of(keys, first, len);
        let payloads = if P::IS_HELD && !how.are_indices {
            row_of(payloads, first, len)
        } else if P::IS_HELD {
            Arrays { output: payloads.output.part(first, len), ..payloads }
        } else {
            payloads
        };
        let plan = Plan::of::<K, P>(&self.device, 1, len);
        // SAFETY: the caller's promise.
        unsafe { self.run_in_passes(order, &plan, None, keys, payloads, how) }
    }

    /// Submits the launches that count digits and move keys: of the plan's array or rows, or of those
    /// that are `listed`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_in_passes<P: Payload<Word: Pod>>(
        &mut self,
        order: K::Order,
        plan: &Plan,
        listed: Option<Listed>,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
        how: How<'_>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, Large>> + Entry<Pass<K::Word, P, Small>>,
    {
        self.rows.fit(ROW * plan.tiles)?;
        self.carries.fit(carries_len(size_of::<K>(), plan.count as usize))?;
        let none = self.counts.view().part(0, 0);
        let Listed { bounds, tiles } = listed.unwrap_or(Listed { bounds: none, tiles: none });
        let count = how.counted.unwrap_or(none);
        let portions = plan.portions(how.are_indices, tiles, count);
        let state = State {
            counts: self.counts.view(),
            carries: self.carries.view(),
            words: self.words.view(),
        };
        let rows = self.rows.view().part(0, ROW * plan.tiles);
        let task = Task { portions: portions.count, flags: how.flags(), count };
        let counting = Counting { input: keys.input, state, rows, task };
        // SAFETY: the grids are made for the arrays, and the caller upholds the rest; counts and
        // words were zeroed, and each sort leaves them ready for the next; `&mut self` and the
        // order of the stream keep others off them; a dropped buffer waits for the stream; all
        // kernels start with the wait for the previous one.
        unsafe {
            if plan.are_rows() {
                let counting = CountingRows { counting, row_len: portions.len, bounds };
                let args = Entry::<CountingRows<K::Word>>::arguments(order, counting);
                self.device.launch_in_a_row::<KernelOf<K::Order, CountingRows<K::Word>>>(
                    &plan.counts,
                    args,
                )?;
            } else {
                let args = Entry::<Counting<K::Word>>::arguments(order, counting);
                self.device
                    .launch_in_a_row::<KernelOf<K::Order, Counting<K::Word>>>(&plan.counts, args)?;
            }
            let first = Pass {
                keys,
                payloads,
                state,
                rows,
                portions,
                pass: 0,
                tiles: PhantomData::<Large>,
            };
            if plan.is_small {
                self.passes(order, &plan.moves, how, first.in_tiles::<Small>())
            } else {
                self.passes(order, &plan.moves, how, first)
            }
        }
    }

    /// Submits the launch of a sort of rows by one block or one warp each.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the blocks are made for the rows.
    unsafe fn run_rows_in_blocks<P: Payload>(
        &self,
        order: K::Order,
        blocks: InBlocks,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
        how: How<'_>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<OneBlock<K::Word, P>> + Entry<ShortRows<K::Word, P>>,
    {
        let each = if let InBlocks::OfBlock { each, .. } = blocks { each } else { 1 };
        let none = self.words.view().part(0, 0);
        let rows = Rows {
            count: how.rows as u64,
            len: how.columns as u32,
            shortest: 0,
            kept: how.kept as u32,
            each,
            are_indices: how.are_indices.into(),
            segments: kernels::Segments { offsets: none.cast(), starts: none },
        };
        // SAFETY: the caller's promise.
        unsafe {
            match blocks {
                InBlocks::OfWarps => {
                    let each = short_rows_of_block(how.columns as u32);
                    let blocks = how.rows.div_ceil(each as usize);
                    self.run_in_warps(order, blocks, rows, keys, payloads)
                }
                InBlocks::OfBlock { threads, each } => {
                    let blocks = how.rows.div_ceil(each as usize);
                    self.run_in_blocks(order, [blocks, threads as usize], rows, keys, payloads)
                }
            }
        }
    }

    /// Submits the launch of a sort of rows of up to 32 keys, by so many blocks.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the blocks are made for the rows.
    pub(super) unsafe fn run_in_warps<P: Payload>(
        &self,
        order: K::Order,
        blocks: usize,
        rows: Rows,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<ShortRows<K::Word, P>>,
    {
        let shared = short_row_shared_bytes(size_of::<K>(), P::IS_HELD);
        let geometry = Geometry::new(blocks as u32, SHORT_ROW_THREADS).with_dynamic_shared(shared);
        let args = order.arguments(ShortRows(in_blocks(rows, keys, payloads)));
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe {
            self.device
                .launch_in_a_row::<KernelOf<K::Order, ShortRows<K::Word, P>>>(&geometry, args)
        }
    }

    /// Submits the launch of a sort of rows in so many blocks of so many threads.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the blocks are made for the rows.
    pub(super) unsafe fn run_in_blocks<P: Payload>(
        &self,
        order: K::Order,
        [blocks, threads]: [usize; 2],
        rows: Rows,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<OneBlock<K::Word, P>>,
    {
        let shared = one_block_shared_bytes(threads as u32, size_of::<K>(), false);
        let geometry = Geometry::new(blocks as u32, threads as u32).with_dynamic_shared(shared);
        let args = order.arguments(in_blocks(rows, keys, payloads));
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Order, OneBlock<K::Word, P>>>(&geometry, args)
        }
    }

    /// Submits the launch of a sort of segments in windows, in so many blocks of so many threads.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the blocks are made for the segments.
    pub(super) unsafe fn run_in_windows<P: Payload>(
        &self,
        order: K::Order,
        [blocks, threads]: [usize; 2],
        rows: Rows,
        keys: Arrays<K::Word>,
        payloads: Arrays<P::Word>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Windows<K::Word, P>>,
    {
        let shared = one_block_shared_bytes(threads as u32, size_of::<K>(), true);
        let geometry = Geometry::new(blocks as u32, threads as u32).with_dynamic_shared(shared);
        let args = order.arguments(Windows(in_blocks(rows, keys, payloads)));
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Order, Windows<K::Word, P>>>(&geometry, args)
        }
    }

    /// Submits the launches of all passes.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn passes<P: Payload, T: Tiles>(
        &self,
        order: K::Order,
        geometry: &Geometry,
        how: How<'_>,
        first: Pass<K::Word, P, T>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, T>>,
    {
        let word = size_of::<K>();
        let passes = if how.in_place { passes(word) } else { word };
        for pass in 0..passes as u32 {
            let args = order.arguments(Pass { pass, ..first });
            // SAFETY: the caller's promise.
            unsafe {
                self.device
                    .launch_in_a_row::<KernelOf<K::Order, Pass<K::Word, P, T>>>(geometry, args)?;
            }
        }
        Ok(())
    }
}

/// The part of arrays that is a row.
fn row_of<T: Scalar>(arrays: Arrays<T>, first: usize, columns: usize) -> Arrays<T> {
    let Arrays { input, spare, output } = arrays;
    Arrays { input: input.part(first, columns), spare, output: output.part(first, columns) }
}

/// The arguments of a sort of rows in blocks.
fn in_blocks<W: Scalar, P: Payload>(
    rows: Rows,
    keys: Arrays<W>,
    payloads: Arrays<P::Word>,
) -> OneBlock<W, P> {
    OneBlock { keys: [keys.input, keys.output], payloads: [payloads.input, payloads.output], rows }
}

/// Rows of different lengths that are sorted by passes.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    /// For each, the index of its first key, and the number of its keys.
    pub(super) bounds: Global<u64>,
    /// The [words](gridsync_kernels::grid::sort::tile_words) of each tile.
    pub(super) tiles: Global<u64>,
}

/// The work of a sort.
#[derive(Clone, Copy)]
pub(in crate::primitives) struct How<'a> {
    /// Rows, which are sorted separately.
    pub(in crate::primitives) rows: usize,
    /// Elements of a row.
    pub(in crate::primitives) columns: usize,
    /// Elements of a row that are written: all of them, unless rows are sorted
    /// [in blocks](Self::in_blocks).
    kept: usize,
    /// The outputs are the inputs.
    in_place: bool,
    /// The indices of the keys in their rows move with them.
    are_indices: bool,
    /// The number of elements that are sorted, the first of the one row.
    pub(super) counted: Option<Global<u64>>,
    /// The segments that are sorted instead of rows. Then there is one row.
    pub(super) segments: Option<&'a Parts>,
}

impl<'a> How<'a> {
    /// The sort of an array of so many elements.
    pub(in crate::primitives) fn whole(len: usize) -> Self {
        Self::rows(1, len)
    }

    /// The sort of rows.
    pub(in crate::primitives) fn rows(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            kept: columns,
            in_place: false,
            are_indices: false,
            counted: None,
            segments: None,
        }
    }

    /// The sort of the first elements of an array of so many, as many as the number in `count`.
    pub(super) fn counted(len: usize, count: Global<u64>) -> Self {
        Self { counted: Some(count), ..Self::whole(len) }
    }

    /// The sort of segments.
    pub(super) fn segments(segments: &'a Parts) -> Self {
        Self { segments: Some(segments), ..Self::whole(segments.len) }
    }

    /// The same, but only the first elements of each row are written.
    pub(in crate::primitives) fn keeping(self, kept: usize) -> Self {
        Self { kept, ..self }
    }

    /// The same, but in place.
    pub(in crate::primitives) fn in_place(self) -> Self {
        Self { in_place: true, ..self }
    }

    /// The same, but indices move with the keys.
    pub(in crate::primitives) fn with_indices(self) -> Self {
        Self { are_indices: true, ..self }
    }

    /// The blocks that sort rows on their own, if these are short enough.
    pub(in crate::primitives) fn in_blocks<K: Key>(self, device: &Device) -> Option<InBlocks> {
        if self.counted.is_some() {
            return None;
        }
        InBlocks::of(device, size_of::<K>(), self.rows, self.columns)
    }

    /// Whether the sort of keys of this type needs no spare arrays.
    pub(in crate::primitives) fn needs_no_spare<K: Key>(self, device: &Device) -> bool {
        match self.segments {
            None => self.in_blocks::<K>(device).is_some(),
            Some(segments) => segments.need_no_spare(),
        }
    }

    /// Whether the indices of the keys in their rows move with them.
    pub(super) fn are_indices(self) -> bool {
        self.are_indices
    }

    /// As [`Task::flags`].
    fn flags(self) -> u32 {
        u32::from(self.in_place) | u32::from(!self.in_place || self.are_indices) << 1
    }
}
