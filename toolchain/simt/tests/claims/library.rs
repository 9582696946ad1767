//! A small library for kernels. It is in a separate file, as libraries are.

use crate::support::Words;
use simt::{caller, library_call, library_call_from};
use std::panic::Location;

/// This file.
pub(crate) const LIBRARY: &str = file!();

/// The line of the access in [`sum`].
pub(crate) const SUM_LINE: u32 = line!() + 6;

/// A library function with its accesses in a closure.
#[track_caller]
pub(crate) fn sum(words: Words, count: usize) -> u32 {
    let _call = library_call();
    (0..count).map(|i| words.get(i)).sum()
}

/// A library function that calls another.
#[track_caller]
pub(crate) fn mean(words: Words, count: usize) -> u32 {
    let _call = library_call();
    let sum = || sum(words, count);
    sum() / count as u32
}

/// A library function that calls a closure of its caller.
#[track_caller]
pub(crate) fn apply(section: impl Fn()) {
    let _call = library_call();
    section();
}

/// A value with a destructor that reads.
pub(crate) struct Kept(Words, &'static Location<'static>);

impl Kept {
    #[track_caller]
    pub(crate) fn new(words: Words) -> Self {
        let _call = library_call();
        Self(words, caller())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _call = library_call_from(self.1);
        self.0.get(4);
    }
}
