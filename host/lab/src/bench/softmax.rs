//! The suite `softmax`: the softmax of each row of a matrix, compared with PyTorch's.

use super::rows::{RowWork, measure};
use super::{Case, Ceiling, PeerProgram, Throughput};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::softmax::{RowSoftmax, softmax_rows_on_cpu};

/// Softmax of rows of so many f32.
macro_rules! rows_of {
    ($($columns:literal),*) => {
        &[$(Case::new::<f32>(
            "rows",
            concat!("softmax-", $columns),
            &[],
            measure::<RowSoftmax<f32>, $columns>,
        )),*]
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

// SAFETY: the kernels do only that, on the memory of the plan and of the two buffers.
unsafe impl RowWork for RowSoftmax<f32> {
    const RESULT: &'static str = "softmax";

    fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, DeviceError> {
        Self::new(device, rows, columns)
    }

    fn launch(&mut self, input: &Buffer<f32>, output: &mut Buffer<f32>) -> Result<(), DeviceError> {
        Self::launch(self, input, output)
    }

    fn on_cpu(input: &[f32], columns: usize) -> Vec<f32> {
        softmax_rows_on_cpu(input, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::tests::expect_measured;

    #[test]
    fn every_case_is_measured_and_right() {
        expect_measured(&SOFTMAX, 5000, 4);
        expect_measured(&SOFTMAX, 40_000, 5);
    }

    #[test]
    fn a_softmax_reads_and_writes_each_element() {
        let records = SOFTMAX.in_emulator(&SOFTMAX.cases[..1], 160);
        let bytes: Vec<_> = records.iter().map(|record| record.bytes).collect();
        assert_eq!(bytes, [Some(2 * 4 * 160); 2], "in a row and alone");
    }
}
