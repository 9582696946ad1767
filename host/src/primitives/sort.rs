//! Sorts: the elements of an array in order, or the indices that put them in order. All are stable:
//! equal elements keep their order.

mod views;

use super::scratch::Scratch;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::reference;
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::sort::{Counting, OneBlock, Pass};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::sort::{
    Arrays, COUNT_THREADS, Large, Nothing, Payload, Portions, Shape, Small, State, THREADS, Task,
    Tiles, WORDS, carries_len, count_shared_bytes, counts_len, one_block_shared_bytes,
    one_block_threads, passes,
};
use std::marker::PhantomData;

pub use crate::reference::{Index, Key, Moved, Order};

/// Words of the rows of a tile: one for each digit, twice.
const ROW: usize = 2 * 256;

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
        let plan = Plan::of::<K, Nothing>(device, longest);
        let new = |len| Scratch::new("a sort", device, len, Device::alloc);
        Ok(Self {
            device: device.clone(),
            keys: Scratch::new("a sort", device, longest, Device::alloc)?,
            spare: new(0)?,
            rows: Scratch::new("a sort", device, ROW * plan.most_tiles, Device::alloc)?,
            carries: new(carries_len(word, plan.portions.count as usize))?,
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
        unsafe { self.run::<Nothing>(order, keys, None, How::default()) }
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
        unsafe { self.run::<Nothing>(order, keys, None, How { in_place: true, ..How::default() }) }
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
        unsafe { self.run_pairs(order, keys, values, How::default()) }
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
        let how = How { in_place: true, ..How::default() };
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
        if size_of::<I>() == 4 && len as u64 > 1 << 32 {
            return Err(DeviceError::Unsupported {
                what: "indices of 32 bits",
                device: self.device.properties().name.clone(),
                needs: "with more than 4294967296 elements they have 64 bits",
            });
        }
        let (input, indices) = (self.own(input, len)?.cast(), self.own(indices, len)?);
        // SAFETY: the arrays are as long and on this device, and do not overlap.
        unsafe { self.argsort_view(order, input, indices) }
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

    /// Sorts from the first of `keys` and of `values` to the second.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_pairs<V: Moved>(
        &mut self,
        order: Order,
        keys: [Global<K>; 2],
        values: [Global<V>; 2],
        how: How,
    ) -> Result<(), DeviceError> {
        let len = keys[0].len();
        self.keys.fit(len)?;
        self.spare.fit((len * size_of::<V>()).div_ceil(8))?;
        let ([input, output], spare) = (keys.map(Global::cast), self.keys.view());
        let keys = Arrays { input, spare, output };
        let spare = self.spare.view().cast().part(0, len);
        let values: Arrays<V> = Arrays { input: values[0], spare, output: values[1] };
        // SAFETY: the caller's promise; the spare arrays are as long.
        unsafe { self.run_with(order, keys, values, how) }
    }

    /// [`run`](Self::run) with the kernels that move so many bytes with each key.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_with<V: Moved>(
        &mut self,
        order: Order,
        keys: Arrays<K::Word>,
        values: Arrays<V>,
        how: How,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise; a value is as long as the payload.
        unsafe {
            if size_of::<V>() == 4 {
                self.run::<u32>(order, keys, Some(values.cast()), how)
            } else {
                self.run::<u64>(order, keys, Some(values.cast()), how)
            }
        }
    }

    /// Submits the launches of a sort.
    ///
    /// # Safety
    /// The arrays are on this device and as long as `keys.input`, except those of the spare keys,
    /// which may be longer, and an input of indices. None overlaps another, except an output that is
    /// its input if `how` says so.
    unsafe fn run<P: Payload<Word: Pod>>(
        &mut self,
        order: Order,
        keys: Arrays<K::Word>,
        payloads: Option<Arrays<P::Word>>,
        how: How,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, Large>>
            + Entry<Pass<K::Word, P, Small>>
            + Entry<OneBlock<K::Word, P>>,
    {
        let (len, word) = (keys.input.len(), size_of::<K>());
        if len == 0 {
            return Ok(());
        }
        let none = self.words.view().cast::<P::Word>().part(0, 0);
        let payloads = payloads.unwrap_or(Arrays { input: none, spare: none, output: none });
        let order = K::order(order);
        let is_90 = self.device.properties().compute >= 90;
        if let Some(threads) = one_block_threads(len, word, is_90) {
            let common = OneBlock {
                keys: [keys.input, keys.output],
                payloads: [payloads.input, payloads.output],
                are_indices: how.are_indices.into(),
            };
            // SAFETY: the caller's promise; the block is made for this length.
            return unsafe { self.run_one_block::<P>(order, threads, common) };
        }
        let plan = Plan::of::<K, P>(&self.device, len);
        let portions = Portions { are_indices: how.are_indices.into(), ..plan.portions };
        self.rows.fit(ROW * plan.tiles)?;
        self.carries.fit(carries_len(word, portions.count as usize))?;
        let state = State {
            counts: self.counts.view(),
            carries: self.carries.view(),
            words: self.words.view(),
        };
        let rows = self.rows.view().part(0, ROW * plan.tiles);
        let task = Task { portions: portions.count, flags: how.flags() };
        let counting = Counting { input: keys.input, state, rows, task };
        // SAFETY: the grids are made for the arrays, and the caller upholds the rest; counts and
        // words were zeroed, and each sort leaves them ready for the next; `&mut self` and the
        // order of the stream keep others off them; a dropped buffer waits for the stream; all
        // kernels start with the wait for the previous one.
        unsafe {
            let args = Entry::<Counting<K::Word>>::arguments(order, counting);
            self.device
                .launch_in_a_row::<KernelOf<K::Order, Counting<K::Word>>>(&plan.counts, args)?;
            let first = Pass {
                keys,
                payloads,
                state,
                rows,
                portions,
                pass: 0,
                tiles: PhantomData::<Large>,
            };
            if plan.is_small {
                self.passes(order, &plan.moves, how, first.in_tiles::<Small>())
            } else {
                self.passes(order, &plan.moves, how, first)
            }
        }
    }

    /// Submits the launch of a sort by one block.
    ///
    /// # Safety
    /// As for [`run`](Self::run), and the keys fit into a block of so many threads.
    unsafe fn run_one_block<P: Payload>(
        &self,
        order: K::Order,
        threads: u32,
        common: OneBlock<K::Word, P>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<OneBlock<K::Word, P>>,
    {
        let shared = one_block_shared_bytes(threads, size_of::<K>());
        let geometry = Geometry::new(1, threads).with_dynamic_shared(shared);
        let args = order.arguments(common);
        // SAFETY: the caller's promise; the kernel starts with the wait for the previous one.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Order, OneBlock<K::Word, P>>>(&geometry, args)
        }
    }

    /// Submits the launches of all passes.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn passes<P: Payload, T: Tiles>(
        &self,
        order: K::Order,
        geometry: &Geometry,
        how: How,
        first: Pass<K::Word, P, T>,
    ) -> Result<(), DeviceError>
    where
        K::Order: Entry<Pass<K::Word, P, T>>,
    {
        let word = size_of::<K>();
        let passes = if how.in_place { passes(word) } else { word };
        for pass in 0..passes as u32 {
            let args = order.arguments(Pass { pass, ..first });
            // SAFETY: the caller's promise.
            unsafe {
                self.device
                    .launch_in_a_row::<KernelOf<K::Order, Pass<K::Word, P, T>>>(geometry, args)?;
            }
        }
        Ok(())
    }
}

