//! The suite `scan-rows`: the sums up to each element of each row of a matrix, compared with PyTorch's.

use super::rows::{RowWork, measure};
use super::{Case, Ceiling, PeerProgram, Throughput};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::RowScanner;
use gridsync::primitives::scan::{Form, scan_rows_on_cpu};
use gridsync_kernels::op::Sum;

/// Sums of rows of so many f32.
macro_rules! rows_of {
    ($($columns:literal),*) => {
        &[$(Case::new::<f32>(
            "rows",
            concat!("rows-", $columns),
            &[],
            measure::<RowScanner<Sum<f32>>, $columns>,
        )),*]
    };
}

/// The suite: rows for each of the library's kernels, and some that begin at any element.
///
/// The bytes are those of reading and writing each element once. Sizes are those of the whole matrix;
/// elements that are left over are in no row. The program in CUDA C++ only measures the ceiling.
pub const SCAN_ROWS: Throughput = Throughput {
    name: "scan-rows",
    cases: rows_of![16, 17, 128, 1000, 1001, 1024, 4096, 65_536, 1_048_576],
    sizes: &[1 << 24, 1 << 28],
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "a copy",
        source: include_str!("../../peers/ceiling.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

// SAFETY: the kernels do only that, on the memory of the plan and of the two buffers.
unsafe impl RowWork for RowScanner<Sum<f32>> {
    const RESULT: &'static str = "sum";

    fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        Self::new(Sum::new(), device, rows, columns)
    }

    fn launch(&mut self, input: &Buffer<f32>, output: &mut Buffer<f32>) -> Result<(), DeviceError> {
        Self::launch(self, input, output, Form::Inclusive)
    }

    fn on_cpu(input: &[f32], columns: usize) -> Vec<f32> {
        scan_rows_on_cpu(Sum::<f32>::new(), input, columns, Form::Inclusive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::tests::expect_measured;

    #[test]
    fn every_case_is_measured_and_right() {
        expect_measured(&SCAN_ROWS, 1023, 5);
        expect_measured(&SCAN_ROWS, 5000, 7);
    }
}
