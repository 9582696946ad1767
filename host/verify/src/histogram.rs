//! Cases of histograms.

use super::inputs::random;
use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, same_bits, sample};
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::histogram::{Binned, Bins, BinsError, Count, Histogram, Integer};
use gridsync::reference;
use std::any::type_name;
use std::marker::PhantomData;

/// The histograms of arrays of `T`.
struct Histograms<T>(PhantomData<T>);

/// The cases of an integer type, which also has a bin for each number.
struct OfIntegers<T>(Histograms<T>);

impl<T: Binned + Sample> Histograms<T> {
    /// Counts in bins of the same width, and between edges that are closer to each other the lower
    /// they are.
    fn run(device: &Device, len: usize, bins: usize, seed: u64) -> Result<(), CaseError> {
        let mut input = sample::<T>(Input::Values, len, seed);
        // Half of the elements are equal, so that one counter gets large.
        if seed % 2 == 1 {
            let first = input.first().copied().unwrap_or_default();
            input.iter_mut().step_by(2).for_each(|element| *element = first);
        }
        let case = format!("{len} {} in {bins} bins, seed {seed}", type_name::<T>());
        let numbers: Vec<f64> = input.iter().map(|element| element.to_f64()).collect();
        let (low, high) = range(&numbers);
        // A short type has not so many edges.
        for bins in [bins, 10] {
            if let Ok(even) = Bins::<T>::even(low, high, bins) {
                let counts = reference::histogram(&even.edge_list(), &numbers);
                check(device, &case, even, &input, &counts)?;
                break;
            }
        }
        let edge = |k: usize| low + (high - low) * (k as f64 / bins as f64).powi(2);
        let edges: Vec<f64> = (0..=bins).map(edge).collect();
        if let Ok(by_edges) = Bins::<T>::edges(&edges) {
            let counts = reference::histogram(&edges, &numbers);
            check(device, &case, by_edges, &input, &counts)?;
        }
        Ok(())
    }
}

impl<T: Binned + Sample> Cases for Histograms<T> {
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Bins(len, bins) = size else { return Err(size.mismatch()) };
        Self::run(device, len, bins, seed)
    }
}

impl<T: Integer + Sample + TryFrom<i64> + Into<i128>> Cases for OfIntegers<T> {
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Bins(len, bins) = size else { return Err(size.mismatch()) };
        self.0.run(device, size, seed)?;
        let number = |number: i64| T::try_from(number).ok();
        // As many as there are bins or numbers, from −1 if the type has that.
        let (first, start) = number(-1).map_or((T::ZERO, 0), |first| (first, -1));
        let last = number(start + bins as i64 - 1).unwrap_or(T::GREATEST);
        // As many numbers outside as in.
        let element = |i| number((random(seed, i) % (2 * bins as u64)) as i64).unwrap_or(last);
        let input: Vec<T> = (0..len as u64).map(element).collect();
        let mut counts = vec![0; (last.into() - first.into()) as usize + 1];
        for element in &input {
            let bin = (*element).into() - first.into();
            if let Some(count) = usize::try_from(bin).ok().and_then(|bin| counts.get_mut(bin)) {
                *count += 1;
            }
        }
        let bins = Bins::numbers(first..=last).map_err(refused)?;
        let case = format!("{size} of {}, numbers, seed {seed}", type_name::<T>());
        check(device, &case, bins, &input, &counts)
    }
}

/// A range that about three of four finite numbers are in.
fn range(numbers: &[f64]) -> (f64, f64) {
    let mut finite: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let at = |eighths: usize| finite.get(finite.len() * eighths / 8).copied();
    match (at(1), at(7)) {
        (Some(low), Some(high)) if low < high => (low, high),
        (Some(low), _) => (low - 0.5, low + 0.5),
        _ => (0.0, 1.0),
    }
}

/// Counts of both widths, of all elements twice and of a part, have to be right, and so have the
/// CPU's.
fn check<T: Binned>(
    device: &Device,
    case: &str,
    bins: Bins<T>,
    input: &[T],
    right: &[u64],
) -> Result<(), CaseError> {
    same_bits(case, "the CPU counts", &bins.count_on_cpu(input), right)?;
    let on_device = device.upload(input)?;
    let mut histogram = Histogram::new(device, bins)?;
    let wide = counts::<T, u64>(&mut histogram, &on_device, 0)?;
    same_bits(case, "the histogram counts", &wide, right)?;
    let narrow = counts::<T, u32>(&mut histogram, &on_device, 0)?;
    same_bits(case, "the histogram in u32 counts", &narrow, right)?;
    let from = input.len().min(3);
    let of_part = counts::<T, u64>(&mut histogram, &on_device, from)?;
    let right = histogram.bins().count_on_cpu(&input[from..]);
    same_bits(case, "the histogram of a part counts", &of_part, &right)
}

/// The counts of the elements of `input` after the first `from`.
fn counts<T: Binned, C: Count>(
    histogram: &mut Histogram<T>,
    input: &Buffer<T>,
    from: usize,
) -> Result<Vec<u64>, DeviceError> {
    let old: C = bytemuck::pod_read_unaligned(&[0xa5; 8][..size_of::<C>()]);
    let mut counts = input.device().upload(&vec![old; histogram.bins().len()])?;
    histogram.launch_part(input, from..input.len(), &mut counts)?;
    Ok(counts.download()?.into_iter().map(Into::into).collect())
}

fn refused(error: BinsError) -> CaseError {
    CaseError::Wrong(error.to_string())
}

/// The kind of the histograms of `T`, by these kernels.
fn kind<T: Binned>(
    name: &'static str,
    kernels: &[&'static str],
    cases: impl Cases + 'static,
) -> Kind {
    Kind::of::<T, T>(Primitive::Histogram, (name, "histogram"), kernels, 8192, cases)
}

/// The kinds of all element types.
pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    macro_rules! floats {
        ($($ty:ident: $($kernel:literal)+;)*) => {$(
            let cases = Histograms::<$ty>(PhantomData);
            kinds.push(kind::<$ty>(stringify!($ty), &[$($kernel),+], cases));
        )*};
    }
    macro_rules! integers {
        ($($ty:ident: $($kernel:literal)+;)*) => {$(
            let cases = OfIntegers(Histograms::<$ty>(PhantomData));
            kinds.push(kind::<$ty>(stringify!($ty), &[$($kernel),+], cases));
        )*};
    }
    floats! {
        f16: "histogram_even_f16" "histogram_edges_f16";
        bf16: "histogram_even_bf16" "histogram_edges_bf16";
        f32: "histogram_even_f32" "histogram_narrow_f32" "histogram_edges_f32";
        f64: "histogram_even_f64" "histogram_edges_f64";
    }
    integers! {
        i8: "histogram_numbers_8" "histogram_edges_i8";
        u8: "histogram_numbers_8" "histogram_edges_u8";
        i16: "histogram_numbers_16" "histogram_edges_i16";
        u16: "histogram_numbers_16" "histogram_edges_u16";
        i32: "histogram_numbers_32" "histogram_even_i32" "histogram_edges_i32";
        u32: "histogram_numbers_32" "histogram_even_u32" "histogram_edges_u32";
        i64: "histogram_numbers_64" "histogram_even_i64" "histogram_edges_i64";
        u64: "histogram_numbers_64" "histogram_even_u64" "histogram_edges_u64";
    }
    kinds
}
