//! A radix sort by the whole grid: a launch that counts, and a pass for each digit of 8 bits, from
//! the lowest. See the protocol in `README.md`.

mod count;
mod each_key;
mod layout;
mod look_back;
mod network;
mod numbered;
mod one_block;
mod order;
mod pass;
mod payload;
mod rows;
mod short_rows;
mod state;
mod tile;
mod windows;

pub use count::{COUNT_THREADS, Task, count, count_rows, count_shared_bytes};
pub use numbered::{Numbered, Numbered64};
pub use one_block::{
    one_block_most_threads, one_block_shared_bytes, one_block_threads, sort_in_one_block,
};
pub use order::{Floats, Integers, Order, Word};
pub use pass::{Portions, scatter, tile_words};
pub use payload::{Nothing, Payload};
pub use rows::{MOST_ROWS, Rows, Segments, WINDOW};
pub use short_rows::{
    SHORT_ROW_MOST, SHORT_ROW_THREADS, SHORT_WINDOWS, short_row_shared_bytes, short_rows_of_block,
    sort_short_rows,
};
pub use state::{Arrays, State, WORDS, carries_len, counts_len, passes};
pub use tile::{Large, Shape, Small, THREADS, Tiles};
pub use windows::{LONGEST_IN_WINDOWS, sort_in_windows, windows_of_block, windows_threads};
