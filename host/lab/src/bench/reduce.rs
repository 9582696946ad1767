//! The suite `reduce`: one array to one value, compared with CUB's `DeviceReduce`.

use super::throughput::{Bench, Element, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, SIZES, Throughput};
use gridsync::device::DeviceError;
use gridsync::primitives::Reducer;
use gridsync::primitives::dot::DotProduct;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{
    ArgMin, CompensatedSum, Compose, Describe, LogSumExp, Max, Min, PeakToPeak, SkipNan, Sum,
    SumOfSquares, Variance, WideSum,
};

/// The suite.
///
/// We sum i32 in i64, so that a sum does not silently wrap around. CUB sums i32 in i32. `lse` is the
/// logarithm of the sum of exponentials, and `stats` is all that [`describe`] finds in one read. That
/// depends on the length, so a graph cannot record it, and one call is measured alone.
///
/// `dot` reads two arrays, so a call moves twice the bytes of the others, which is in its throughput.
/// Calls in a row are as many as those of the others.
///
/// [`describe`]: gridsync::primitives::describe()
pub const REDUCE: Throughput = Throughput {
    name: "reduce",
    cases: &[
        of::<Sum<f32>>("tiles", "sum", SUM),
        of::<Sum<f32, f64>>("f32 in f64", "sum", &["run_to_run_in_f64"]),
        of::<CompensatedSum<f32>>("compensated", "sum", SUM),
        of::<Min<f32>>("tiles", "min", DEFAULT),
        of::<Max<f32>>("tiles", "max", DEFAULT),
        of::<ArgMin<f32>>("tiles", "argmin", NONE),
        of::<Sum<f64>>("tiles", "sum", SUM),
        of::<Min<f64>>("tiles", "min", DEFAULT),
        of::<Max<f64>>("tiles", "max", DEFAULT),
        of::<Sum<i32, i64>>("tiles", "sum", DEFAULT),
        of::<Min<i32>>("tiles", "min", DEFAULT),
        of::<Max<i32>>("tiles", "max", DEFAULT),
        of::<Sum<u64>>("tiles", "sum", DEFAULT),
        of::<WideSum<u64>>("in 128 bits", "sum", NONE),
        of::<Min<u64>>("tiles", "min", DEFAULT),
        of::<Max<u64>>("tiles", "max", DEFAULT),
        of::<Compose>("in order", "compose", NONE),
        of::<Variance<f32>>("tiles", "var", NONE),
        of::<Variance<f64>>("tiles", "var", NONE),
        of::<SkipNan<Sum<f32>>>("skip NaN", "sum", NONE),
        of::<SkipNan<Variance<f32>>>("skip NaN", "var", NONE),
        of::<SumOfSquares<f32>>("tiles", "squares", NONE),
        of::<PeakToPeak<f32>>("tiles", "ptp", NONE),
        of::<LogSumExp<f32>>("tiles", "lse", NONE),
        of::<Describe<f32>>("tiles", "stats", NONE).alone(),
        // The second array is read, not written, but counts as much.
        Case::new::<f32>("tiles", "dot", NONE, dot).writing(100),
    ],
    sizes: &SIZES,
    ceiling: Ceiling::Read,
    peer: Some(PeerProgram {
        name: "cub::DeviceReduce",
        source: include_str!("../../peers/cub_reduce.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// CUB's default mode.
const DEFAULT: &[&str] = &["run_to_run"];

/// For floating-point sums, also CUB's mode that gives the same bits on every GPU.
const SUM: &[&str] = &["run_to_run", "gpu_to_gpu"];

/// For operations that CUB does not have, or that it does differently.
const NONE: &[&str] = &[];

/// The reduction by `O`, compared with these modes of the peer.
const fn of<O: Reducible + Default>(
    variant: &'static str,
    op: &'static str,
    peer_modes: &'static [&'static str],
) -> Case
where
    O::Element: Element,
{
    Case::new::<O::Element>(variant, op, peer_modes, measure::<O>)
}

/// µs of one reduction of `n` elements in device memory to one result there.
fn measure<O: Reducible + Default>(
    bench: &mut Bench<'_>,
    load: &Load,
) -> Result<Option<Measurement>, MeasureError>
where
    O::Element: Element,
{
    let Load { n, plan } = load;
    let inputs = bench.stock.inputs::<O::Element>(bench.device, *n, plan.calls)?;
    let mut reducer = Reducer::new(O::default(), bench.device)?;
    let reduce = |i: usize| reducer.launch(&inputs[i]);
    // SAFETY: a reduction only reads its input and leaves its workspace ready for the next one.
    // Inputs and reducer outlive the measurement.
    let measured = unsafe { time_cold(bench.device, plan, bench.sampling, reduce) }?;
    Ok(Some(measured))
}

/// µs of one dot product of two arrays of `n` elements each. No two calls share an array. `None` if
/// memory has room for one array only, where the other cases can be measured.
fn dot(bench: &mut Bench<'_>, load: &Load) -> Result<Option<Measurement>, MeasureError> {
    let Load { n, plan } = *load;
    let inputs = match bench.stock.inputs::<f32>(bench.device, n, 2 * plan.calls) {
        Err(DeviceError::OutOfMemory { .. }) => return Ok(None),
        inputs => inputs?,
    };
    let mut product = DotProduct::new(bench.device)?;
    let multiply = |i: usize| product.launch(&inputs[2 * i], &inputs[2 * i + 1]);
    // SAFETY: as for a reduction of one array.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, multiply) }?;
    Ok(Some(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured() {
        for case in REDUCE.cases {
            let what = format!("{} {} {}", case.variant, case.op, case.dtype);
            assert!(case.alone_in_emulator(3000).is_some(), "{what}");
        }
    }

    #[test]
    fn a_dot_product_reads_two_arrays() {
        let of_op = |op| REDUCE.cases.iter().filter(move |case| case.op == op);
        let moved = |op| of_op(op).map(|case| case.moved(100, REDUCE.ceiling)).collect::<Vec<_>>();
        assert_eq!((moved("dot"), moved("lse")), (vec![200], vec![100]));
    }
}
