//! Chart of the errors.

use super::Input;
use crate::display::svg::{Bounded, Role, Series};

/// The errors of the sums of one array, each divided by Σ|x|.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Name of the input.
    pub input: String,
    /// Number of elements.
    pub n: f64,
    /// Error of the tree sum.
    pub error: f64,
    /// Bound on this error.
    pub bound: f64,
    /// Error of the sequential sum.
    pub one_by_one: f64,
}

/// The errors of sums of `dtype` by the number of elements, and the bound. An exact sum has no
/// point.
#[must_use]
pub fn errors_chart(dtype: &str, marks: &[Mark]) -> Bounded {
    let mut bound: Vec<(f64, f64)> = marks.iter().map(|mark| (mark.n, mark.bound)).collect();
    bound.sort_by(|a, b| a.0.total_cmp(&b.0));
    bound.dedup();
    let series = |name: String, points: Vec<(f64, f64)>| {
        Series::new(name, points.into_iter().filter(|&(_, error)| error > 0.0))
    };
    let of_input = |input: Input| {
        let marks = marks.iter().filter(|mark| mark.input == input.name());
        series(input.name().into(), marks.map(|mark| (mark.n, mark.error)).collect())
    };
    let uniform = marks.iter().filter(|mark| mark.input == Input::Uniform.name());
    let one_by_one = uniform.map(|mark| (mark.n, mark.one_by_one)).collect();
    let points = Input::ALL.map(of_input).into_iter();
    Bounded {
        title: format!("Error of sums of {dtype}, and its bound"),
        x_label: "elements".into(),
        y_label: "error, relative to the sum of |x|".into(),
        bound: Series::new(Role::Roof.named("bound"), bound),
        points: points.chain([series("uniform, one by one".into(), one_by_one)]).collect(),
    }
}
