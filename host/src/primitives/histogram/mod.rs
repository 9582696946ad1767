//! Histograms: how many elements of an array are in each bin, or the sum of their weights.

mod bins;
mod element;
mod way;
mod weights;

pub use bins::{Bins, BinsError, MOST_BINS};
pub use element::{Binned, Integer};
pub use weights::{Weighed, Weight, weighted_histogram};

use super::part_of;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::histogram::Arguments;
use gridsync_kernels::grid::histogram::{Counts, Layout, Sums, THREADS};
use std::ops::Range;

/// The most bins that the last block writes. With more, the counts are zeroed by the device before
/// the launch, and blocks add to them.
const WRITTEN_BY_LAST: usize = 4096;

/// Elements of each bin, on average, from which blocks count in half words. With fewer, most bins of
/// a block would be counted once.
const HALVES_FROM: usize = 16;

/// A type of counts: u32 or u64.
pub trait Count: Pod + Scalar + Into<u64> + sealed::Count {}

mod sealed {
    use super::{Counts, Global};

    pub trait Count: Sized {
        fn counts(view: Global<Self>) -> Counts;
    }
}

impl Count for u32 {}
impl Count for u64 {}

impl sealed::Count for u32 {
    fn counts(narrow: Global<Self>) -> Counts {
        Counts { narrow, wide: narrow.part(0, 0).cast() }
    }
}

impl sealed::Count for u64 {
    fn counts(wide: Global<Self>) -> Counts {
        Counts { narrow: wide.part(0, 0).cast(), wide }
    }
}

/// The number of elements of `input` in each bin, in a new buffer on its device.
///
/// To count more than once, keep a [`Histogram`], which allocates only when it is created.
///
/// # Errors
/// If the device fails.
pub fn histogram<T: Binned>(bins: &Bins<T>, input: &Buffer<T>) -> Result<Buffer<u64>, DeviceError> {
    let mut counts = input.device().alloc(bins.len())?;
    Histogram::new(input.device(), bins.clone())?.launch(input, &mut counts)?;
    Ok(counts)
}

/// Counts the elements of arrays in the same bins on one device, and keeps the working memory: up to
/// 32 KiB, and for bins that are found by their edges up to two elements for each.
///
/// One launch, which reads the array once. Each block counts in its shared memory; with more than
/// 98303 bins (24575 before compute capability 9.0), elements are counted in device memory.
pub struct Histogram<T: Binned> {
    bins: Bins<T>,
    device: Device,
    table: Buffer<T>,
    partial: Buffer<u64>,
    ended: Buffer<u32>,
}

impl<T: Binned> Histogram<T> {
    /// Allocates the working memory on `device`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, bins: Bins<T>) -> Result<Self, DeviceError> {
        let partial = if bins.len() <= WRITTEN_BY_LAST { bins.len() } else { 0 };
        Ok(Self {
            device: device.clone(),
            table: device.upload(bins.table())?,
            partial: device.zeroed(partial)?,
            ended: device.zeroed(1)?,
            bins,
        })
    }

    /// The bins.
    #[must_use]
    pub fn bins(&self) -> &Bins<T> {
        &self.bins
    }

    /// Loads the kernel. Otherwise the first launch does.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        self.bins.on_device(self.table.view(), |way| way.compile(&self.device))
    }

    /// Submits the count of all elements of `input` to the stream. Does not wait. `counts` has an
    /// element for each bin, and what it contained before is replaced.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if `counts` has not as many elements as there are bins;
    /// [`DeviceError::OtherDevice`] if a buffer is not on this device;
    /// [`DeviceError::Unsupported`] if counts of 32 bits could overflow; and if the launch fails.
    pub fn launch<C: Count>(
        &mut self,
        input: &Buffer<T>,
        counts: &mut Buffer<C>,
    ) -> Result<(), DeviceError> {
        self.launch_part(input, 0..input.len(), counts)
    }

    /// Like [`launch`](Self::launch), for the elements `part` of `input` only.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Panics
    /// If the part is not inside the buffer.
    pub fn launch_part<C: Count>(
        &mut self,
        input: &Buffer<T>,
        part: Range<usize>,
        counts: &mut Buffer<C>,
    ) -> Result<(), DeviceError> {
        self.device.expect_own(input)?;
        self.device.expect_own(counts)?;
        let bins = self.bins.len();
        if counts.len() != bins {
            return Err(DeviceError::LengthMismatch { buffer: counts.len(), given: bins });
        }
        let input = part_of(input, &part);
        if size_of::<C>() == 4 && input.len() > u32::MAX as usize {
            return Err(DeviceError::Unsupported {
                what: "counts of 32 bits",
                device: self.device.properties().name.clone(),
                needs: "with more than 4294967295 elements they have 64 bits",
            });
        }
        let plan = Plan::of(&self.device, bins, input.len(), size_of::<T>());
        let is_alone = plan.blocks == 1 && plan.layout.has_columns();
        let is_written_by_last = !is_alone && bins <= WRITTEN_BY_LAST;
        if !is_alone && !is_written_by_last {
            counts.zero()?;
        }
        let (partial, ended) = if is_written_by_last {
            (self.partial.view().cast::<C>().part(0, bins), self.ended.view())
        } else {
            (counts.view().part(0, 0), self.ended.view().part(0, 0))
        };
        let sums = Sums { counts: C::counts(counts.view()), partial: C::counts(partial), ended };
        let common = Arguments { input, sums, bins: bins as u32, layout: plan.layout };
        // SAFETY: the grid is made for the array and the bins, the buffers are on this device, and
        // have an element for each bin; partial counts were zeroed, and each launch leaves them zero;
        // `&mut self` and the order of the stream keep others off them; a dropped buffer waits for
        // the stream.
        self.bins.on_device(self.table.view(), |way| unsafe {
            way.launch(&self.device, &plan.geometry(bins), common)
        })
    }
}

/// The grid of a histogram.
struct Plan {
    layout: Layout,
    blocks: u32,
}

impl Plan {
    /// For `len` elements of `bytes` bytes.
    fn of(device: &Device, bins: usize, len: usize, bytes: usize) -> Self {
        let properties = device.properties();
        let mut layout = Layout::of(bins, properties.compute >= 90);
        if layout == Layout::HALVES && len / HALVES_FROM < bins {
            layout = Layout::GLOBAL;
        }
        // Two packs of 16 bytes for each thread, and as many blocks as fit.
        let packs = (len * bytes).div_ceil(16);
        let blocks = packs.div_ceil(2 * THREADS as usize);
        let most = layout.resident(bins) * properties.multiprocessors;
        Self { layout, blocks: blocks.clamp(1, most as usize) as u32 }
    }

    fn geometry(&self, bins: usize) -> Geometry {
        let shared = self.layout.shared_bytes(bins);
        Geometry::new(self.blocks, THREADS).with_dynamic_shared(shared)
    }
}

#[cfg(test)]
mod tests;
