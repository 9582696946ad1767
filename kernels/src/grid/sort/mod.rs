//! A radix sort by the whole grid: a launch that counts, and a pass for each digit of 8 bits, from
//! the lowest. See the protocol in `README.md`.

mod count;
mod look_back;
mod one_block;
mod order;
mod pass;
mod payload;
mod short_rows;
mod state;
mod tile;

pub use count::{COUNT_THREADS, Task, count, count_rows, count_shared_bytes};
pub use one_block::{
    MOST_ROWS, Rows, one_block_most_threads, one_block_shared_bytes, one_block_threads,
    sort_in_one_block,
};
pub use order::{Floats, Integers, Order, Word};
pub use pass::{Portions, scatter};
pub use payload::{Nothing, Payload};
pub use short_rows::{SHORT_ROW_THREADS, short_rows_of_block, sort_short_rows};
pub use state::{Arrays, State, WORDS, carries_len, counts_len, passes};
pub use tile::{Large, Shape, Small, THREADS, Tiles};
