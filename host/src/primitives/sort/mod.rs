//! Sorts: the elements of an array in order, or the indices that put them in order. All are stable:
//! equal elements keep their order.

mod plan;
mod rows;
mod run;
mod segments;
mod views;

use super::scratch::Scratch;
use crate::device::{Buffer, Device, DeviceError};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::grid::sort::{Arrays, Nothing, WORDS, carries_len, counts_len};
use plan::{Plan, ROW};
pub(super) use run::How;

pub use crate::reference::{Index, Key, Moved, Order};
pub use rows::{RowSorter, argsort_rows_on_cpu, sort_rows_on_cpu};
pub(in crate::primitives) use segments::check_offsets;
pub use segments::{Segments, argsort_segments_on_cpu, sort_segments_on_cpu};

/// Sorts `input` on its device, into a new buffer.
///
/// To sort more than once, keep a [`Sorter`], which allocates only when it is created.
///
/// # Errors
/// If the device fails.
pub fn sort<K: Key>(order: Order, input: &Buffer<K>) -> Result<Buffer<K>, DeviceError> {
    let mut output = input.device().alloc(input.len())?;
    Sorter::new(input.device(), input.len())?.launch(order, input, &mut output)?;
    Ok(output)
}

/// The indices of `input` in the order of its elements, in a new buffer on its device. Equal
/// elements are in the order of their indices.
///
/// # Errors
/// If the device fails, and with [`DeviceError::Unsupported`] if the type cannot hold all indices.
pub fn argsort<K: Key, I: Index>(
    order: Order,
    input: &Buffer<K>,
) -> Result<Buffer<I>, DeviceError> {
    let mut indices = input.device().alloc(input.len())?;
    Sorter::new(input.device(), input.len())?.launch_argsort(order, input, &mut indices)?;
    Ok(indices)
}

/// Sorts `input` on all cores of the CPU. The bits are those of [`sort()`].
pub fn sort_on_cpu<K: Key>(order: Order, input: &[K]) -> Vec<K> {
    reference::sort(order, input)
}

/// Sorts `keys` on all cores of the CPU. Needs little more memory, except for floats with a −0 or a
/// NaN: a copy of all zeros and NaNs. The bits are those of [`sort()`].
pub fn sort_in_place_on_cpu<K: Key>(order: Order, keys: &mut [K]) {
    reference::sort_in_place(order, keys);
}

/// The indices of `input` in the order of its elements, computed on all cores of the CPU.
pub fn argsort_on_cpu<K: Key, I: Index>(order: Order, input: &[K]) -> Vec<I> {
    reference::argsort(order, input)
}

/// Sorts arrays on one device, and keeps the working memory: one array of keys, one of what moves
/// with them, and 2 KiB for each tile of 4096 to 10240 keys.
///
/// One launch counts all digits, and one for each byte of a key moves the keys; in place, keys of one
/// byte are moved twice. A byte that is the same in all keys costs only the launch. Arrays of up to
/// 4096 keys (12288, or 8192 of 8 bytes, from compute capability 9.0) are sorted by one block in one
/// launch.
pub struct Sorter<K: Key> {
    device: Device,
    keys: Scratch<K::Word>,
    spare: Scratch<u64>,
    rows: Scratch<u32>,
    carries: Scratch<u64>,
    counts: Buffer<u64>,
    words: Buffer<u32>,
}

