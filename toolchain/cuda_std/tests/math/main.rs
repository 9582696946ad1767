//! The maximum errors of the functions of `cuda_std::math`.
//!
//! These tests run on the host. The device has the same bits: `../codegen` checks this on the
//! instructions that the functions compile to.

mod double;
mod exact;
mod single;

/// A function and its bound, in units in the last place.
pub(crate) struct Bound<F, Reference> {
    pub(crate) name: &'static str,
    pub(crate) function: F,
    pub(crate) reference: Reference,
    pub(crate) ulp: f64,
}

/// An endless sequence of numbers from `seed`, all bits random (SplitMix64).
pub(crate) fn random_bits(seed: u64) -> impl Iterator<Item = u64> {
    (1u64..).map(move |i| {
        let mut z = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
