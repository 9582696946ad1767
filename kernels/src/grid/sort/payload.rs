//! What moves with a key.

use cuda_std::memory::Scalar;

/// What moves with each key of a sort.
pub trait Payload: Copy + 'static {
    /// The payload of a key; not used if nothing moves with it.
    type Word: Scalar;
    /// Whether there is one.
    const IS_HELD: bool;

    /// The payload that is the index of its key.
    fn of_index(index: usize) -> Self::Word;
}

/// The keys only.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Payload for Nothing {
    type Word = u32;
    const IS_HELD: bool = false;

    fn of_index(_: usize) -> u32 {
        0
    }
}

macro_rules! payloads {
    ($($ty:ident)*) => {$(
        impl Payload for $ty {
            type Word = Self;
            const IS_HELD: bool = true;

            #[inline(always)]
            fn of_index(index: usize) -> Self {
                index as Self
            }
        }
    )*};
}
payloads! { u32 u64 }
