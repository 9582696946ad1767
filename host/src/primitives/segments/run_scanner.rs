//! Scans of runs of equal keys, again and again.

use super::by_key::{Nans, RunKey, expect_pairs};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::primitives::scan::{Form, Scannable, Scanner};
use crate::primitives::scratch::Scratch;
use bytemuck::Pod;
use cuda_std::memory::Global;
use cuda_std::warp::WARP_SIZE;
use gridsync_entries::segments::Marking;
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::segments::{MARKED, THREADS};
use gridsync_kernels::op::{InSegments, Operation, Segments};
use std::marker::PhantomData;

/// Scans the values of each run of equal keys by one operation on one device, and keeps the working
/// memory: a bit for each key, and that of a [`Scanner`].
///
/// Keys are equal by `==`, so −0 equals +0; each launch says whether [NaNs](Nans) are. The bits of a
/// result are those of [`scan_by_key`](super::by_key::scan_by_key).
///
/// ```
/// use gridsync::device::{Device, DeviceError};
/// use gridsync::op::Sum;
/// use gridsync::primitives::scan::Form;
/// use gridsync::primitives::segments::by_key::{Nans, RunScanner};
///
/// let device = Device::emulator();
/// let mut scanner = RunScanner::<u32, Sum<f64>>::new(&device, 4)?;
/// let keys = device.upload(&[7u32, 7, 2, 7])?;
/// let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0])?;
/// let mut sums = device.alloc(4)?;
/// scanner.launch(&keys, &values, &mut sums, Form::Inclusive, Nans::Apart)?;
/// assert_eq!(sums.download()?, [1.0, 3.0, 4.0, 8.0]);
/// # Ok::<(), DeviceError>(())
/// ```
pub struct RunScanner<K: RunKey, O: Operation + Default>
where
    InSegments<O>: Scannable,
{
    device: Device,
    /// Where runs start: a bit for each key of a launch.
    marks: Scratch<u32>,
    scanner: Scanner<InSegments<O>>,
    key: PhantomData<fn(K)>,
}

impl<K, O> RunScanner<K, O>
where
    K: RunKey,
    O: Operation<Element: Pod, Output: Pod> + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    /// Allocates the working memory for scans by `O` on `device` of up to `longest` values.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// As for [`Scanner::new`].
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        // SAFETY: the view has no elements. Each launch replaces it.
        let segments = unsafe { Segments::marked(Global::from_address(0, 0)) };
        Ok(Self {
            device: device.clone(),
            marks: Scratch::new("a scan of runs", device, words_of(longest), Device::alloc)?,
            scanner: Scanner::new(InSegments::new(segments), device, longest)?,
            key: PhantomData,
        })
    }

    /// Submits the scan of the values of each run of `keys` into `output` to the stream. Does not
    /// wait, and allocates only if there are more keys than in all earlier calls and than the length
    /// passed to [`new`](Self::new).
    ///
    /// One launch marks where the runs start, and another scans.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if there are not as many values or outputs as keys,
    /// [`DeviceError::OtherDevice`] if a buffer is not on the device of this scanner,
    /// [`DeviceError::InGraph`] if it would have to allocate and a graph has recorded a launch, and
    /// if a launch fails.
    pub fn launch(
        &mut self,
        keys: &Buffer<K>,
        values: &Buffer<O::Element>,
        output: &mut Buffer<O::Output>,
        form: Form,
        nans: Nans,
    ) -> Result<(), DeviceError> {
        self.device.expect_own(keys)?;
        expect_pairs(keys, values)?;
        let marks = self.mark(keys, nans)?;
        // SAFETY: only the next launch uses the marks, of as many values as there are bits; the
        // launch before has written them, and the stream order keeps the marking of later keys off
        // them; if they are dropped, that waits for the stream.
        let segments = unsafe { Segments::marked(marks) };
        self.scanner.set_op(InSegments::new(segments));
        self.scanner.launch(values, output, form)
    }

    /// Submits the launch that marks the runs of `keys`, and returns their marks.
    fn mark(&mut self, keys: &Buffer<K>, nans: Nans) -> Result<Global<u32>, DeviceError> {
        let words = words_of(keys.len());
        self.marks.fit(words)?;
        let marks = self.marks.view().part(0, words);
        let joins_nans = u32::from(nans == Nans::Together);
        let common = Marking { keys: keys.view(), marks, joins_nans };
        let warps = keys.len().div_ceil(MARKED);
        let blocks = warps.div_ceil((THREADS / WARP_SIZE) as usize);
        if blocks > 0 {
            let grid = Geometry::new(blocks as u32, THREADS);
            let args = K::Runs::default().arguments(common);
            // SAFETY: there is a warp for each 1024 keys, and a bit for each key; a dropped buffer
            // waits for the stream; `&mut self` and the stream order keep other launches off the
            // marks; `Entry` promises that the kernel marks runs, after the wait for the previous
            // kernel.
            unsafe { self.device.launch_in_a_row::<KernelOf<K::Runs, Marking<K>>>(&grid, args)? };
        }
        Ok(marks)
    }
}

/// Words with a bit for each of `keys` keys.
const fn words_of(keys: usize) -> usize {
    keys.div_ceil(u32::BITS as usize)
}
