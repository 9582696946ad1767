//! Loads at the end of an array.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Loads the pack at element `at` of `input` one element at a time, since it need not be aligned.
/// Returns `take(element, index)` for each element, and `none` for indices past the end of `input`.
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
