//! Products modulo a number known only at run time.

use super::Operation;
use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::memory::Scalar;

/// An integer type for products modulo a number.
pub trait Integer: Scalar {
    /// Whether it is negative, and its absolute value.
    fn sign_and_magnitude(self) -> (bool, u64);
}

macro_rules! integers {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl Integer for $unsigned {
            #[inline(always)]
            fn sign_and_magnitude(self) -> (bool, u64) {
                (false, self.into())
            }
        }

        impl Integer for $signed {
            #[inline(always)]
            fn sign_and_magnitude(self) -> (bool, u64) {
                (self < 0, self.unsigned_abs().into())
            }
        }
    )*};
}
integers! { u32, i32; u64, i64; }

/// The product of elements of `T` modulo m, for 1 ≤ m ≤ 2^32: exact, and 0 to m − 1, even for
/// negative elements. Modulo 1 it is 0, even for an empty array.
// The layout is that of a kernel's parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProductModulo<T> {
    modulus: u64,
    /// ⌊(2^64 − 1) / m⌋.
    reciprocal: u64,
    element: PhantomData<fn(T)>,
}

// SAFETY: `repr(C)`, with two 64-bit numbers as fields, without padding.
unsafe impl<T: Scalar> KernelArg for ProductModulo<T> {}

/// The error for a modulus out of range.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModulusError {
    /// The modulus.
    pub modulus: u64,
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for ModulusError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the modulus is {}; products are taken modulo 1 to {}", self.modulus, 1u64 << 32)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::error::Error for ModulusError {}

impl<T> ProductModulo<T> {
    /// The product modulo `modulus`. Host only: kernels get it as a parameter.
    ///
    /// # Errors
    /// Fails with [`ModulusError`] if the modulus is 0 or above 2^32.
    #[cfg(not(target_arch = "nvptx64"))]
    pub const fn new(modulus: u64) -> Result<Self, ModulusError> {
        if modulus == 0 || modulus > 1 << 32 {
            return Err(ModulusError { modulus });
        }
        Ok(Self { modulus, reciprocal: u64::MAX / modulus, element: PhantomData })
    }

    /// The product modulo the greatest prime below 2^32, for tests: only multiples of the prime
    /// make the product 0. Host only.
    #[cfg(not(target_arch = "nvptx64"))]
    #[must_use]
    pub const fn by_a_prime() -> Self {
        match Self::new(4_294_967_291) {
            Ok(op) => op,
            Err(_) => unreachable!(),
        }
    }

    /// `x` modulo m, by one multiplication with the reciprocal (Barrett, "Implementing the Rivest
    /// Shamir and Adleman public key encryption algorithm on a standard digital signal processor",
    /// 1986). A division would need about a hundred instructions on a GPU.
    // Let r = ⌊(2^64 − 1) / m⌋. Then m·r is the greatest multiple of m up to 2^64 − 1, so it is at
    // least 2^64 − m, and 2^64 / m − 1 ≤ r < 2^64 / m. Because x < 2^64, x·r / 2^64 is at most x /
    // m and above x / m − 1. So q, rounded down, is ⌊x / m⌋ or one less, and x − q·m is below 2m ≤
    // 2^33.
    #[inline(always)]
    fn residue(self, x: u64) -> u32 {
        let q = (u128::from(x) * u128::from(self.reciprocal)) >> 64;
        let left = x.wrapping_sub((q as u64).wrapping_mul(self.modulus));
        (if left >= self.modulus { left - self.modulus } else { left }) as u32
    }
}

impl<T: Integer> Operation for ProductModulo<T> {
    type Element = T;
    type Accumulator = u32;
    type Output = u32;
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;
    const LONG: bool = true;

    #[inline(always)]
    fn identity(self) -> u32 {
        u32::from(self.modulus != 1)
    }

    #[inline(always)]
    fn lift(self, element: T, index: u64) -> u32 {
        self.take(self.identity(), element, index)
    }

    #[inline(always)]
    fn combine(self, a: u32, b: u32) -> u32 {
        self.residue(u64::from(a) * u64::from(b))
    }

    #[inline(always)]
    fn take(self, all: u32, element: T, _index: u64) -> u32 {
        let (is_negative, magnitude) = element.sign_and_magnitude();
        // A 32-bit factor need not be a residue: the product fits in 64 bits anyway.
        let factor = match size_of::<T>() {
            ..=4 => magnitude,
            _ => self.residue(magnitude).into(),
        };
        let product = self.residue(u64::from(all) * factor);
        if is_negative && product != 0 {
            (self.modulus - u64::from(product)) as u32
        } else {
            product
        }
    }

    #[inline(always)]
    fn finish(self, all: u32) -> u32 {
        all
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Numbers around every power of two.
    fn edges() -> impl Iterator<Item = u64> {
        (0..64).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, u64::MAX - (1 << e)])
    }

    #[test]
    fn a_residue_equals_the_remainder_of_division() {
        let moduli = edges().chain([3, 7, 10, 1_000_000_007, 4_294_967_291, 4_294_967_295]);
        for modulus in moduli.filter(|m| (1..=1 << 32).contains(m)) {
            let op = ProductModulo::<u64>::new(modulus).expect("it is in range");
            let multiples = edges().map(|x| x / modulus * modulus);
            for x in edges().chain(multiples) {
                for x in [x.wrapping_sub(1), x, x.wrapping_add(1)] {
                    assert_eq!(u64::from(op.residue(x)), x % modulus, "{x} mod {modulus}");
                }
            }
        }
    }

    #[test]
    fn negative_factors_have_nonnegative_residues() {
        for modulus in [1, 2, 7, 1 << 31, (1 << 32) - 5, 1 << 32] {
            let op = ProductModulo::<i64>::new(modulus).expect("it is in range");
            for x in [i64::MIN, -8, -7, -1, 0, 1, i64::MAX] {
                let right = i128::from(x).rem_euclid(modulus.into());
                assert_eq!(i128::from(op.lift(x, 0)), right, "{x} mod {modulus}");
            }
        }
    }

    #[test]
    fn a_modulus_of_zero_or_above_2_pow_32_is_an_error() {
        for modulus in [0, (1 << 32) + 1, u64::MAX] {
            let refused = ProductModulo::<u32>::new(modulus).map(|_| ());
            assert_eq!(refused, Err(ModulusError { modulus }));
        }
    }
}
