//! Loads at the end of an array.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// What `take` makes of each element of the pack that begins at element `at` of `input`, and of its
/// index; `none` for each place past the end of `input`. Element by element: the pack need not be
/// aligned.
#[device]
pub(super) fn read_pack_within<T: Scalar, A: Copy>(
    input: Global<T>,
    at: usize,
    none: A,
    take: impl Fn(T, usize) -> A,
) -> T::Pack<A> {
    Pack::from_fn(|place| match at + place {
        at if at < input.len() => take(input.read(at), at),
        _ => none,
    })
}
