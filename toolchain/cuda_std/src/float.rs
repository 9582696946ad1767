//! Minimum and maximum, which are one instruction on the device but several operations in plain
//! Rust. All other numeric functions are in [`math`](crate::math).

macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident: $ty:ty, $is_first:expr, $asm:literal, $class:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(a: $ty, b: $ty) -> $ty {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: $ty;
                // SAFETY: arithmetic on registers.
                unsafe {
                    core::arch::asm!($asm, result = out($class) result, a = in($class) a,
                                     b = in($class) b,
                                     options(pure, nomem, nostack, preserves_flags));
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let is_first: fn($ty, $ty) -> bool = $is_first;
                if a.is_nan() || b.is_nan() {
                    <$ty>::NAN
                } else if is_first(a, b) {
                    a
                } else {
                    b
                }
            }
        }
    )*};
}

// `.NaN` exists for f32 since compute capability 8.0. Before that, `min` and `max` drop a NaN.
#[cfg(any(compute_ge_80, not(target_arch = "nvptx64")))]
extremes! {
    /// The smaller value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `minimum`; PTX
    /// ISA, "min").
    minimum_f32: f32, |a, b| a < b || (a == b && a.is_sign_negative()),
        "min.NaN.f32 {result}, {a}, {b};", reg32;
    /// The larger value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `maximum`; PTX
    /// ISA, "max").
    maximum_f32: f32, |a, b| a > b || (a == b && b.is_sign_negative()),
        "max.NaN.f32 {result}, {a}, {b};", reg32;
}
#[cfg(all(not(compute_ge_80), target_arch = "nvptx64"))]
extremes! {
    /// The smaller value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `minimum`; PTX
    /// ISA, "min").
    minimum_f32: f32, |_, _| false,
        "{{ .reg .pred %nan; .reg .f32 %least; min.f32 %least, {a}, {b}; setp.nan.f32 %nan, {a}, {b}; selp.f32 {result}, 0f7FC00000, %least, %nan; }}", reg32;
    /// The larger value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `maximum`; PTX
    /// ISA, "max").
    maximum_f32: f32, |_, _| false,
        "{{ .reg .pred %nan; .reg .f32 %most; max.f32 %most, {a}, {b}; setp.nan.f32 %nan, {a}, {b}; selp.f32 {result}, 0f7FC00000, %most, %nan; }}", reg32;
}
// Not `min.f64` and `max.f64`: ptxas (CUDA 13) turns each into a comparison, two selections and
// moves, and then loads only one pack at a time in a loop over them. The sign of the smaller of two
// numbers is the `or` of their signs, and that of the larger the `and`, which orders the zeros.
extremes! {
    /// The smaller value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `minimum`).
    minimum_f64: f64, |a, b| a < b || (a == b && a.is_sign_negative()),
        "{{ .reg .pred %less, %nan; .reg .b64 %least, %sign; \
         setp.lt.f64 %less, {a}, {b}; selp.b64 %least, {a}, {b}, %less; \
         or.b64 %sign, {a}, {b}; and.b64 %sign, %sign, 0x8000000000000000; or.b64 %least, %least, %sign; \
         setp.nan.f64 %nan, {a}, {b}; selp.b64 {result}, 0x7FF8000000000000, %least, %nan; }}", reg64;
    /// The larger value: NaN if one is NaN, and −0 is less than +0 (IEEE 754-2019 `maximum`).
    maximum_f64: f64, |a, b| a > b || (a == b && b.is_sign_negative()),
        "{{ .reg .pred %more, %nan; .reg .b64 %most, %rest; \
         setp.gt.f64 %more, {a}, {b}; selp.b64 %most, {a}, {b}, %more; \
         and.b64 %rest, {a}, {b}; or.b64 %rest, %rest, 0x7FFFFFFFFFFFFFFF; and.b64 %most, %most, %rest; \
         setp.nan.f64 %nan, {a}, {b}; selp.b64 {result}, 0x7FF8000000000000, %most, %nan; }}", reg64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn min_and_max_propagate_nan_and_order_zeros() {
        assert!(minimum_f32(f32::NAN, 1.0).is_nan() && minimum_f32(1.0, f32::NAN).is_nan());
        assert!(maximum_f64(f64::NAN, 1.0).is_nan() && maximum_f64(1.0, f64::NAN).is_nan());
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(minimum_f64(a, b).is_sign_negative());
            assert!(maximum_f32(a as f32, b as f32).is_sign_positive());
        }
        assert_eq!((minimum_f32(1.0, 2.0), maximum_f32(1.0, 2.0)), (1.0, 2.0));
    }
}
