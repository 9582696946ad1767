//! Cases of sorts.

use super::inputs::random;
use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, same_bits, sample};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::sort::{
    Key, Order, Segments, Sorter, argsort_on_cpu, argsort_rows_on_cpu, argsort_segments_on_cpu,
    sort_on_cpu, sort_rows_on_cpu, sort_segments_on_cpu,
};
use gridsync_kernels::grid::sort::Shape;
use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

/// The elements of a case before the sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any values. Every 16th is zero.
    Any,
    /// Values at the ends of the orders: infinities, NaNs of both signs, zeros, subnormals.
    Special,
    /// All equal.
    Equal,
    /// At most five values.
    Few,
    /// In ascending order.
    Sorted,
    /// In descending order.
    Reversed,
    /// Equal except for the lowest digit.
    OneDigit,
}

impl Keys {
    /// All variants.
    pub const ALL: [Self; 7] = [
        Self::Any,
        Self::Special,
        Self::Equal,
        Self::Few,
        Self::Sorted,
        Self::Reversed,
        Self::OneDigit,
    ];

    /// `len` elements.
    #[must_use]
    pub fn sample<K: Key + Sample>(self, len: usize, seed: u64) -> Vec<K> {
        let any = || sample::<K>(Input::Values, len, seed);
        let all = |of: &dyn Fn(u64) -> K| (0..len as u64).map(|i| of(random(!seed, i))).collect();
        match self {
            Self::Any => any(),
            Self::Special => all(&special),
            Self::Equal => all(&|_| K::from_random(seed)),
            Self::Few => all(&|bits| K::from_random(random(seed, bits % 5))),
            Self::Sorted => sort_on_cpu(Order::ASCENDING.total(), &any()),
            Self::Reversed => sort_on_cpu(Order::DESCENDING.total(), &any()),
            Self::OneDigit => {
                all(&|bits| of_bits(bits & 0xff | 0x3c5a_3c5a_3c5a_3c5a & (!0xff >> 1)))
            }
        }
    }
}

/// How long the segments of a case are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lens {
    /// All have so many elements, except the last.
    Of(usize),
    /// From none to 2^14 elements, short ones as often as long ones.
    Mixed,
    /// One has half of all elements, and is surrounded by segments of one and empty ones.
    Skewed,
}

impl Lens {
    /// The offsets of the segments of `len` elements.
    #[must_use]
    pub fn offsets(self, len: usize, seed: u64) -> Vec<u64> {
        let (mut offsets, mut last) = (vec![0], 0);
        while last < len {
            let bits = random(seed, offsets.len() as u64);
            let of = match self {
                Self::Of(each) => each,
                Self::Mixed => (bits >> 8) as usize % (1 << (bits % 15)),
                Self::Skewed if last == len / 4 => len.div_ceil(2),
                Self::Skewed => bits as usize % 2,
            };
            last += of.min(len - last);
            offsets.push(last as u64);
        }
        offsets
    }
}

/// The element whose bits are the lowest ones of these.
fn of_bits<K: Pod>(bits: u64) -> K {
    bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<K>()])
}

/// An element whose upper bits are mostly all ones or zeros, and whose lower ones are zeros, a one,
/// or noise.
fn special<K: Pod>(bits: u64) -> K {
    let sign = 1 << (8 * size_of::<K>() - 1);
    let noise = [0, 0, 1, bits >> 40][bits as usize % 4];
    let top = [0, !0, !0 << 4, 1][bits as usize / 4 % 4] << (8 * size_of::<K>()).saturating_sub(12);
    of_bits((noise | top) & (sign - 1) | if bits >> 20 & 1 == 0 { 0 } else { sign })
}

/// The sorts of arrays, rows and segments of `K`.
struct Sorts<K>(PhantomData<K>);

