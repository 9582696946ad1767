//! Scans of each segment of an array.

use super::Offsets;
use crate::device::{Buffer, DeviceError, Geometry};
use crate::primitives::scan::{Form, Scannable, Scanner};
use crate::primitives::sort::check_offsets;
use crate::reference;
use bytemuck::Pod;
use gridsync_entries::segments::{MarkingStarts, Starts};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::segments::THREADS;
use gridsync_kernels::op::{InSegments, Operation, Segments};

/// Scans each segment of `input` by `O` on its device, into a new buffer. Does not wait.
///
/// One launch marks where the segments start, and another scans the whole array. The bits of a
/// floating-point result depend on the array and the offsets only, also on where in the array the
/// segment is.
///
/// ```
/// use gridsync::device::{Device, DeviceError};
/// use gridsync::op::Sum;
/// use gridsync::primitives::scan::Form;
/// use gridsync::primitives::segments::{Offsets, scan_segments};
///
/// let device = Device::emulator();
/// let input = device.upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0])?;
/// let offsets = Offsets::new(&device, &[0, 2, 2, 5])?;
/// let sums = scan_segments::<Sum<f32>>(&input, &offsets, Form::Inclusive)?;
/// assert_eq!(sums.download()?, [1.0, 3.0, 4.0, 12.0, 28.0]);
/// # Ok::<(), DeviceError>(())
/// ```
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if the input does not have the elements of the offsets,
/// [`DeviceError::OtherDevice`] if they are on different devices, and if the device fails.
pub fn scan_segments<O>(
    input: &Buffer<O::Element>,
    offsets: &Offsets,
    form: Form,
) -> Result<Buffer<O::Output>, DeviceError>
where
    O: Operation<Element: Pod, Output: Pod> + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    let device = input.device();
    offsets.expect_of(device, input.len())?;
    let marks = device.zeroed::<u32>(input.len().div_ceil(32))?;
    let count = offsets.count();
    if count > 0 {
        let starts = offsets.starts.view().part(0, count);
        let grid = Geometry::new(count.div_ceil(THREADS as usize) as u32, THREADS);
        let args = Starts.arguments(MarkingStarts { starts, marks: marks.view() });
        // SAFETY: there is a thread for each segment, and the marks are zeroed; a dropped buffer waits
        // for the stream; the kernel starts with the wait for the previous one.
        unsafe { device.launch_in_a_row::<KernelOf<Starts, MarkingStarts>>(&grid, args)? };
    }
    let mut output = device.alloc(input.len())?;
    // SAFETY: there is a bit for each element, written by the launch before; a dropped buffer waits
    // for the stream.
    let segments = unsafe { Segments::marked(marks.view()) };
    let op = InSegments::<O>::new(segments);
    Scanner::new(op, device, input.len())?.launch(input, &mut output, form)?;
    Ok(output)
}

/// The same on all cores of the CPU, with the same bits.
///
/// # Panics
/// If these are not offsets of segments of the input, as for [`Offsets::new`].
pub fn scan_segments_on_cpu<O>(input: &[O::Element], offsets: &[u64], form: Form) -> Vec<O::Output>
where
    O: Operation + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    check_offsets(offsets).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(offsets.last(), Some(&(input.len() as u64)), "the last is the number of elements");
    reference::scan_segments(O::default(), input, offsets, form)
}
