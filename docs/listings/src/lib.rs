//! The listings of the book in `docs` and of the README. Each is part of a file here, whose tests
//! check the claims of the chapter. `cargo xtask book` copies the parts into the chapters.

#![cfg(test)]

mod cuda;
mod exchange;
mod exercises;
mod first_race;
mod flags;
mod graph;
mod last_block;
mod library;
mod mapped;
mod names;
mod output;
mod planning;
mod primitives;
mod shared_memory;
mod streams;