impl<K: Key + Sample + Debug> Cases for Sorts<K> {
    /// Sorts to another array and in place, with values of 4 bytes and in place with values of 8,
    /// and sorts indices of both sizes, all in one workspace. Compares every element with the CPU's.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let (rows, columns, lens, keys, order) = match size {
            Size::Keys(rows, columns, keys, order) => (rows, columns, None, keys, order),
            Size::Segments(len, lens, keys, order) => (1, len, Some(lens), keys, order),
            _ => return Err(size.mismatch()),
        };
        let len = rows * columns;
        let input = keys.sample::<K>(len, seed);
        let offsets = lens.map(|lens| lens.offsets(len, seed));
        let case = format!("{size} of {}, seed {seed}", type_name::<K>());
        let (indices, on_cpu): (Vec<u32>, Vec<K>) = if let Some(offsets) = &offsets {
            let indices = argsort_segments_on_cpu(order, &input, offsets);
            (indices, sort_segments_on_cpu(order, &input, offsets))
        } else if rows == 1 {
            (argsort_on_cpu(order, &input), sort_on_cpu(order, &input))
        } else {
            let indices = argsort_rows_on_cpu(order, &input, rows, columns);
            (indices, sort_rows_on_cpu(order, &input, rows, columns))
        };
        // Where each element comes from.
        let from: Vec<usize> = match &offsets {
            None => (0..len).map(|i| i / columns * columns + indices[i] as usize).collect(),
            Some(offsets) => offsets
                .windows(2)
                .flat_map(|pair| (pair[0]..pair[1]).map(move |i| (i as usize, pair[0] as usize)))
                .map(|(i, first)| first + indices[i] as usize)
                .collect(),
        };
        let sorted: Vec<K> = from.iter().map(|&from| input[from]).collect();
        same_bits(&case, "the CPU sorts", &on_cpu, &sorted)?;

        let mut sorter = Sorter::new(device, if lens.is_some() { 0 } else { len })?;
        let segments = offsets.map(|offsets| Segments::new(device, &offsets)).transpose()?;
        macro_rules! sort {
            ($call:ident($($args:expr),*)) => {
                if let Some(segments) = &segments {
                    sorter.segments(segments).$call(order, $($args),*)?
                } else if rows == 1 {
                    sorter.$call(order, $($args),*)?
                } else {
                    sorter.rows(rows, columns).$call(order, $($args),*)?
                }
            };
        }
        let on_device = device.upload(&input)?;
        let mut output = device.alloc(len)?;
        sort!(launch(&on_device, &mut output));
        same_bits(&case, "the sort gives", &output.download()?, &sorted)?;

        let mut in_place = device.upload(&input)?;
        sort!(launch_in_place(&mut in_place));
        same_bits(&case, "the sort in place gives", &in_place.download()?, &sorted)?;

        let values: Vec<u32> = (0..len as u32).map(|index| !index).collect();
        let inverted: Vec<u32> = from.iter().map(|&from| values[from]).collect();
        let (values, mut moved) = (device.upload(&values)?, device.alloc(len)?);
        sort!(launch_pairs((&on_device, &values), (&mut output, &mut moved)));
        same_bits(&case, "the sort of pairs gives", &output.download()?, &sorted)?;
        same_bits(&case, "the sort of pairs moves", &moved.download()?, &inverted)?;

        let wide = |index: usize| index as u64 * 0x1_0000_0003;
        let values: Vec<u64> = (0..len).map(wide).collect();
        let (mut keys, mut values) = (device.upload(&input)?, device.upload(&values)?);
        sort!(launch_pairs_in_place(&mut keys, &mut values));
        same_bits(&case, "the sort of pairs in place gives", &keys.download()?, &sorted)?;
        let moved: Vec<u64> = from.iter().map(|&from| wide(from)).collect();
        same_bits(&case, "the sort of pairs in place moves", &values.download()?, &moved)?;

        let mut narrow = device.alloc::<u32>(len)?;
        sort!(launch_argsort(&on_device, &mut narrow));
        same_bits(&case, "the sort of indices gives", &narrow.download()?, &indices)?;
        let mut wide = device.alloc::<u64>(len)?;
        sort!(launch_argsort(&on_device, &mut wide));
        let indices: Vec<u64> = indices.into_iter().map(u64::from).collect();
        same_bits(&case, "the sort of wide indices gives", &wide.download()?, &indices)?;
        same_bits(&case, "the sort leaves the input", &on_device.download()?, &input)
    }
}

/// The kind of the sorts of arrays of `K`, called `name`, by these kernels.
pub(super) fn kind<K: Key + Sample + Debug>(name: &'static str, kernels: &[&'static str]) -> Kind {
    let shape = Shape { word: size_of::<K>(), payload: 0, is_small: true, is_90: false };
    let cases = Sorts::<K>(PhantomData);
    Kind::of::<K, K>(Primitive::Sort, (name, "sort"), kernels, shape.tile(), cases)
}
