//! A predicate: which elements are kept.

use cuda_std::memory::Scalar;

/// Decides for each element whether it is kept.
///
/// The value contains everything it depends on, so it can be passed to a kernel as a parameter.
/// [`Within`](super::Within) is part of gridsync; any other works too.
pub trait Predicate: Copy + Send + Sync + 'static {
    /// The element type of the array.
    type Element: Scalar;

    /// Whether to keep `element`, which has index `index` in the array. It may be called more than
    /// once and must return the same answer for the same arguments.
    fn keeps(self, element: Self::Element, index: u64) -> bool;
}