/// What a sort has to do.
#[derive(Clone, Copy, Default)]
struct How {
    /// The outputs are the inputs.
    in_place: bool,
    /// The indices of the keys move with them.
    are_indices: bool,
}

impl How {
    /// As [`Task::flags`].
    fn flags(self) -> u32 {
        u32::from(self.in_place) | u32::from(!self.in_place || self.are_indices) << 1
    }
}

/// The grids of a sort.
struct Plan {
    /// Whether its tiles are small.
    is_small: bool,
    tiles: usize,
    /// The most tiles of an array that is not longer.
    most_tiles: usize,
    portions: Portions,
    counts: Geometry,
    moves: Geometry,
}

impl Plan {
    /// For `len` keys with a payload of `P`.
    fn of<K: Key, P: Payload>(device: &Device, len: usize) -> Self {
        let properties = device.properties();
        let is_90 = properties.compute >= 90;
        let payload = if P::IS_HELD { size_of::<P::Word>() } else { 0 };
        let word = size_of::<K>();
        let [large, small] = [false, true].map(|is_small| Shape { word, payload, is_small, is_90 });
        // A large tile for each multiprocessor, or small ones.
        let short = properties.multiprocessors as usize * large.tile();
        let is_small = len <= short;
        let shape = if is_small { small } else { large };
        let tiles = len.div_ceil(shape.tile());
        let each = shape.most_tiles();
        let count = tiles.div_ceil(each as usize) as u32;
        // Two packs of 16 bytes for each thread, and at most one block for each multiprocessor.
        let packs = (len * word).div_ceil(16);
        let blocks = packs.div_ceil(2 * COUNT_THREADS as usize);
        let blocks = blocks.clamp(1, properties.multiprocessors as usize) as u32;
        Self {
            is_small,
            tiles,
            most_tiles: tiles.max(len.min(short).div_ceil(small.tile())),
            portions: Portions { count: count.max(1), tiles: each, are_indices: 0 },
            counts: Geometry::new(blocks, COUNT_THREADS)
                .with_dynamic_shared(count_shared_bytes(word, is_90)),
            moves: Geometry::new(tiles as u32, THREADS).with_dynamic_shared(shape.shared_bytes()),
        }
    }
}
