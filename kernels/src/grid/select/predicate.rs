//! A predicate: which elements are kept.

use cuda_std::memory::Scalar;

/// Decides for each element whether it is kept.
///
/// A value that holds all it depends on, so that a kernel takes it as a parameter.
/// [`Within`](super::Within) is part of gridsync; any other will do.
pub trait Predicate: Copy + Send + Sync + 'static {
    /// The element type of the array.
    type Element: Scalar;

    /// Whether to keep `element`, which has index `index` in the array. It may be asked more than
    /// once and must give the same answer for the same arguments.
    fn keeps(self, element: Self::Element, index: u64) -> bool;
}
