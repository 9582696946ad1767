//! The radix sort: for each order of keys a kernel that counts, and a pass for each payload.

use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::sort::{
    self, Arrays, Floats, Integers, Large, Nothing, Order, Payload, Portions, Rows, Small, State,
    Task, Tiles,
};

/// The common arguments of the count, as in [`sort::count()`]. The order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counting<W> {
    /// The keys.
    pub input: Global<W>,
    /// Counts, carries and plans.
    pub state: State,
    /// The words of the tiles.
    pub rows: Global<u32>,
    /// What the sort has to write.
    pub task: Task,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Counting<W> {}

impl<W: Scalar> Counting<W> {
    /// Counts by `order`: [`sort::count()`].
    #[device]
    pub fn count(self, order: impl Order<Word = W>) {
        sort::count(order, self.input, self.state, self.rows, self.task);
    }
}

/// The common arguments of the count of rows, as in [`sort::count_rows()`]. The order comes after
/// them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CountingRows<W> {
    /// What the count of an array needs too.
    pub counting: Counting<W>,
    /// Keys of a row.
    pub row_len: u64,
    /// Where rows are, if they have different lengths; else empty.
    pub bounds: Global<u64>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for CountingRows<W> {}

impl<W: Scalar> CountingRows<W> {
    /// Counts by `order`: [`sort::count_rows()`].
    #[device]
    pub fn count(self, order: impl Order<Word = W>) {
        let Counting { input, state, rows, task } = self.counting;
        sort::count_rows(order, input, state, rows, task, self.row_len, self.bounds);
    }
}

/// The common arguments of a pass, as in [`sort::scatter()`]. The order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pass<W, P: Payload, T> {
    /// The keys.
    pub keys: Arrays<W>,
    /// What moves with them; empty views if nothing does.
    pub payloads: Arrays<P::Word>,
    /// Counts, carries and plans.
    pub state: State,
    /// The words of the tiles.
    pub rows: Global<u32>,
    /// How the array is sorted.
    pub portions: Portions,
    /// The digit.
    pub pass: u32,
    /// Whether tiles are large or small.
    pub tiles: PhantomData<T>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar, P: Payload, T: Tiles> KernelArg for Pass<W, P, T> {}

impl<W: Scalar, P: Payload, T: Tiles> Pass<W, P, T> {
    /// The same pass with large or small tiles.
    #[must_use]
    pub fn in_tiles<U>(self) -> Pass<W, P, U> {
        let Self { keys, payloads, state, rows, portions, pass, .. } = self;
        Pass { keys, payloads, state, rows, portions, pass, tiles: PhantomData }
    }

    /// Moves keys by `order`: [`sort::scatter()`].
    #[device]
    pub fn scatter(self, order: impl Order<Word = W>) {
        let Self { keys, payloads, state, rows, portions, pass, .. } = self;
        sort::scatter::<_, P, T>(order, pass, keys, payloads, state, rows, portions);
    }
}

/// The common arguments of a sort of rows in one block each, as in [`sort::sort_in_one_block()`]. The
/// order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OneBlock<W, P: Payload> {
    /// The keys, and where they are written.
    pub keys: [Global<W>; 2],
    /// What moves with them, and where it is written; empty views if nothing does.
    pub payloads: [Global<P::Word>; 2],
    /// The rows.
    pub rows: Rows,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar, P: Payload> KernelArg for OneBlock<W, P> {}

impl<W: Scalar, P: Payload> OneBlock<W, P> {
    /// Sorts by `order`: [`sort::sort_in_one_block()`].
    #[device]
    pub fn sort(self, order: impl Order<Word = W>) {
        sort::sort_in_one_block::<_, P>(order, self.keys, self.payloads, self.rows);
    }
}

/// The common arguments of a sort of rows of up to 32 keys, as in [`sort::sort_short_rows()`]. The
/// order comes after them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShortRows<W, P: Payload>(
    /// What the sort in one block needs too.
    pub OneBlock<W, P>,
);

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar, P: Payload> KernelArg for ShortRows<W, P> {}

impl<W: Scalar, P: Payload> ShortRows<W, P> {
    /// Sorts by `order`: [`sort::sort_short_rows()`].
    #[device]
    pub fn sort(self, order: impl Order<Word = W>) {
        let OneBlock { keys, payloads, rows } = self.0;
        sort::sort_short_rows::<_, P>(order, keys, payloads, rows);
    }
}

/// The common arguments of a sort of segments in windows, as in [`sort::sort_in_windows()`]. The order
/// comes after them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Windows<W, P: Payload>(
    /// What the sort in one block needs too.
    pub OneBlock<W, P>,
);

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar, P: Payload> KernelArg for Windows<W, P> {}

impl<W: Scalar, P: Payload> Windows<W, P> {
    /// Sorts by `order`: [`sort::sort_in_windows()`].
    #[device]
    pub fn sort(self, order: impl Order<Word = W>) {
        let OneBlock { keys, payloads, rows } = self.0;
        sort::sort_in_windows::<_, P>(order, keys, payloads, rows);
    }
}

