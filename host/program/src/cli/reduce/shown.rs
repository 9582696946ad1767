//! Results of reductions that can be printed.

use crate::cli::number::Number;
use crate::data::Dtype;
use gridsync_kernels::op::Indexed;

/// A result that can be printed.
pub(super) trait Shown: Copy {
    /// The result as a number, where the elements are of this type.
    fn number(self, dtype: Dtype) -> Number;

    /// The sum that it is, if it wraps around in the 64 bits of this type.
    fn wrapped(self, dtype: Dtype) -> Option<i128> {
        let _ = dtype;
        None
    }

    /// The element that it is the index of, if it is one.
    fn value(self) -> Option<Number> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Shown for $ty {
            fn number(self, _dtype: Dtype) -> Number {
                self.into()
            }
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64);

impl<A: Into<Number> + Copy> Shown for Option<Indexed<A>> {
    fn number(self, _dtype: Dtype) -> Number {
        let Some(found) = self else {
            unreachable!("an empty array is refused before");
        };
        found.index.into()
    }

    fn value(self) -> Option<Number> {
        self.map(|found| found.value.into())
    }
}

/// A sum in 128 bits. The lower 64 are shown.
impl Shown for i128 {
    fn number(self, dtype: Dtype) -> Number {
        match dtype {
            Dtype::U64 => (self as u64).into(),
            _ => (self as i64).into(),
        }
    }

    fn wrapped(self, dtype: Dtype) -> Option<i128> {
        let fits = match dtype {
            Dtype::U64 => u64::try_from(self).is_ok(),
            _ => i64::try_from(self).is_ok(),
        };
        (!fits).then_some(self)
    }
}

/// A mean.
impl Shown for Option<f64> {
    fn number(self, _dtype: Dtype) -> Number {
        let Some(mean) = self else {
            unreachable!("an empty array is refused before");
        };
        mean.into()
    }
}
