//! Counts as a chart.

use super::asked::{Asked, Span};
use super::outside;
use crate::cli::job::About;
use crate::data::Dtype;
use gridsync_lab::display::svg::{Columns, Labels};

/// The most bars of a chart. More bins are merged.
pub(super) const MOST_BARS: usize = 256;

/// The chart of `counts`, with a bar for each bin, or for several neighbouring ones.
pub(super) fn chart(asked: &Asked, about: About, counts: &[u64]) -> Columns {
    let bins = counts.len();
    let of_bar = bins.div_ceil(MOST_BARS);
    let values: Vec<f64> =
        counts.chunks(of_bar).map(|bins| bins.iter().sum::<u64>() as f64).collect();
    let mut notes = Vec::new();
    if of_bar > 1 {
        let last = bins - (values.len() - 1) * of_bar;
        let except = if last == of_bar { String::new() } else { format!(", the last {last}") };
        notes.push(format!("each bar has {of_bar} bins{except}"));
    }
    if matches!(asked, Asked::Edges(_)) {
        notes.push("all bars are drawn equally wide".into());
    }
    let outside = outside(about, counts);
    if outside > 0 {
        notes.push(format!("elements in no bin: {outside}"));
    }
    Columns {
        title: format!("Histogram of {} in {bins} bins", about.text("elements")),
        x_label: match asked {
            Asked::Numbers(_) => "number".into(),
            _ => "edges of the bins".into(),
        },
        y_label: "elements".into(),
        note: notes.join("; "),
        values,
        labels: match asked {
            Asked::Numbers(span) => Labels::Columns(runs(*span, of_bar)),
            _ => Labels::Edges(edges(asked, about.dtype(), bins, of_bar)),
        },
    }
}

/// The integers of each bar: one, or the first and the last.
fn runs(Span { first, last }: Span, of_bar: usize) -> Vec<String> {
    let starts = (first..=last).step_by(of_bar);
    let run = |start: i128| match (start + of_bar as i128 - 1).min(last) {
        end if end == start => start.to_string(),
        end => format!("{start}..{end}"),
    };
    starts.map(run).collect()
}

/// The edges of the bars.
fn edges(asked: &Asked, dtype: Dtype, bins: usize, of_bar: usize) -> Vec<String> {
    let edge = |index: usize| match asked {
        Asked::Edges(edges) => edges[index],
        Asked::Even([_, high], _) if index == bins => *high,
        Asked::Even([low, high], _) => low + (high - low) / bins as f64 * index as f64,
        Asked::Numbers(span) => span.first as f64 + index as f64,
    };
    let edges: Vec<f64> = (0..bins).step_by(of_bar).chain([bins]).map(edge).collect();
    let widths = edges.windows(2).map(|two| two[1] - two[0]);
    let narrowest = widths.fold(f64::INFINITY, f64::min);
    // Three digits of the width of a bar are enough to distinguish its edges.
    let decimals = (2.0 - narrowest.log10().floor()).clamp(0.0, 17.0) as usize;
    let text = |&edge: &f64| {
        let exact = asked.edge(dtype, edge).text();
        let exact = exact.strip_suffix(".0").unwrap_or(&exact);
        let rounded = format!("{edge:.decimals$}");
        if edge.is_finite() && rounded.len() < exact.len() { rounded } else { exact.to_owned() }
    };
    edges.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chart of as many elements, all of them in bins.
    fn of(asked: &Asked, counts: &[u64]) -> Columns {
        chart(asked, about("f32", counts.iter().sum()), counts)
    }

    fn about(stored: &str, len: u64) -> About {
        About { stored: stored.parse().expect("a type"), len: len as usize }
    }

    #[test]
    fn each_bin_has_a_bar_between_its_edges() {
        let chart = of(&Asked::Even([-0.1, 0.5], 3), &[5, 0, 7]);
        assert_eq!(chart.values, [5.0, 0.0, 7.0]);
        assert_eq!(
            chart.labels,
            Labels::Edges(["-0.1", "0.1", "0.3", "0.5"].map(Into::into).into())
        );
        assert_eq!((&*chart.title, &*chart.note), ("Histogram of 12 f32 elements in 3 bins", ""));
        let third = of(&Asked::Even([0.0, 1.0], 3), &[1, 2, 3]);
        assert_eq!(
            third.labels,
            Labels::Edges(["0", "0.333", "0.667", "1"].map(Into::into).into())
        );
        let infinite = Asked::Edges(vec![f64::NEG_INFINITY, 0.0, 1e30]);
        let infinite = of(&infinite, &[1, 2]);
        assert_eq!(infinite.labels, Labels::Edges(["-inf", "0", "1e30"].map(Into::into).into()));
        assert_eq!(infinite.note, "all bars are drawn equally wide");
        assert!(infinite.svg().is_ok());
    }

    #[test]
    fn each_integer_has_a_bar() {
        let chart = of(&Asked::Numbers(Span { first: -1, last: 254 }), &[1; 256]);
        let Labels::Columns(labels) = &chart.labels else { panic!("{:?}", chart.labels) };
        assert_eq!((labels.len(), &*labels[0], &*labels[255]), (256, "-1", "254"));
        assert_eq!(chart.note, "");
    }

    #[test]
    fn bins_that_do_not_fit_are_merged_and_their_counts_added() {
        let even = of(&Asked::Even([0.0, 512.0], 512), &[1; 512]);
        assert_eq!((even.values.len(), even.values[255]), (256, 2.0));
        assert_eq!(even.note, "each bar has 2 bins");
        let Labels::Edges(edges) = &even.labels else { panic!("{:?}", even.labels) };
        assert_eq!((edges.len(), &*edges[1], &*edges[256]), (257, "2", "512"));

        let span = Span { first: 0, last: 1000 };
        let chart = chart(&Asked::Numbers(span), about("u32", 3012), &[3; 1001]);
        assert_eq!((chart.values.len(), chart.values[250]), (251, 3.0));
        assert_eq!(chart.note, "each bar has 4 bins, the last 1; elements in no bin: 9");
        let Labels::Columns(labels) = &chart.labels else { panic!("{:?}", chart.labels) };
        assert_eq!((&*labels[0], &*labels[250]), ("0..3", "1000"));
        assert!(chart.svg().is_ok_and(|svg| svg.contains("each bar has 4 bins, the last 1")));
    }
}
