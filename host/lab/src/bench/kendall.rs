//! The suite `kendall`: the rank correlation of two arrays, compared with SciPy on the CPU.

use super::throughput::{Bench, Element, Load, Measure, OnCpu, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerScript, Throughput};
use gridsync::device::Buffer;
use gridsync::primitives::kendall::{
    Correlatable, Correlator, Kendall, KendallError, Method, kendall_on_cpu,
};
use gridsync_verify::Dtype;

/// Correlations of `$ty`: by the method that [`Correlator`] chooses for the length, and by each
/// method.
macro_rules! correlations_of {
    ($($ty:ty),*) => {
        &[$(
            of::<$ty>("auto", |bench, load| measure::<$ty>(bench, load, None)),
            of::<$ty>("pairs", |bench, load| measure::<$ty>(bench, load, Some(Method::Pairs))),
            of::<$ty>("sort", |bench, load| measure::<$ty>(bench, load, Some(Method::Sort))),
        )*]
    };
}

/// The suite: floating-point numbers with few ties, and integers with a thousand different values.
///
/// All counts are checked, to the last pair. We know of no peer on the GPU. The bytes include only
/// both inputs, a small part of the traffic of a sort.
pub const KENDALL: Throughput = Throughput {
    name: "kendall",
    cases: correlations_of![f32, i32, f64],
    sizes: &[1 << 10, 1 << 13, 1 << 14, 1 << 16, 1 << 20, 1 << 24],
    ceiling: Ceiling::ReadBoth,
    peer: None,
    on_cpu: Some(OnCpu {
        peer: PeerScript {
            name: "scipy.stats.kendalltau",
            source: include_str!("../../peers/scipy_kendall.py"),
        },
        op: "kendall",
        dtype: Dtype::F32,
        longest: 1 << 20,
    }),
};

/// The longest arrays whose pairs are all compared. Longer ones would be too slow.
const PAIRS_UP_TO: usize = 1 << 16;

const fn of<T: Element>(variant: &'static str, measure: Measure) -> Case {
    Case::new::<T>(variant, "kendall", &[], measure)
}

/// µs of one correlation of two arrays of `n` elements in device memory, with the counts stored
/// there. `None` if the arrays are too long for the method.
fn measure<T: Ranked>(
    bench: &mut Bench<'_>,
    load: &Load,
    method: Option<Method>,
) -> Result<Option<Measurement>, MeasureError> {
    let Load { n, plan } = *load;
    let longest = match method {
        Some(Method::Pairs) => PAIRS_UP_TO,
        _ => u32::MAX as usize,
    };
    if n > longest {
        return Ok(None);
    }
    let inputs = bench.stock.pairs(bench.device, n, plan.calls, T::of_hash)?;
    let mut correlator = Correlator::new(bench.device, n)?;
    if let Some(method) = method {
        correlator = correlator.with_method(method);
    }
    let correlate = |i: usize| {
        let [x, y] = &inputs[i];
        correlator.launch(x, y).map_err(|error| match error {
            KendallError::Device(error) => error,
            refused => unreachable!("both are of one length, and not too long: {refused}"),
        })
    };
    // SAFETY: a correlation only reads its inputs, and sets its counts to 0 first. Inputs and
    // correlator outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, correlate) }?;
    if load.is_checked() {
        check(correlator.result()?, &inputs[0])?;
    }
    Ok(Some(measured))
}

/// Compares the device's counts with the CPU's.
fn check<T: Ranked>(told: Kendall, [x, y]: &[Buffer<T>; 2]) -> Result<(), MeasureError> {
    let right = kendall_on_cpu(&x.download()?, &y.download()?)?;
    if told.same(&right) {
        Ok(())
    } else {
        Err(MeasureError::Wrong(format!(
            "a correlation of {} {} is wrong: {told:?}, not {right:?}",
            x.len(),
            T::DTYPE
        )))
    }
}

impl From<KendallError> for MeasureError {
    /// No measured input should be refused.
    fn from(error: KendallError) -> Self {
        match error {
            KendallError::Device(error) => Self::Device(error),
            refused => Self::Wrong(refused.to_string()),
        }
    }
}

/// An element computed from a hash. The peer computes the same floats.
trait Ranked: Element + Correlatable {
    fn of_hash(hash: u32) -> Self;
}

impl Ranked for f32 {
    /// The upper 24 bits, which an f32 holds exactly.
    fn of_hash(hash: u32) -> Self {
        (hash >> 8) as Self
    }
}

impl Ranked for f64 {
    /// The same as for f32.
    fn of_hash(hash: u32) -> Self {
        f32::of_hash(hash).into()
    }
}

impl Ranked for i32 {
    /// One of a thousand values.
    fn of_hash(hash: u32) -> Self {
        (hash % 1000) as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Device, Emulator, EmulatorConfig};

    #[test]
    fn each_method_is_measured_and_reads_both_inputs() {
        let records = KENDALL.in_emulator(&KENDALL.cases[..3], 10);
        let told = records.iter().map(|record| (record.variant.as_str(), record.bytes));
        let of = |variant| (variant, Some(2 * 4 * 10));
        let twice = ["auto", "pairs", "sort"].map(of).repeat(2);
        assert_eq!(told.collect::<Vec<_>>(), twice, "in a row and alone");
    }

    #[test]
    fn pairs_are_left_out_if_they_would_be_too_slow() {
        let pairs = &KENDALL.cases[1..2];
        assert_eq!(KENDALL.in_emulator(pairs, PAIRS_UP_TO + 1), []);
    }

    #[test]
    fn a_wrong_count_is_found() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let both = [[1, 2, 2, 4], [1, 3, 2, 3]].map(|values| device.upload(&values));
        let both = both.map(|array| array.expect("there is room"));
        // Four pairs: the numbers that are concordant, discordant, and tied in x, in y and in both.
        assert_eq!(check::<i32>(Kendall::of(4, 0, 1, 1, 0), &both), Ok(()));
        let wrong = check(Kendall::of(4, 1, 1, 1, 0), &both).expect_err("none is discordant");
        assert!(wrong.to_string().starts_with("a correlation of 4 i32 is wrong"), "{wrong}");
    }

    #[test]
    fn integers_have_many_ties_and_floats_few() {
        assert_eq!([0, 999, 1000].map(i32::of_hash), [0, 999, 0]);
        assert_eq!([0xff, 0x100, u32::MAX].map(f32::of_hash), [0.0, 1.0, 16_777_215.0]);
        assert_eq!(f64::of_hash(u32::MAX), 16_777_215.0);
    }
}