impl<K: Key> Sorter<K> {
    /// Allocates the working memory for sorts on `device` of up to `longest` elements without
    /// anything that moves with them. For the rest it is allocated when it is first needed.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let word = size_of::<K>();
        let plan = Plan::of::<K, Nothing>(device, 1, longest);
        let new = |len| Scratch::new("a sort", device, len, Device::alloc);
        Ok(Self {
            device: device.clone(),
            keys: Scratch::new("a sort", device, longest, Device::alloc)?,
            spare: new(0)?,
            rows: Scratch::new("a sort", device, ROW * plan.most_tiles, Device::alloc)?,
            carries: new(carries_len(word, plan.count as usize))?,
            counts: device.zeroed(counts_len(word))?,
            words: device.zeroed(WORDS)?,
        })
    }

    /// Submits the sort of `input` into `output` to the stream. Does not wait.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if `output` is not as long as `input`;
    /// [`DeviceError::OtherDevice`] if a buffer is not on the device of this sorter;
    /// [`DeviceError::InGraph`] if it would have to allocate and a graph has recorded a launch; and
    /// if a launch fails.
    pub fn launch(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        output: &mut Buffer<K>,
    ) -> Result<(), DeviceError> {
        let (input, output) = (self.own(input, input.len())?, self.own(output, input.len())?);
        self.keys.fit(input.len())?;
        let keys = Arrays { input: input.cast(), spare: self.keys.view(), output: output.cast() };
        // SAFETY: the arrays are as long and on this device, and do not overlap.
        unsafe { self.run::<Nothing>(order, keys, None, How::whole(input.len())) }
    }

    /// Like [`launch`](Self::launch), for the first elements of `input`, as many as the number in
    /// `count`: [`counted`](Self::counted).
    ///
    /// # Errors
    /// As for [`launch`](Self::launch) and [`counted`](Self::counted).
    pub fn launch_counted(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        count: &Buffer<u64>,
        output: &mut Buffer<K>,
    ) -> Result<(), DeviceError> {
        self.counted(input.len(), count)?.launch(order, input, output)
    }

    /// Like [`launch`](Self::launch), but the result replaces the elements.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn launch_in_place(
        &mut self,
        order: Order,
        elements: &mut Buffer<K>,
    ) -> Result<(), DeviceError> {
        let input = self.own(elements, elements.len())?.cast();
        self.keys.fit(input.len())?;
        let keys = Arrays { input, spare: self.keys.view(), output: input };
        // SAFETY: the arrays are as long and on this device, and the input is the output.
        unsafe { self.run::<Nothing>(order, keys, None, How::whole(input.len()).in_place()) }
    }

    /// Sorts keys, and moves each value with its key: both from `input` to `output`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch). All four buffers have to be as long as the keys.
    pub fn launch_pairs<V: Moved>(
        &mut self,
        order: Order,
        input: (&Buffer<K>, &Buffer<V>),
        output: (&mut Buffer<K>, &mut Buffer<V>),
    ) -> Result<(), DeviceError> {
        let len = input.0.len();
        let keys = [self.own(input.0, len)?, self.own(output.0, len)?];
        let values = [self.own(input.1, len)?, self.own(output.1, len)?];
        // SAFETY: the arrays are as long and on this device, and do not overlap.
        unsafe { self.run_pairs(order, keys, values, How::whole(len)) }
    }

    /// Sorts `keys` in place, and moves each of `values` with its key.
    ///
    /// # Errors
    /// As for [`launch_pairs`](Self::launch_pairs).
    pub fn launch_pairs_in_place<V: Moved>(
        &mut self,
        order: Order,
        keys: &mut Buffer<K>,
        values: &mut Buffer<V>,
    ) -> Result<(), DeviceError> {
        let len = keys.len();
        let (keys, values) = ([self.own(keys, len)?; 2], [self.own(values, len)?; 2]);
        let how = How::whole(len).in_place();
        // SAFETY: the arrays are as long and on this device, and the inputs are the outputs.
        unsafe { self.run_pairs(order, keys, values, how) }
    }

    /// Writes the indices of `input` in the order of its elements to `indices`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch), and [`DeviceError::Unsupported`] if the type cannot hold all
    /// indices.
    pub fn launch_argsort<I: Index>(
        &mut self,
        order: Order,
        input: &Buffer<K>,
        indices: &mut Buffer<I>,
    ) -> Result<(), DeviceError> {
        let len = input.len();
        self.expect_indices::<I>(len)?;
        let (input, indices) = (self.own(input, len)?.cast(), self.own(indices, len)?);
        // SAFETY: the arrays are as long and on this device, and do not overlap.
        unsafe { self.argsort_view(order, input, indices) }
    }

    /// An error if `I` cannot hold the indices of `len` elements.
    fn expect_indices<I: Index>(&self, len: usize) -> Result<(), DeviceError> {
        if size_of::<I>() == 4 && len as u64 > 1 << 32 {
            return Err(DeviceError::Unsupported {
                what: "indices of 32 bits",
                device: self.device.properties().name.clone(),
                needs: "with more than 4294967296 elements they have 64 bits",
            });
        }
        Ok(())
    }

    /// The elements of a buffer, which has to be on this device, with `len` elements.
    fn own<T: Scalar + Pod>(
        &self,
        buffer: &Buffer<T>,
        len: usize,
    ) -> Result<Global<T>, DeviceError> {
        self.device.expect_own(buffer)?;
        if buffer.len() == len {
            Ok(buffer.view())
        } else {
            Err(DeviceError::LengthMismatch { buffer: buffer.len(), given: len })
        }
    }
}
