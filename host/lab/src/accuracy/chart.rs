//! The charts of `gridsync lab accuracy`.

use super::{Input, Sums};
use crate::display::svg::{Lines, Role, Series};

/// The errors of `sums` of `dtype` by the number of elements, and the bound. An exact sum has no
/// point.
pub(super) fn errors(dtype: &str, sums: &[&Sums]) -> Lines {
    let n = |sums: &Sums| sums.n as f64;
    let mut bound: Vec<(f64, f64)> =
        sums.iter().map(|sums| (n(sums), sums.relative(sums.tree.bound))).collect();
    bound.sort_by(|a, b| a.0.total_cmp(&b.0));
    bound.dedup();
    let series = |input: Input, name: String, error: fn(&Sums) -> f64| {
        let of_input = sums.iter().filter(|sums| sums.input == input);
        let points = of_input.map(|sums| (n(sums), sums.relative(error(sums))));
        Series::new(name, points.filter(|&(_, error)| error > 0.0))
    };
    let trees = Input::ALL.map(|input| series(input, input.name().into(), |sums| sums.tree.error));
    let one_by_one =
        series(Input::Uniform, "uniform, one by one".into(), |sums| sums.one_by_one_error);
    let bound = Series::bound(Role::Roof.named("bound"), bound);
    Lines {
        title: format!("Error of sums of {dtype}, and its bound"),
        x_label: "elements".into(),
        y_label: "error, relative to the sum of |x|".into(),
        log2_x: true,
        series: [bound].into_iter().chain(trees).chain([one_by_one]).collect(),
    }
}
