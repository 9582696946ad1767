//! Reductions of an array to one value.

use super::{carried, count_of};
use crate::device::mailbox::Mailbox;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::Global;
pub use gridsync_entries::counted::Counted;
pub use gridsync_entries::reduce::{Arguments, Common, Reducible};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::reduce::{MOST_TILES, STATE, Shape};
use gridsync_kernels::op::{Carried, Operation};
use std::ops::Range;

/// Reduces `input` by `op` on its device.
///
/// For an empty input the result is derived from the identity of the operation: the identity
/// itself, or no [`Indexed`](gridsync_kernels::op::Indexed) element. To reduce more than once, keep
/// a [`Reducer`], which allocates only when it is created.
///
/// # Errors
/// If the device fails.
pub fn reduce<O: Reducible>(op: O, input: &Buffer<O::Element>) -> Result<O::Output, DeviceError>
where
    O::Element: Pod,
{
    Reducer::new(op, input.device())?.reduce(input)
}

/// Reduces `input` by `op` on all cores of the CPU, with the same bits as [`reduce`], also for an
/// empty input.
pub fn reduce_on_cpu<O: Operation>(op: O, input: &[O::Element]) -> O::Output {
    reference::reduce(op, input)
}

/// A reduction by one operation on one device: its plan and its working memory.
///
/// One launch per reduction. A floating-point result depends only on the input: every GPU, the
/// emulator and the CPU give the same bits ([`Shape`] defines the order in which they combine). A
/// floating-point mean is infinite or NaN if its sum overflows; a
/// [`PartReducer`](super::PartReducer) recomputes such a mean.
pub struct Reducer<O: Reducible> {
    op: O,
    device: Device,
    words: Buffer<u64>,
    state: Buffer<u32>,
    result: Buffer<u32>,
    /// Where the result is written if a caller waits for it; `None` if the device has no mailboxes.
    mailbox: Option<Mailbox>,
    last: Last<O::Accumulator>,
    /// Whether a graph has recorded a launch.
    is_recorded: bool,
}

/// The last reduction.
#[derive(Clone, Copy)]
enum Last<A> {
    /// None so far, or it failed.
    None,
    /// It was submitted to the stream, or to a graph, for this many elements.
    Launched(usize),
    /// The combined value of a reduction that was waited for, and the number of its elements.
    Known(A, usize),
}

