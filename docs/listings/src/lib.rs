//! The listings of the book in `docs`. Each is a file whose tests say what the chapter says of it.
//!
//! A chapter takes what is between `ANCHOR: name` and `ANCHOR_END: name`.

#![cfg(test)]

mod last_block;
mod names;
mod planning;
mod primitives;
mod streams;
