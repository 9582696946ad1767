//! A radix sort of keys by the whole grid: a pass for each digit of 8 bits, from the lowest.

mod look_back;
mod order;
mod pass;
mod rank;

pub use look_back::{MOST, Rows};
pub use order::{Floats, Integers, Order, Word};
pub use pass::{THREADS, TILE, scatter, shared_bytes};
