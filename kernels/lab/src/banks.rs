//! Bank conflicts in shared memory: strided loads, and the transposition of a tile.

use cuda_std::memory::{Pack, dynamic_shared};
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{WARP_SIZE, lane_id, warp_index};

/// Elements of the array that is loaded from. At a stride of 33, the longest, the last lane of a
/// warp loads the last of them.
pub const ELEMENTS: u32 = 1024;

/// Rows, and columns, of the tile.
pub const SIDE: u32 = WARP_SIZE;

macro_rules! kernels {
    ($($bytes:literal $name:ident: |$array:ident: $ty:ty, $i:ident| $fill:expr, $next:expr;)*) => {$(
        #[doc = concat!("Loads elements of ", $bytes, " bytes from shared memory, `rounds` times.")]
        ///
        /// Each lane loads element `lane × stride`. The element holds its own index, which is the
        /// index of the next load: the same element. So no load can begin before the last one has
        /// ended, and no compiler can infer that one load suffices. `found` gets the last value
        /// that each thread loaded, and `cycles` the cycles of its rounds.
        ///
        /// # Safety
        ///
        /// Blocks consist of whole warps and have dynamic shared memory for [`ELEMENTS`] elements;
        /// `stride` is at most 33; `found` and `cycles` have one element per thread of the grid.
        #[kernel]
        pub unsafe fn $name(found: Global<u32>, cycles: Global<u64>, stride: u32, rounds: u32) {
            let $array = dynamic_shared::<$ty>();
            let fill = |$i: u32| $fill;
            let next = |$i: u32| $next;
            load(found, cycles, stride, rounds, fill, next);
        }
    )*};
}
// All words of an element hold its index. Each word is used, to keep the compiler from loading
// fewer.
kernels! {
    "4" banks_load_4: |array: u32, i| array.write(i as usize, i), array.read(i as usize);
    "8" banks_load_8: |array: u64, i|
        array.write(i as usize, u64::from(i) << 32 | u64::from(i)),
        {
            let words = array.read(i as usize);
            words as u32 | (words >> 32) as u32
        };
    "16" banks_load_16: |array: u32, i|
        array.write_pack(4 * i as usize, [i; 4], CacheHint::Default),
        array.read_pack(4 * i as usize, CacheHint::Default).fold(|a, b| a | b);
}

#[device]
fn load(
    found: Global<u32>,
    cycles: Global<u64>,
    stride: u32,
    rounds: u32,
    fill: impl Fn(u32),
    next: impl Fn(u32) -> u32,
) {
    let mut element = thread::in_32_bits::index_in_block();
    while element < ELEMENTS {
        fill(element);
        element += thread::in_32_bits::threads_per_block();
    }
    let mut at = lane_id() * stride;
    thread::sync_threads();
    let start = clock();
    for _ in 0..rounds {
        at = next(at);
    }
    let end = clock();
    found.write(thread::index(), at);
    cycles.write(thread::index(), end - start);
}

/// Transposes a tile of [`SIDE`] × [`SIDE`] numbers in shared memory, `rounds` times. After an odd
/// number of rounds `output` is the transposed `input`.
///
/// A warp stores a row and loads a column. An element is stored at `row × pitch + (column ^ (row &
/// swizzle))`:
///
/// | layout | `pitch` | `swizzle` |
/// |---|---|---|
/// | plain | 32 | 0 |
/// | padded: rows one word longer | 33 | 0 |
/// | swizzled: columns permuted, differently in each row | 32 | 31 |
///
/// # Safety
///
/// The grid is one block with a thread for each number, and with dynamic shared memory for `SIDE ×
/// pitch` numbers; `pitch` and `swizzle` are those of the table; `input`, `output` and `cycles`
/// have one element per thread.
#[kernel]
pub unsafe fn banks_transpose(
    input: Global<f32>,
    output: Global<f32>,
    cycles: Global<u64>,
    pitch: u32,
    swizzle: u32,
    rounds: u32,
) {
    let tile = dynamic_shared::<f32>();
    let (row, column) = (warp_index(), lane_id());
    let place = |row: u32, column: u32| (row * pitch + (column ^ (row & swizzle))) as usize;
    let (to, from) = (place(row, column), place(column, row));
    let mut number = input.read(thread::index());
    thread::sync_threads();
    let start = clock();
    for _ in 0..rounds {
        tile.write(to, number);
        thread::sync_threads();
        number = tile.read(from);
        // Without this barrier a fast warp would store its next row before a slow one has loaded.
        thread::sync_threads();
    }
    let end = clock();
    output.write(thread::index(), number);
    cycles.write(thread::index(), end - start);
}
