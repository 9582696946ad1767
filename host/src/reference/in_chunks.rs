//! Folds numbers in chunks of a fixed length, independent of how they are passed.

use crate::parallel::{self, CHUNK};
use gridsync_kernels::op::Widen;

/// The state of a fold. The default is the state for no numbers.
pub(super) trait Folded: Copy + Default + Send {
    /// Adds one more number.
    fn take(self, x: f64) -> Self;

    /// Appends the state of the numbers that follow.
    fn merge(self, after: Self) -> Self;
}

/// All chunks so far. The end of a chunk depends only on the index, so the bits do too.
#[derive(Clone, Default)]
pub(super) struct InChunks<F> {
    /// The completed chunks.
    ended: F,
    /// The incomplete chunk, and how many numbers it has.
    open: F,
    len: usize,
}

impl<F: Folded> InChunks<F> {
    /// Adds the next numbers, on all cores.
    pub(super) fn next<T: Widen<f64>>(&mut self, input: &[T]) {
        let fold = |all: F, part: &[T]| part.iter().fold(all, |all, &x| all.take(x.widen()));
        let missing = (CHUNK - self.len).min(input.len());
        let (first, rest) = match self.len {
            0 => input.split_at(0),
            _ => input.split_at(missing),
        };
        self.open = fold(self.open, first);
        self.len += first.len();
        if self.len == CHUNK {
            self.ended = self.ended.merge(self.open);
            (self.open, self.len) = (F::default(), 0);
        }
        let (whole, last) = rest.split_at(rest.len() / CHUNK * CHUNK);
        let chunks =
            parallel::map_chunks(whole.len(), CHUNK, &|chunk| fold(F::default(), &whole[chunk]));
        self.ended = chunks.into_iter().fold(self.ended, F::merge);
        self.open = fold(self.open, last);
        self.len += last.len();
    }

    /// The fold of all numbers so far.
    pub(super) fn all(&self) -> F {
        match self.len {
            0 => self.ended,
            _ => self.ended.merge(self.open),
        }
    }
}
