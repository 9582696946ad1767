//! Arrays of `ndarray` as input and output: the sums of the rows of a matrix, and the prefix sums
//! along the rows.
//!
//! A device needs the elements in row-major order. An array with another layout, such as a
//! transposed one, is first converted to that order. Runs on a GPU, or without one in the emulator.
//!
//! `cargo run --release -p gridsync --example with_ndarray`

use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, KERNELS};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{RowReducer, Scanner};
use gridsync_kernels::op::{InSegments, Segments, Sum};
use ndarray::{Array1, Array2, ArrayView2, Axis};

fn main() -> Result<(), DeviceError> {
    let (device, (rows, columns)) = match Device::cuda(0, &KERNELS) {
        Ok(device) => (device, (3000, 4000)),
        Err(DeviceError::NoCuda(why)) => {
            println!("no GPU, using the emulator: {why}");
            (Device::new(Emulator::new(EmulatorConfig::checking(0))), (30, 40))
        }
        Err(error) => return Err(error),
    };
    let matrix =
        Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 37 + j * 11) % 2001) as i32 - 1000);
    for (what, matrix) in [("the matrix", matrix.view()), ("its transpose", matrix.t())] {
        assert_eq!(row_sums(&device, matrix)?, matrix.map(|&x| i64::from(x)).sum_axis(Axis(1)));
        let sums = running_sums(&device, matrix)?;
        assert_eq!(sums, running_sums_by_ndarray(matrix));
        let (rows, columns) = matrix.dim();
        println!("{what}, {rows} × {columns}: sums and running sums of the rows equal ndarray's");
    }
    Ok(())
}

/// The sum of each row.
pub(crate) fn row_sums(
    device: &Device,
    matrix: ArrayView2<'_, i32>,
) -> Result<Array1<i64>, DeviceError> {
    let (rows, columns) = matrix.dim();
    let input = device.upload(elements(&matrix.as_standard_layout()))?;
    let mut reducer = RowReducer::new(Sum::<i32, i64>::new(), device, rows, columns)?;
    reducer.reduce(&input).map(Array1::from)
}

/// For each element, the sum of its row up to it.
pub(crate) fn running_sums(
    device: &Device,
    matrix: ArrayView2<'_, i32>,
) -> Result<Array2<i64>, DeviceError> {
    let (rows, columns) = matrix.dim();
    let input = device.upload(elements(&matrix.as_standard_layout()))?;
    let mut output = device.alloc(input.len())?;
    let in_rows = InSegments::<Sum<i32, i64>>::new(Segments::rows(columns.max(1) as u64));
    let mut scanner = Scanner::new(in_rows, device, input.len())?;
    scanner.launch(&input, &mut output, Form::Inclusive)?;
    let sums = output.download()?;
    Ok(Array2::from_shape_vec((rows, columns), sums).expect("a sum for each element"))
}

/// The elements in row-major order.
fn elements<'a>(matrix: &'a ndarray::CowArray<'_, i32, ndarray::Ix2>) -> &'a [i32] {
    matrix.as_slice().expect("it is in the standard layout")
}

/// The same sums, computed by ndarray.
pub(crate) fn running_sums_by_ndarray(matrix: ArrayView2<'_, i32>) -> Array2<i64> {
    let mut sums = matrix.map(|&x| i64::from(x));
    sums.accumulate_axis_inplace(Axis(1), |&before, sum| *sum += before);
    sums
}
