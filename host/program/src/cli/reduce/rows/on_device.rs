//! How a device reduces rows: by kernels for many rows, by kernels for halves of integers, or each
//! row separately.

use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::{Halves, Reducer, RowReducer, WideRowReducer};
use gridsync_entries::reduce::Reducible;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::Operation;

/// The results of rows, and the time of the kernels in µs.
type Results<O> = anyhow::Result<(Vec<<O as Operation>::Output>, f64)>;

/// Reduces a matrix on a device.
pub(super) type OnDevice<O> = Box<dyn FnMut(&[<O as Operation>::Element]) -> Results<O>>;

/// Prepares the reduction of matrices with this many rows and columns.
pub(super) type Plan<O> = fn(O, &Device, usize, usize) -> anyhow::Result<OnDevice<O>>;

/// By the kernels for rows.
pub(super) fn by_kernels<O: RowReducible<Element: Pod>>(
    op: O,
    device: &Device,
    rows: usize,
    columns: usize,
) -> anyhow::Result<OnDevice<O>> {
    let mut reducer = RowReducer::new(op, device, rows, columns)?;
    reducer.compile()?;
    let mut matrix = device.alloc(rows * columns)?;
    let device = device.clone();
    Ok(Box::new(move |input| {
        matrix.copy_part_from(0, input)?;
        let us = device.time(|| reducer.launch(&matrix))?;
        Ok((reducer.results()?, us))
    }))
}

/// For 64-bit integers: by the kernels for rows of their halves.
pub(super) fn by_halves<O>(
    op: O,
    device: &Device,
    rows: usize,
    columns: usize,
) -> anyhow::Result<OnDevice<O>>
where
    O: Operation<Element: Halves, Accumulator = i128>,
{
    let mut reducer = WideRowReducer::<O::Element>::new(device, rows, columns)?;
    Ok(Box::new(move |input| {
        let (sums, us) = reducer.reduce(input)?;
        let finish = |sum| op.finish_of(sum, columns as u64);
        Ok((sums.into_iter().map(finish).collect(), us))
    }))
}

/// Each row by the kernel for one array.
pub(super) fn alone<O: Reducible<Element: Pod>>(
    op: O,
    device: &Device,
    rows: usize,
    columns: usize,
) -> anyhow::Result<OnDevice<O>> {
    let mut reducer = Reducer::new(op, device)?;
    reducer.compile()?;
    let mut matrix = device.alloc(rows * columns)?;
    let device = device.clone();
    Ok(Box::new(move |input| {
        matrix.copy_part_from(0, input)?;
        let (mut results, mut total) = (Vec::with_capacity(rows), 0.0);
        for row in 0..rows {
            let row = row * columns..(row + 1) * columns;
            total += device.time(|| reducer.launch_part(&matrix, row.clone()))?;
            results.push(reducer.result()?);
        }
        Ok((results, total))
    }))
}
