//! The suite `softmax`: the softmax of each row of a matrix, compared with PyTorch's.

use super::throughput::{Bench, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use gridsync::device::{Buffer, DeviceError};
use gridsync::primitives::softmax::{RowSoftmax, softmax_rows_on_cpu};

/// Softmax of rows of so many f32.
macro_rules! rows_of {
    ($($columns:literal),*) => {
        &[$(Case::new::<f32>("rows", concat!("softmax-", $columns), &[], measure::<$columns>)),*]
    };
}

/// The suite: rows for each of the library's kernels.
///
/// The bytes are those of reading and writing each element once. Rows of more than 128 KiB are
/// read twice. Sizes are those of the whole matrix; elements that are left over are in no row. The
/// program in CUDA C++ only measures the ceiling.
pub const SOFTMAX: Throughput = Throughput {
    name: "softmax",
    cases: rows_of![16, 128, 1024, 4096, 32_768, 1_048_576],
    sizes: &[1 << 24, 1 << 28],
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "a copy",
        source: include_str!("../../peers/ceiling.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// µs of one softmax of all rows of `COLUMNS` elements in device memory to another matrix. `None` if
/// the matrix has less than a whole row.
fn measure<const COLUMNS: usize>(
    bench: &mut Bench<'_>,
    load: &Load,
) -> Result<Option<Measurement>, MeasureError> {
    let Load { n, plan } = *load;
    let rows = n / COLUMNS;
    if rows == 0 {
        return Ok(None);
    }
    let len = rows * COLUMNS;
    let inputs = bench.stock.inputs::<f32>(bench.device, len, plan.calls)?;
    let outputs = (0..plan.calls).map(|_| bench.device.alloc(len));
    let mut outputs: Vec<Buffer<f32>> = outputs.collect::<Result<_, DeviceError>>()?;
    let mut softmax = RowSoftmax::new(bench.device, rows, COLUMNS)?;
    let call = |i: usize| softmax.launch(&inputs[i], &mut outputs[i]);
    // SAFETY: a softmax only reads its input, writes its output and leaves its working memory ready
    // for the next one. All of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, call) }?;
    if load.is_checked() {
        let right = softmax_rows_on_cpu(&inputs[0].download()?, COLUMNS);
        check(&outputs[0].download()?, &right, COLUMNS)?;
    }
    Ok(Some(measured))
}

/// Compares every bit.
fn check(found: &[f32], right: &[f32], columns: usize) -> Result<(), MeasureError> {
    let differ = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
    match found.iter().zip(right).position(differ) {
        None => Ok(()),
        Some(at) => Err(MeasureError::Wrong(format!(
            "the softmax of rows of {columns} is {} in row {}, column {}, not {}",
            found[at],
            at / columns,
            at % columns,
            right[at]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_measured_and_right() {
        for (n, measured) in [(5000, 4), (40_000, 5)] {
            let is_measured = |case: &Case| case.alone_in_emulator(n).is_some();
            let found: Vec<_> = SOFTMAX.cases.iter().map(is_measured).collect();
            let right: Vec<_> = (0..SOFTMAX.cases.len()).map(|case| case < measured).collect();
            assert_eq!(found, right, "rows that are longer than {n} are left out");
        }
    }

    #[test]
    fn a_softmax_reads_and_writes_each_element() {
        let records = SOFTMAX.in_emulator(&SOFTMAX.cases[..1], 160);
        let bytes: Vec<_> = records.iter().map(|record| record.bytes).collect();
        assert_eq!(bytes, [Some(2 * 4 * 160); 2], "in a row and alone");
    }

    #[test]
    fn a_wrong_result_is_found() {
        assert_eq!(check(&[0.5; 4], &[0.5; 4], 2), Ok(()));
        let wrong = check(&[0.5, 0.5, 0.5, 0.25], &[0.5; 4], 2).expect_err("the last is wrong");
        let said = "the softmax of rows of 2 is 0.25 in row 1, column 1, not 0.5";
        assert_eq!(wrong.to_string(), said);
    }
}
