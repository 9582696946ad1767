//! Results of reductions that can be printed.

use crate::cli::number::Number;
use gridsync_kernels::op::Indexed;

/// A result that can be printed.
pub(super) trait Shown: Copy {
    /// The result as a number.
    fn number(self) -> Number;

    /// The element that it is the index of, if it is one.
    fn value(self) -> Option<Number> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Shown for $ty {
            fn number(self) -> Number {
                self.into()
            }
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64);

impl<A: Into<Number> + Copy> Shown for Option<Indexed<A>> {
    fn number(self) -> Number {
        let Some(found) = self else {
            unreachable!("an empty array is refused before");
        };
        found.index.into()
    }

    fn value(self) -> Option<Number> {
        self.map(|found| found.value.into())
    }
}