impl<O: Reducible> Reducer<O>
where
    O::Element: Pod,
{
    /// Plans reductions by `op` on `device`, and allocates their working memory: 32 KiB per word of
    /// an accumulator.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(op: O, device: &Device) -> Result<Self, DeviceError> {
        let words = O::Accumulator::WORDS;
        Ok(Self {
            op,
            device: device.clone(),
            words: device.zeroed(MOST_TILES * words)?,
            state: device.zeroed(STATE)?,
            result: device.alloc(words)?,
            mailbox: Mailbox::of(device, words)?,
            last: Last::None,
            is_recorded: false,
        })
    }

    /// Reduces `input` and waits for the result. A GPU writes it to host memory, which this thread
    /// polls for up to 0.1 ms before it waits for the stream.
    ///
    /// # Errors
    /// If the launch or the device fails.
    pub fn reduce(&mut self, input: &Buffer<O::Element>) -> Result<O::Output, DeviceError> {
        // A graph writes to the buffer, and the last writer determines the result.
        let in_graph = self.is_recorded || self.device.backend().is_recording();
        match self.mailbox.take_if(|_| !in_graph) {
            Some(mut mailbox) => {
                self.last = Last::None;
                let found = self.reduce_into(&mut mailbox, input);
                self.mailbox = Some(mailbox);
                self.last = Last::Known(found?, input.len());
            }
            None => self.launch(input)?,
        }
        self.result()
    }

    /// The combined value of the elements of `input`. The kernel writes it to memory that the host
    /// polls: a copy would take longer than a short reduction.
    fn reduce_into(
        &mut self,
        mailbox: &mut Mailbox,
        input: &Buffer<O::Element>,
    ) -> Result<O::Accumulator, DeviceError> {
        let shape = Shape::of::<O::Element>(input.len());
        // SAFETY: the shape is made for the input, and a mailbox that is dropped early is not lent
        // again.
        mailbox.fill(O::Accumulator::WORDS, |result| unsafe {
            self.launch_in(shape, input, 0..input.len(), result)
        })?;
        Ok(carried(&mailbox.wait()?))
    }

    /// Submits the reduction of `input` to the stream. Does not allocate or wait.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if `input` is not on the device of this plan,
    /// [`DeviceError::NotRecordable`] when a graph records an operation that [needs the
    /// length](Operation::NEEDS_LEN), and if the launch fails.
    pub fn launch(&mut self, input: &Buffer<O::Element>) -> Result<(), DeviceError> {
        self.launch_part(input, 0..input.len())
    }

    /// Like [`launch`](Self::launch), for the elements `part` of `input`, with indices starting at
    /// 0. A part that does not start at a multiple of 16 bytes is reduced more slowly, with the
    /// same bits.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Panics
    /// If the part is not inside the input.
    pub fn launch_part(
        &mut self,
        input: &Buffer<O::Element>,
        part: Range<usize>,
    ) -> Result<(), DeviceError> {
        assert!(
            part.start <= part.end && part.end <= input.len(),
            "a part {part:?} of {} elements",
            input.len()
        );
        self.last = Last::None;
        let is_recording = self.device.backend().is_recording();
        self.is_recorded |= is_recording;
        if O::NEEDS_LEN && is_recording {
            // The result is computed with the length of the last launch, and a replayed launch may
            // have a different length.
            let doing = "a reduction whose result depends on the length";
            return Err(DeviceError::NotRecordable { doing });
        }
        let shape = Shape::of::<O::Element>(part.len());
        let result = self.result.view();
        let len = part.len();
        // SAFETY: the shape is made for the part, and a dropped buffer waits for the stream.
        unsafe { self.launch_in(shape, input, part, result)? };
        self.last = Last::Launched(len);
        Ok(())
    }

    /// Like [`launch_part`](Self::launch_part), in the order of `shape`, into the words `result`:
    /// those of one accumulator, or one accumulator per tile of the shape, which then gets the
    /// value of its tile.
    ///
    /// # Safety
    /// The shape has room for the part. The words outlive the launch.
    pub(super) unsafe fn launch_in(
        &mut self,
        shape: Shape,
        input: &Buffer<O::Element>,
        part: Range<usize>,
        result: Global<u32>,
    ) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        let geometry = Geometry::new(shape.tiles, shape.threads());
        let input = input.view().part(part.start, part.len());
        let args = self.op.arguments(self.arguments(shape, input, result));
        // SAFETY: the grid fits the shape, which has room for the part; the words have room for all
        // shapes; they and the state were zeroed, and each launch leaves them ready for the next;
        // `&mut self` and the stream order keep other launches off them; a dropped buffer waits for
        // the stream; `Entry` promises that the kernel reduces by `op`, which starts with the
        // wait for the previous kernel; the caller vouches for the result.
        unsafe { self.device.launch_in_a_row::<O::Kernel>(&geometry, args) }
    }

    fn arguments(
        &self,
        shape: Shape,
        input: Global<O::Element>,
        result: Global<u32>,
    ) -> Arguments<O::Element> {
        Arguments {
            input,
            words: self.words.view(),
            state: self.state.view(),
            result,
            runs: shape.runs,
        }
    }

    /// The operation of the next launches. Its accumulators are the same, so the memory fits.
    pub(super) fn set_op(&mut self, op: O) {
        self.op = op;
    }

    /// There is no result before the next launch.
    pub(super) fn forget(&mut self) {
        self.last = Last::None;
    }

    /// The device of this plan.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Makes the driver compile the kernel now instead of at the first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        self.device.compile::<O::Kernel>()
    }

    /// The result of the last [`launch`](Self::launch), or of the last replay of a graph that
    /// recorded it. Waits for it.
    ///
    /// # Errors
    /// [`DeviceError::NoResult`] if nothing was launched or the last launch failed, and if the
    /// stream fails.
    pub fn result(&self) -> Result<O::Output, DeviceError> {
        let (all, len) = match self.last {
            Last::None => return Err(DeviceError::NoResult { what: "result of a reduction" }),
            Last::Launched(len) => (carried(&self.result.download()?), len),
            Last::Known(all, len) => (all, len),
        };
        Ok(self.op.finish_of(all, len as u64))
    }
}

