//! Values combined with the elements of an array at some indices.

use super::SegmentReducer;
use super::by_key::{RunKey, expect_pairs};
use super::groups::{gather, group_by_on_cpu, sort_with_order};
use crate::device::{Buffer, DeviceError, Geometry};
use crate::primitives::select::select_with_positions;
use crate::primitives::sort::Key;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::KernelOf;
pub use gridsync_entries::segments::{ScatterCommon, Scatterable, Scattering};
use gridsync_kernels::grid::segments::{Scattered, THREADS};
use gridsync_kernels::op::Operation;

/// A type of indices: u32 or u64.
pub trait Index: RunKey {
    /// The index as u64.
    fn to_u64(self) -> u64;

    /// `indices` for the kernel.
    fn scattered(indices: Global<Self>) -> Scattered;
}

impl Index for u32 {
    fn to_u64(self) -> u64 {
        self.into()
    }

    fn scattered(indices: Global<Self>) -> Scattered {
        Scattered { narrow: indices, wide: indices.part(0, 0).cast() }
    }
}

impl Index for u64 {
    fn to_u64(self) -> u64 {
        self
    }

    fn scattered(indices: Global<Self>) -> Scattered {
        Scattered { narrow: indices.part(0, 0).cast(), wide: indices }
    }
}

/// Combines each element of `into` by `op` with all values that have its index, on their device:
/// element i becomes `into[i]` ⊕ (the values whose index is i, in their order). Waits for the
/// device.
///
/// The indices are sorted, and the values are reduced in that order, so no two threads write the same
/// element, and the bits of a floating-point result depend on the arrays only. An empty `values`
/// changes nothing, also no NaN.
///
/// ```
/// use gridsync::device::{Device, DeviceError};
/// use gridsync::op::Sum;
/// use gridsync::primitives::segments::scatter::scatter_reduce;
///
/// let device = Device::emulator();
/// let mut into = device.upload(&[100.0f32, 200.0, 300.0])?;
/// let (indices, values) = (device.upload(&[2u32, 0, 2])?, device.upload(&[1.0f32, 2.0, 4.0])?);
/// scatter_reduce(Sum::<f32>::new(), &indices, &values, &mut into)?;
/// assert_eq!(into.download()?, [102.0, 200.0, 305.0]);
/// # Ok::<(), DeviceError>(())
/// ```
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if there are not as many values as indices,
/// [`DeviceError::NoSuchIndex`] if an index is past the end of `into`, which then is unchanged,
/// [`DeviceError::OtherDevice`] if the buffers are on different devices, and if the device fails.
pub fn scatter_reduce<I: Index, O>(
    op: O,
    indices: &Buffer<I>,
    values: &Buffer<O::Element>,
    into: &mut Buffer<O::Output>,
) -> Result<(), DeviceError>
where
    O: Scatterable<Element: Key, Accumulator: Scalar, Output: Pod + Scalar>,
{
    let device = expect_pairs(indices, values)?;
    device.expect_own(into)?;
    if indices.is_empty() {
        return Ok(());
    }
    let (sorted, order) = sort_with_order(indices)?;
    let (firsts, starts) = select_with_positions(I::Firsts::default(), &sorted)?;
    let count = firsts.len();
    let greatest = firsts.buffer().download_part(count - 1..count)?[0].to_u64();
    if greatest >= into.len() as u64 {
        return Err(DeviceError::NoSuchIndex { index: greatest, len: into.len() });
    }
    let gathered = gather(values, order.view())?;
    let mut reducer = SegmentReducer::new(op, device)?;
    // SAFETY: both are on this device and live; the starts are those of the runs of equal indices,
    // which ascend from 0 and are below the number of values.
    unsafe { reducer.launch_view(gathered.view(), starts.buffer().view().part(0, count))? };
    let words = <O::Accumulator as gridsync_kernels::op::Carried>::WORDS;
    let args = op.arguments(Scattering {
        results: reducer.results.view().part(0, count * words),
        indices: I::scattered(firsts.buffer().view().part(0, count)),
        into: into.view(),
    });
    let grid = Geometry::new(count.div_ceil(THREADS as usize) as u32, THREADS);
    // SAFETY: there is a thread for each run, the indices of runs differ and are below the length of
    // `into`, which this borrows mutably; a dropped buffer waits for the stream; `Entry` promises
    // that the kernel scatters by `op`, after the wait for the previous kernel.
    unsafe { device.launch_in_a_row::<KernelOf<O, ScatterCommon<O>>>(&grid, args) }
}

/// The same on all cores of the CPU, with the same bits.
///
/// # Panics
/// If there are not as many values as indices, or if an index is past the end of `into`.
pub fn scatter_reduce_on_cpu<I: Index, O>(
    op: O,
    indices: &[I],
    values: &[O::Element],
    into: &mut [O::Output],
) where
    O: Operation<Output = <O as Operation>::Accumulator>,
{
    assert_eq!(indices.len(), values.len(), "a value for each index");
    let (distinct, groups) = group_by_on_cpu(indices);
    for (index, result) in distinct.into_iter().zip(groups.reduce(op, values)) {
        let at = &mut into[index.to_u64() as usize];
        *at = op.finish(op.combine(*at, result));
    }
}
