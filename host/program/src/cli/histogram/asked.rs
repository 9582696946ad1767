//! The bins that a call asks for.

use crate::cli::exit::Usage;
use crate::data::{self, Dtype};
use crate::number::Number;
use gridsync::parallel;
use gridsync::primitives::histogram::{Binned, Bins, Integer};
use std::fmt::Display;
use std::str::FromStr;

/// The integers of `--numbers`, the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: i128,
    pub(super) last: i128,
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let integer = |text: &str| text.trim().parse::<i128>().ok();
        let ends = text.split_once("..").map(|(first, last)| (integer(first), integer(last)));
        match ends {
            Some((Some(first), Some(last))) => Ok(Self { first, last }),
            _ => Err("integers are FIRST..LAST, both included, as in 0..255".into()),
        }
    }
}

/// The bins that a call asks for, whatever the type of the elements.
pub(super) enum Asked {
    /// A bin for each of these integers.
    Numbers(Span),
    /// Bins between these edges.
    Edges(Vec<f64>),
    /// As many bins of the same width, from the first to the second number.
    Even([f64; 2], usize),
}

/// The bins of `--numbers` for elements of `T`.
pub(super) type Numbered<T> = fn(Span) -> anyhow::Result<Bins<T>>;

/// The bins of `--numbers`, for integers.
pub(super) fn numbers<T>(span: Span) -> anyhow::Result<Bins<T>>
where
    T: Integer + TryFrom<i128> + Display + data::Scalar,
{
    let Span { first, last } = span;
    let (Ok(from), Ok(to)) = (T::try_from(first), T::try_from(last)) else {
        return Err(Usage(format!(
            "--numbers {first}..{last}: {} elements are from {} to {}",
            T::DTYPE,
            T::LEAST,
            T::GREATEST
        ))
        .into());
    };
    Ok(Bins::numbers(from..=to).map_err(|error| Usage(format!("--numbers: {error}")))?)
}

/// Refuses `--numbers`, for floats.
pub(super) fn without_numbers<T: data::Scalar>(_span: Span) -> anyhow::Result<Bins<T>> {
    let dtype = T::DTYPE;
    Err(Usage(format!("--numbers needs integers, got {dtype}: use --range or --edges")).into())
}

/// The least and the greatest of `elements`, NaN if one is, or `None` if there are none.
pub(super) fn extent_of<T: Binned>(elements: &[T]) -> Option<[f64; 2]> {
    let extents = parallel::map_chunks(elements.len(), parallel::CHUNK, &|chunk| {
        elements[chunk].iter().map(|element| [element.to_f64(); 2]).reduce(joined)
    });
    extents.into_iter().flatten().reduce(joined)
}

/// The range of bins if the call does not give one: from the least to the greatest element. As in
/// NumPy, it has a width of 1 if all are equal, and is 0 to 1 if there are none.
pub(super) fn range_of(extent: Option<[f64; 2]>) -> Result<[f64; 2], Usage> {
    let [low, high] = extent.unwrap_or([0.0, 1.0]);
    if !(low.is_finite() && high.is_finite()) {
        return Err(Usage(format!(
            "the range of the elements, from {low} to {high}, is not finite: use --range LOW HIGH"
        )));
    }
    Ok(if low < high { [low, high] } else { [low - 0.5, high + 0.5] })
}

/// The least and the greatest number of two such pairs; NaN if one is NaN.
pub(super) fn joined(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let low = if b[0] < a[0] || b[0].is_nan() { b[0] } else { a[0] };
    let high = if b[1] > a[1] || b[1].is_nan() { b[1] } else { a[1] };
    [low, high]
}

impl Asked {
    /// The bins for elements of `T`.
    pub(super) fn bins<T: Binned>(&self, numbered: Numbered<T>) -> anyhow::Result<Bins<T>> {
        match self {
            Self::Numbers(span) => numbered(*span),
            Self::Edges(edges) => {
                Ok(Bins::edges(edges).map_err(|error| Usage(format!("--edges: {error}")))?)
            }
            Self::Even([low, high], bins) => {
                Ok(Bins::even(*low, *high, *bins).map_err(|error| Usage(error.to_string()))?)
            }
        }
    }

    /// The first and the last edge, or the first and the last integer.
    pub(super) fn ends(&self, dtype: Dtype) -> [Number; 2] {
        match self {
            Self::Numbers(span) => [span.first, span.last].map(integer),
            Self::Edges(edges) => [edges[0], edges[edges.len() - 1]].map(Number::Float),
            Self::Even(range, _) => range.map(|edge| self.edge(dtype, edge)),
        }
    }

    /// The text of each bin, all of the same length.
    pub(super) fn labels<T: Binned>(&self, dtype: Dtype, bins: &Bins<T>) -> Vec<String> {
        if let Self::Numbers(Span { first, last }) = self {
            return aligned((*first..=*last).map(|number| number.to_string()).collect());
        }
        let edges = bins.edge_list();
        let texts = |edges: &[f64]| {
            aligned(edges.iter().map(|&edge| self.edge(dtype, edge).text()).collect())
        };
        let lows = texts(&edges[..edges.len() - 1]).into_iter();
        lows.zip(texts(&edges[1..])).map(|(low, high)| format!("{low} .. {high}")).collect()
    }

    /// An edge between elements of this type.
    pub(super) fn edge(&self, dtype: Dtype, edge: f64) -> Number {
        // Edges of bins of the same width are rounded to f32 for such elements.
        let is_single = matches!(self, Self::Even(..)) && dtype.is_float() && dtype.size() <= 4;
        if is_single { Number::Single(edge as f32) } else { Number::Float(edge) }
    }
}

/// An integer of up to 64 bits.
fn integer(number: i128) -> Number {
    i64::try_from(number).map_or(Number::Unsigned(number as u64), Number::Signed)
}

/// The texts with blanks before them, so that they have the same length.
fn aligned(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_two_integers() {
        let parse = |text: &str| text.parse::<Span>();
        assert_eq!(parse("0..255"), Ok(Span { first: 0, last: 255 }));
        assert_eq!(parse("-3 .. -1"), Ok(Span { first: -3, last: -1 }));
        for wrong in ["", "5", "..", "1..", "..1", "0..=5", "0.5..1", "a..b"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_range_is_that_of_the_elements() {
        let range = |elements: &[f32]| range_of(extent_of(elements)).map_err(|error| error.0);
        assert_eq!(range(&[2.0, -1.0, 0.5]), Ok([-1.0, 2.0]));
        assert_eq!(range(&[3.0, 3.0]), Ok([2.5, 3.5]));
        assert_eq!(range(&[]), Ok([0.0, 1.0]));
        let mut many = vec![1.0; 3 * parallel::CHUNK];
        many[parallel::CHUNK] = f32::NAN;
        for infinite in [&many[..], &[f32::NAN, 1.0], &[1.0, f32::INFINITY]] {
            assert!(range(infinite).is_err_and(|error| error.contains("is not finite")));
        }
    }
}