impl<O: Reducible + Entry<Counted<Common<O>>>> Reducer<O>
where
    O::Element: Pod,
{
    /// Like [`launch`](Self::launch), for the first elements of `input`. Their number is the value
    /// of `count` when the launch starts, and at most the whole input: a selection has just counted
    /// them, and the host need not know the number.
    ///
    /// They are combined in the order of an array as long as `input`, as if followed by the
    /// identity. So the bits of a floating-point result can also depend on the length of the
    /// buffer.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch); [`DeviceError::OtherDevice`] also for `count`, and
    /// [`DeviceError::LengthMismatch`] if it does not have exactly one element.
    pub fn launch_counted(
        &mut self,
        input: &Buffer<O::Element>,
        count: &Buffer<u64>,
    ) -> Result<(), DeviceError> {
        self.last = Last::None;
        self.is_recorded |= self.device.backend().is_recording();
        self.device.expect_own(input)?;
        let count = count_of(&self.device, count)?;
        let shape = Shape::of::<O::Element>(input.len());
        let geometry = Geometry::new(shape.tiles, shape.threads());
        let common = self.arguments(shape, input.view(), self.result.view());
        let args = self.op.arguments(Counted { common, count });
        // SAFETY: as for `launch_in`, the shape is made for the whole input, and the kernel uses
        // some of it; the count is borrowed, and a dropped buffer waits for the stream.
        unsafe { self.device.launch::<KernelOf<O, Counted<Common<O>>>>(&geometry, args)? };
        self.last = Last::Launched(input.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};
    use cuda_std::prelude::*;
    use gridsync_entries::ByKernel;
    use gridsync_kernels::op::{ArgMax, Indexed, Mean, MinMax, Sum};

    /// The mean, both extremes, and the index of the greatest element.
    type Three = (Mean<Sum<f64>>, (MinMax<f64>, ArgMax<f64>));

    #[kernel(max_threads = 512)]
    unsafe fn three_in_one_read(common: Arguments<f64>) {
        common.reduce(Three::default());
    }

    #[test]
    fn one_kernel_reduces_by_several_operations() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        // SAFETY: the kernel reduces by this operation.
        let op = unsafe { ByKernel::<Three, three_in_one_read>::new(Three::default()) };
        let mut reducer = Reducer::new(op, &device).expect("there is room");
        for len in [0, 1, 33, 1000, 5003, 40_000] {
            let host: Vec<f64> = (0..len).map(|i| f64::from(i * 37 % 1009) - 0.25).collect();
            let input = device.upload(&host).expect("there is room");
            let (mean, (extremes, greatest)) = reducer.reduce(&input).expect("it runs");
            assert_eq!(mean, reduce_on_cpu(Mean::new(Sum::<f64>::new()), &host), "{len}");
            assert_eq!(extremes, reduce_on_cpu(MinMax::<f64>::new(), &host), "{len}");
            assert_eq!(greatest, reduce_on_cpu(ArgMax::<f64>::new(), &host), "{len}");
            let found = extremes.map(|both| both.greatest);
            assert_eq!(found, greatest.map(|Indexed { value, .. }| value), "{len}");
            assert_eq!((mean, (extremes, greatest)), reduce_on_cpu(op, &host), "{len}");
        }
    }
}