macro_rules! kernels {
    ($($order:ident<$word:ident>: $count:ident $count_rows:ident, $most:literal $($payload:ident $blocks:literal $pass:ident $small:ident $one:ident $windows:ident $short_blocks:literal $short:ident),+;)*) => {$(
        entry! { @ $count $order<$word> [order] Counting<$word>, count (max_threads = 1024) "Counts by", "grid::sort::count()" }
        entry! { @ $count_rows $order<$word> [order] CountingRows<$word>, count (max_threads = 1024) "Counts rows by", "grid::sort::count_rows()" }
        $(
            entry! { @ $pass $order<$word> [order] Pass<$word, $payload, Large>, scatter (max_threads = 256, min_blocks = $blocks) "Sorts by", "grid::sort::scatter()" }
            entry! { @ $small $order<$word> [order] Pass<$word, $payload, Small>, scatter (max_threads = 256, min_blocks = $blocks) "Sorts short arrays by", "grid::sort::scatter()" }
            entry! { @ $one $order<$word> [order] OneBlock<$word, $payload>, sort (max_threads = $most) "Sorts in one block by", "grid::sort::sort_in_one_block()" }
            entry! { @ $windows $order<$word> [order] Windows<$word, $payload>, sort (max_threads = $most) "Sorts segments in windows by", "grid::sort::sort_in_windows()" }
            entry! { @ $short $order<$word> [order] ShortRows<$word, $payload>, sort (max_threads = 128, min_blocks = $short_blocks) "Sorts short rows by", "grid::sort::sort_short_rows()" }
        )+
    )*};
}
kernels! {
    Integers<u8>: sort_count_int_8 sort_count_rows_int_8, 768
        Nothing 3 sort_int_8 sort_small_int_8 sort_one_block_int_8 sort_windows_int_8 6 sort_short_rows_int_8,
        u32 2 sort_int_8_with_u32 sort_small_int_8_with_u32 sort_one_block_int_8_with_u32 sort_windows_int_8_with_u32 5 sort_short_rows_int_8_with_u32,
        u64 2 sort_int_8_with_u64 sort_small_int_8_with_u64 sort_one_block_int_8_with_u64 sort_windows_int_8_with_u64 5 sort_short_rows_int_8_with_u64;
    Integers<u16>: sort_count_int_16 sort_count_rows_int_16, 768
        Nothing 3 sort_int_16 sort_small_int_16 sort_one_block_int_16 sort_windows_int_16 6 sort_short_rows_int_16,
        u32 2 sort_int_16_with_u32 sort_small_int_16_with_u32 sort_one_block_int_16_with_u32 sort_windows_int_16_with_u32 5 sort_short_rows_int_16_with_u32,
        u64 2 sort_int_16_with_u64 sort_small_int_16_with_u64 sort_one_block_int_16_with_u64 sort_windows_int_16_with_u64 5 sort_short_rows_int_16_with_u64;
    Integers<u32>: sort_count_int_32 sort_count_rows_int_32, 768
        Nothing 3 sort_int_32 sort_small_int_32 sort_one_block_int_32 sort_windows_int_32 6 sort_short_rows_int_32,
        u32 2 sort_int_32_with_u32 sort_small_int_32_with_u32 sort_one_block_int_32_with_u32 sort_windows_int_32_with_u32 5 sort_short_rows_int_32_with_u32,
        u64 2 sort_int_32_with_u64 sort_small_int_32_with_u64 sort_one_block_int_32_with_u64 sort_windows_int_32_with_u64 5 sort_short_rows_int_32_with_u64;
    Integers<u64>: sort_count_int_64 sort_count_rows_int_64, 512
        Nothing 2 sort_int_64 sort_small_int_64 sort_one_block_int_64 sort_windows_int_64 3 sort_short_rows_int_64,
        u32 2 sort_int_64_with_u32 sort_small_int_64_with_u32 sort_one_block_int_64_with_u32 sort_windows_int_64_with_u32 4 sort_short_rows_int_64_with_u32,
        u64 2 sort_int_64_with_u64 sort_small_int_64_with_u64 sort_one_block_int_64_with_u64 sort_windows_int_64_with_u64 4 sort_short_rows_int_64_with_u64;
    Floats<u16>: sort_count_float_16 sort_count_rows_float_16, 768
        Nothing 3 sort_float_16 sort_small_float_16 sort_one_block_float_16 sort_windows_float_16 6 sort_short_rows_float_16,
        u32 2 sort_float_16_with_u32 sort_small_float_16_with_u32 sort_one_block_float_16_with_u32 sort_windows_float_16_with_u32 5 sort_short_rows_float_16_with_u32,
        u64 2 sort_float_16_with_u64 sort_small_float_16_with_u64 sort_one_block_float_16_with_u64 sort_windows_float_16_with_u64 5 sort_short_rows_float_16_with_u64;
    Floats<u32>: sort_count_float_32 sort_count_rows_float_32, 768
        Nothing 3 sort_float_32 sort_small_float_32 sort_one_block_float_32 sort_windows_float_32 6 sort_short_rows_float_32,
        u32 2 sort_float_32_with_u32 sort_small_float_32_with_u32 sort_one_block_float_32_with_u32 sort_windows_float_32_with_u32 5 sort_short_rows_float_32_with_u32,
        u64 2 sort_float_32_with_u64 sort_small_float_32_with_u64 sort_one_block_float_32_with_u64 sort_windows_float_32_with_u64 5 sort_short_rows_float_32_with_u64;
    Floats<u64>: sort_count_float_64 sort_count_rows_float_64, 512
        Nothing 2 sort_float_64 sort_small_float_64 sort_one_block_float_64 sort_windows_float_64 3 sort_short_rows_float_64,
        u32 2 sort_float_64_with_u32 sort_small_float_64_with_u32 sort_one_block_float_64_with_u32 sort_windows_float_64_with_u32 4 sort_short_rows_float_64_with_u32,
        u64 2 sort_float_64_with_u64 sort_small_float_64_with_u64 sort_one_block_float_64_with_u64 sort_windows_float_64_with_u64 4 sort_short_rows_float_64_with_u64;
}
