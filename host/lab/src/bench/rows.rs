//! Work that makes a matrix of another one, row by row: its time, and whether the bits are right.

use super::throughput::{Bench, Load, time_cold};
use super::{MeasureError, Measurement};
use gridsync::device::{Buffer, Device, DeviceError};

/// A plan for matrices of one size of f32.
///
/// # Safety
/// The launched work only reads its input, writes its output, and leaves its working memory ready for
/// the next call.
pub(super) unsafe trait RowWork: Sized {
    /// The name of a result in an error.
    const RESULT: &'static str;

    /// Plans the work on `rows` rows of `columns` elements.
    fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError>;

    /// Submits the work.
    fn launch(&mut self, input: &Buffer<f32>, output: &mut Buffer<f32>) -> Result<(), DeviceError>;

    /// The same bits from the CPU.
    fn on_cpu(input: &[f32], columns: usize) -> Vec<f32>;
}

/// µs of one call on all rows of `COLUMNS` elements in device memory. `None` if the matrix has less
/// than a whole row.
pub(super) fn measure<W: RowWork, const COLUMNS: usize>(
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
    let mut work = W::new(bench.device, rows, COLUMNS)?;
    let call = |i: usize| work.launch(&inputs[i], &mut outputs[i]);
    // SAFETY: `RowWork` promises what calls may do. All memory outlives the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, call) }?;
    if load.is_checked() {
        let right = W::on_cpu(&inputs[0].download()?, COLUMNS);
        check(W::RESULT, &outputs[0].download()?, &right, COLUMNS)?;
    }
    Ok(Some(measured))
}

/// Compares every bit.
fn check(what: &str, found: &[f32], right: &[f32], columns: usize) -> Result<(), MeasureError> {
    let differ = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
    match found.iter().zip(right).position(differ) {
        None => Ok(()),
        Some(at) => Err(MeasureError::Wrong(format!(
            "the {what} of rows of {columns} is {} in row {}, column {}, not {}",
            found[at],
            at / columns,
            at % columns,
            right[at]
        ))),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bench::{Case, Throughput};

    /// Measures the cases of a suite with `n` elements. The first `measured` have rows that fit.
    pub(in crate::bench) fn expect_measured(suite: &Throughput, n: usize, measured: usize) {
        let is_measured = |case: &Case| case.alone_in_emulator(n).is_some();
        let found: Vec<_> = suite.cases.iter().map(is_measured).collect();
        let right: Vec<_> = (0..suite.cases.len()).map(|case| case < measured).collect();
        assert_eq!(found, right, "rows that are longer than {n} are left out");
    }

    #[test]
    fn a_wrong_result_is_found() {
        assert_eq!(check("softmax", &[0.5; 4], &[0.5; 4], 2), Ok(()));
        let wrong =
            check("softmax", &[0.5, 0.5, 0.5, 0.25], &[0.5; 4], 2).expect_err("one is wrong");
        let said = "the softmax of rows of 2 is 0.25 in row 1, column 1, not 0.5";
        assert_eq!(wrong.to_string(), said);
    }
}
