//! The result of `gridsync lab accuracy`.

use super::{Summed, Sums, chart};
use crate::display::svg::ChartError;
use crate::display::{Page, Table, rounded, table};
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};

/// The types of the elements, and the names of their charts.
const TYPES: [(&str, &str); 2] = [("f32", "accuracy-f32"), ("f64", "accuracy-f64")];

/// The result of `gridsync lab accuracy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Accuracy {
    /// The name of the device, or `cpu`.
    pub device: String,
    /// The sums of each array.
    pub sums: Vec<Sums>,
}

impl Report for Accuracy {
    fn page(&self) -> Page {
        let compared = match self.device.as_str() {
            "cpu" => "Sums on the CPU are compared".to_owned(),
            device => format!("Sums on {device} are compared with those on the CPU, and both"),
        };
        let mut page = Page::new(format!(
            "How far are sums of floating-point numbers from the true ones? {compared} with sums \
             that were taken without rounding. An error counts relative to the sum of the absolute \
             values."
        ));
        for (dtype, _) in TYPES {
            let title = format!("Errors of sums of {dtype}, and the bound along the tree");
            page.table(&title, &errors(&self.of_type(dtype)));
        }
        meaning(&mut page, &self.sums);
        for sums in &self.sums {
            judge(&mut page, sums, "sum", &sums.tree);
            judge(&mut page, sums, "compensated sum", &sums.compensated);
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let caption = "The bound is that of the tree of the library. The bound of a sum one by one \
                       grows with the number of elements. A sum that is exact has no point.";
        let charts = TYPES.into_iter().map(|(dtype, name)| (name, dtype, self.of_type(dtype)));
        charts
            .filter(|(_, _, sums)| !sums.is_empty())
            .map(|(name, dtype, sums)| Chart::lines(name, caption, &chart::errors(dtype, &sums)))
            .collect()
    }
}

impl Accuracy {
    fn of_type(&self, dtype: &str) -> Vec<&Sums> {
        self.sums.iter().filter(|sums| sums.dtype == dtype).collect()
    }
}

fn errors(sums: &[&Sums]) -> Table {
    let mut table = table();
    table.set_header(["n", "input", "condition", "one by one", "tree", "bound", "compensated"]);
    for sums in sums {
        let Sums { one_by_one_error, tree, compensated, .. } = sums;
        let errors = [*one_by_one_error, tree.error, tree.bound, compensated.error];
        let errors = errors.map(|error| short(sums.relative(error)));
        let cells = [length(sums.n), sums.input.name().to_owned(), short(sums.condition())];
        table.add_row(cells.into_iter().chain(errors));
    }
    table
}

fn meaning(page: &mut Page, all: &[Sums]) {
    let parts = all.iter().map(|sums| sums.tree.error / sums.tree.bound);
    let most = parts.filter(|part| part.is_finite()).fold(0.0, f64::max);
    page.means(format!(
        "Bound: if no element goes through more than k additions, a sum is off by at most \
         γ(k)·Σ|x|, with γ(k) = k·u / (1 − k·u) and u half the machine epsilon (Higham, Accuracy and \
         Stability of Numerical Algorithms, 4.2). The largest error of the tree here is {:.1} % of \
         its bound: roundings go up and down, and the bound is for all of them in one direction.",
        100.0 * most
    ));
    if let Some(Sums { dtype, n, depth, .. }) = all.iter().max_by_key(|sums| sums.n) {
        page.means(format!(
            "Tree: k is {depth} for {} {dtype}. Added one by one, the first element goes through {} \
             additions: the error grows with n, and that of the tree hardly does.",
            length(*n),
            n - 1
        ));
    }
    page.means(
        "Condition: Σ|x| / |Σx|. The error relative to the sum itself is so many times larger. Where \
         elements cancel, no order of additions helps: an error of 10^-8 and a condition of 10^8 \
         leave no digit.",
    );
    page.means(
        "Compensated: the error of each addition is kept and added at the end. The result is off by \
         about one rounding, and by γ² times the condition. A mean is its sum divided by n, so its \
         relative error is that of the sum, and one rounding more.",
    );
}

fn judge(page: &mut Page, sums: &Sums, what: &str, summed: &Summed) {
    let of = || format!("the {what} of {} {} {}", sums.n, sums.input.name(), sums.dtype);
    if !summed.same_bits {
        page.wrong(format!("{} has not the bits of the one on the CPU", of()));
    } else if !summed.is_right() {
        page.wrong(format!(
            "{} is off by {}, allowed {}",
            of(),
            rounded(summed.error),
            rounded(summed.bound)
        ));
    }
}

/// A number of elements, as a power of two if it is a large one.
fn length(n: usize) -> String {
    if n.is_power_of_two() && n >= 1024 { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// A number with two digits.
fn short(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::super::{Args, Input};
    use super::*;
    use crate::Experiment;

    fn some() -> Accuracy {
        let summed = Summed { error: 1e-6, cpu_error: 1e-6, bound: 1e-5, same_bits: true };
        let f32 = Sums {
            dtype: "f32".into(),
            input: Input::Signed,
            n: 4096,
            exact: 1.0,
            magnitude: 100.0,
            depth: 25,
            tree: summed,
            compensated: Summed { error: 0.0, ..summed },
            one_by_one_error: 1e-4,
        };
        let f64 = Sums { dtype: "f64".into(), ..f32.clone() };
        Accuracy { device: "a GPU".into(), sums: vec![f32, f64] }
    }

    fn wrong(change: fn(&mut Sums)) -> Option<String> {
        let mut report = some();
        change(&mut report.sums[0]);
        report.page().into_files_and_wrong().1
    }

    #[test]
    fn errors_are_relative_to_the_sum_of_absolute_values() {
        let page = some().page();
        let text = page.text(false);
        let row = text.lines().find(|line| line.starts_with("2^12")).expect("a row");
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells, ["2^12", "signed", "1.0e2", "1.0e-6", "1.0e-8", "1.0e-7", "0"]);
        assert!(text.contains("10.0 % of its bound"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(page.into_files_and_wrong().1, None);
        let charts = some().charts().expect("they can be drawn");
        assert_eq!(charts.iter().map(Chart::file).collect::<Vec<_>>(), Args::FILES);
    }

    #[test]
    fn a_sum_above_its_bound_or_with_different_bits_fails() {
        let above = wrong(|sums| sums.tree.error = 2e-5).expect("it is wrong");
        assert!(above.contains("the sum of 4096 signed f32 is off by 2e-5"), "{above}");
        let other = wrong(|sums| sums.compensated.same_bits = false).expect("it is wrong");
        assert!(other.contains("compensated sum of 4096") && other.contains("bits"), "{other}");
    }
}
