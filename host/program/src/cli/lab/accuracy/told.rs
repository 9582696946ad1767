//! The page about the errors of sums.

use crate::cli::lab::Page;
use crate::cli::output::number;
use gridsync_lab::accuracy::{Mark, Summed, Sums, errors_chart};
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::display::{Table, rounded, table};
use serde_json::{Value, json};

/// The types, and the files of their charts.
const TYPES: [&str; 2] = ["f32", "f64"];
pub(super) const CHARTS: [&str; 2] = ["accuracy-f32.svg", "accuracy-f64.svg"];

/// The page about `all` sums on `device`.
pub(super) fn page(device: &str, all: &[Sums]) -> Result<Page, ChartError> {
    let compared = match device {
        "cpu" => "Sums on the CPU are compared".to_owned(),
        device => format!("Sums on {device} are compared with those on the CPU, and both"),
    };
    let mut page = Page::new(
        device,
        format!(
            "How far are sums of floating-point numbers from the true ones? {compared} with sums \
             that were taken without rounding. An error counts relative to the sum of the absolute \
             values."
        ),
    );
    for (dtype, chart) in TYPES.into_iter().zip(CHARTS) {
        let sums: Vec<&Sums> = all.iter().filter(|sums| sums.dtype == dtype).collect();
        page.table(
            &format!("Errors of sums of {dtype}, and the bound along the tree"),
            &errors(&sums),
        );
        let marks: Vec<Mark> = sums.iter().map(|sums| mark(sums)).collect();
        page.file(chart, errors_chart(dtype, &marks).svg())?;
    }
    meaning(&mut page, all);
    page.json("sums", all.iter().map(as_json).collect::<Value>());
    for sums in all {
        judge(&mut page, sums, "sum", &sums.tree);
        judge(&mut page, sums, "compensated sum", &sums.compensated);
    }
    Ok(page)
}

fn errors(sums: &[&Sums]) -> Table {
    let mut table = table();
    table.set_header(["n", "input", "condition", "one by one", "tree", "bound", "compensated"]);
    for sums in sums {
        let errors = [sums.one_by_one, sums.tree.error, sums.tree.bound, sums.compensated.error];
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
            "{} is off by {}, allowed are {}",
            of(),
            rounded(summed.error),
            rounded(summed.bound)
        ));
    }
}

fn mark(sums: &Sums) -> Mark {
    Mark {
        input: sums.input.name().to_owned(),
        n: sums.n as f64,
        error: sums.relative(sums.tree.error),
        bound: sums.relative(sums.tree.bound),
        one_by_one: sums.relative(sums.one_by_one),
    }
}

fn as_json(sums: &Sums) -> Value {
    let summed = |summed: &Summed| {
        json!({
            "error": number(summed.error),
            "cpu_error": number(summed.cpu_error),
            "bound": number(summed.bound),
            "same_bits": summed.same_bits,
        })
    };
    json!({
        "dtype": sums.dtype,
        "input": sums.input.name(),
        "n": sums.n,
        "exact": number(sums.exact),
        "magnitude": number(sums.magnitude),
        "depth": sums.depth,
        "tree": summed(&sums.tree),
        "compensated": summed(&sums.compensated),
        "one_by_one_error": number(sums.one_by_one),
    })
}

/// A number of elements, as a power of two if it is a large one.
fn length(n: usize) -> String {
    match n.is_power_of_two() && n >= 1024 {
        true => format!("2^{}", n.ilog2()),
        false => n.to_string(),
    }
}

/// A number with two digits.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::accuracy::Input;

    fn some() -> Sums {
        let summed = Summed { error: 1e-6, cpu_error: 1e-6, bound: 1e-5, same_bits: true };
        Sums {
            dtype: "f32",
            input: Input::Signed,
            n: 4096,
            exact: 1.0,
            magnitude: 100.0,
            depth: 25,
            tree: summed,
            compensated: Summed { error: 0.0, ..summed },
            one_by_one: 1e-4,
        }
    }

    fn wrong(change: fn(&mut Sums)) -> Option<String> {
        let (mut first, second) = (some(), Sums { dtype: "f64", ..some() });
        change(&mut first);
        page("a GPU", &[first, second]).expect("it can be drawn").without_flags().wrong
    }

    #[test]
    fn errors_are_relative_to_the_sum_of_absolute_values() {
        let sums = [some(), Sums { dtype: "f64", ..some() }];
        let found = page("a GPU", &sums).expect("it can be drawn").without_flags();
        let row = found.text.lines().find(|line| line.starts_with("2^12")).expect("a row");
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells, ["2^12", "signed", "1.0e2", "1.0e-6", "1.0e-8", "1.0e-7", "0"]);
        assert!(found.text.contains("10.0 % of its bound"), "{}", found.text);
        assert!(found.text.lines().all(|line| line.chars().count() <= 80), "{}", found.text);
        assert_eq!(found.json["sums"][1]["tree"]["error"], 1e-6);
        assert_eq!(found.wrong, None);
    }

    #[test]
    fn a_sum_above_its_bound_or_with_different_bits_fails() {
        let above = wrong(|sums| sums.tree.error = 2e-5).expect("it is wrong");
        assert!(above.contains("the sum of 4096 signed f32 is off by 2e-5"), "{above}");
        let other = wrong(|sums| sums.compensated.same_bits = false).expect("it is wrong");
        assert!(other.contains("compensated sum of 4096") && other.contains("bits"), "{other}");
    }
}
