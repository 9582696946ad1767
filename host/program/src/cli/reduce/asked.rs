//! Operations with the parameters of the flags.

use super::{Reduce, Usage};
use cuda_std::memory::Scalar;
use gridsync_kernels::op::{
    ArgMax, ArgMin, Count, Distance, Finish, Float, Integer, Number, Operation, PeakToPeak,
    ProductModulo, Real, SkipNan, Sum, SumOfSquares, Then, Variance, Widen,
};

/// An operation that can be constructed from the flags.
pub(super) trait Asked: Operation {
    /// The operation with the parameters of the flags.
    fn asked(flags: &Reduce) -> anyhow::Result<Self>;
}

impl<T: Integer> Asked for ProductModulo<T> {
    fn asked(flags: &Reduce) -> anyhow::Result<Self> {
        let missing = || Usage("--op prod-mod needs --modulus M, from 1 to 4294967296".into());
        let modulus = flags.modulus.ok_or_else(missing)?;
        Ok(Self::new(modulus).map_err(|error| Usage(format!("--modulus: {error}")))?)
    }
}

impl<T: Real> Asked for Variance<T> {
    fn asked(flags: &Reduce) -> anyhow::Result<Self> {
        Ok(Self::with_ddof(flags.ddof.unwrap_or(0)))
    }
}

impl<O: Asked, F: Finish<O>> Asked for Then<O, F> {
    fn asked(flags: &Reduce) -> anyhow::Result<Self> {
        Ok(Self::of(O::asked(flags)?))
    }
}

impl<O: Asked<Element: Float>> Asked for SkipNan<O> {
    fn asked(flags: &Reduce) -> anyhow::Result<Self> {
        Ok(Self::of(O::asked(flags)?))
    }
}

/// Operations without a parameter.
macro_rules! asked {
    ($($op:ty, [$($generic:tt)*];)*) => {$(
        impl<$($generic)*> Asked for $op {
            fn asked(_flags: &Reduce) -> anyhow::Result<Self> {
                Ok(Self::new())
            }
        }
    )*};
}
asked! {
    SumOfSquares<T>, [T: Real];
    Count<T>, [T: Scalar + PartialEq];
    Sum<T, A>, [T: Widen<A>, A: Number];
    PeakToPeak<T, A>, [T: Widen<A>, A: Distance];
    ArgMin<T, A>, [T: Widen<A>, A: Number];
    ArgMax<T, A>, [T: Widen<A>, A: Number];
}

/// Calls `$add! { OP TYPE, … }` with the operations of `--skip-nan` that use the kernels of another
/// one.
macro_rules! derived_of_numbers {
    ($add:ident) => {
        derived_of_numbers! { @ $add f16 as f32, bf16 as f32, f32 as f32, f64 as f64 }
        $add! {
            "mean" gridsync_kernels::op::MeanOfNumbers<f32>,
            "mean" gridsync_kernels::op::MeanOfNumbers<f64>,
            "std" Then<SkipNan<Variance<f32>>, gridsync_kernels::op::Root>,
            "std" Then<SkipNan<Variance<f64>>, gridsync_kernels::op::Root>
        }
    };
    (@ $add:ident $($ty:ty as $wide:ty),*) => {
        $add! {
            $("min" gridsync_kernels::op::MinOfNumbers<$ty, $wide>,
              "max" gridsync_kernels::op::MaxOfNumbers<$ty, $wide>),*
        }
    };
}
pub(super) use derived_of_numbers;
