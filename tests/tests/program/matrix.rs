//! A test for each operation and type, with one line per operation.

use gridsync_verify::{Input, Sample, sample};

/// Elements that suit an operation.
pub(crate) fn inputs<T: Sample>(op: &str, len: usize) -> Vec<T> {
    let kind = match op {
        "prod" | "prod-mod" => Input::Factors,
        "and" => Input::FewZeros,
        "or" => Input::FewOnes,
        _ => Input::Values,
    };
    sample(kind, len, 42)
}

/// For `MODULE "OP" [ARGS]: ELEMENT => ACCUMULATOR, …;` the tests `MODULE::ELEMENT`. Each calls
/// `everywhere::<ELEMENT, ACCUMULATOR>("OP", &[ARGS])` of the file that uses the macro.
macro_rules! matrix {
    ($($module:ident $op:literal $more:tt: $($element:ident => $accumulator:ident),*;)*) => {$(
        mod $module {
            use super::*;

            matrix! { @ $op $more $($element $accumulator)* }
        }
    )*};
    (@ $op:literal $more:tt $($element:ident $accumulator:ident)*) => {$(
        #[test]
        fn $element() {
            everywhere::<$element, $accumulator>($op, &$more);
        }
    )*};
}
pub(crate) use matrix;
