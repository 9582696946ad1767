//! Reductions, part by part.

use super::PartError;
use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::Reducer;
use crate::reference::{self, combine_leaves};
use bytemuck::Pod;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, Carried, CompensatedSum, Compose, Count, Indexed, Max, Mean, Min,
    Operation, Or, Product, ProductModulo, Sum, WideSum, Xor,
};
use std::time::Instant;

/// A reduction that an array can go through part by part.
pub trait PartReducible: Reducible {
    /// What `all` would be if its first element were element number `by` of the array instead of
    /// number 0.
    #[must_use]
    fn moved(all: Self::Accumulator, by: u64) -> Self::Accumulator {
        let _ = by;
        all
    }
}

macro_rules! wherever_they_stand {
    ($($op:ident<$($of:ident),*>),*) => {$(
        impl<$($of),*> PartReducible for $op<$($of),*> where Self: Reducible {}
    )*};
}
wherever_they_stand! {
    Sum<T, A>, Product<T, A>, Min<T, A>, Max<T, A>, Count<T>, Xor<T>, And<T>, Or<T>,
    CompensatedSum<T>, ProductModulo<T>, WideSum<T>, Mean<O>
}
impl PartReducible for Compose {}

macro_rules! by_index {
    ($($op:ident),*) => {$(
        impl<T, A> PartReducible for $op<T, A>
        where
            Self: Reducible<Accumulator = Indexed<A>>,
        {
            fn moved(found: Indexed<A>, by: u64) -> Indexed<A> {
                match found.index {
                    // The identity has no place.
                    u64::MAX => found,
                    index => Indexed { index: index + by, ..found },
                }
            }
        }
    )*};
}
by_index!(ArgMin, ArgMax);

/// A reduction of an array that comes part by part, on the CPU or on a device with room for one
/// part.
///
/// The bits are the same as in one reduction of the whole array. Unless the operation is exact, a
/// device takes an array of several parts tile by tile, with a launch for each: so the host gets
/// every leaf of the tree, and combines them.
pub struct PartReducer<O: PartReducible> {
    op: O,
    part: usize,
    on: On<O>,
    us: f64,
}

enum On<O: PartReducible> {
    Device(Box<OnDevice<O>>),
    Cpu(reference::Reduction<O>),
}

struct OnDevice<O: PartReducible> {
    reducer: Reducer<O>,
    elements: Buffer<O::Element>,
    /// Whether the first part is all there is.
    is_whole: bool,
    /// The shape of the whole array.
    shape: Shape,
    /// The result of each launch of a part.
    results: Buffer<u32>,
    /// What has been reduced so far: the leaves of the tree, or, if the operation is exact, one
    /// value for all elements.
    leaves: Vec<O::Accumulator>,
    /// Elements of the parts before.
    taken: usize,
}

impl<O: PartReducible<Element: Pod>> PartReducer<O> {
    /// A reduction of `len` elements on `device`, about `part` of them at a time. Unless the
    /// operation is exact, a part is rounded to a multiple of [`Shape::tile`] of the whole array,
    /// and is at least one tile. An array of up to 4 MiB is taken whole.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(op: O, device: &Device, len: usize, part: usize) -> Result<Self, PartError> {
        let (shape, part) = (Shape::of::<O::Element>(len), rounded::<O>(len, part));
        let launches = match O::EXACT || part == len {
            true => 1,
            false => part / shape.tile::<O::Element>(),
        };
        let reducer = Reducer::with(op, device)?;
        reducer.compile()?;
        let on = OnDevice {
            reducer,
            elements: device.alloc(part)?,
            is_whole: part == len,
            shape,
            results: device.alloc(launches * O::Accumulator::WORDS)?,
            leaves: Vec::new(),
            taken: 0,
        };
        Ok(Self { op, part, on: On::Device(Box::new(on)), us: 0.0 })
    }

    /// A reduction of `len` elements on all cores of the CPU, in parts of the same size.
    #[must_use]
    pub fn on_cpu(op: O, len: usize, part: usize) -> Self {
        Self {
            op,
            part: rounded::<O>(len, part),
            on: On::Cpu(reference::Reduction::new(op, len)),
            us: 0.0,
        }
    }

    /// Elements of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// Takes the next part.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), PartError> {
        self.us += match &mut self.on {
            On::Device(on) => on.next(self.op, elements)?,
            On::Cpu(reduction) => {
                let start = Instant::now();
                reduction.next(elements);
                start.elapsed().as_secs_f64() * 1e6
            }
        };
        Ok(())
    }

    /// µs that the kernels, or the CPU, have taken so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }

    /// The result. All parts have to be taken before.
    #[must_use]
    pub fn finish(self) -> O::Output {
        match self.on {
            On::Cpu(reduction) => reduction.finish(),
            On::Device(on) => self.op.finish_of(on.all(self.op), on.taken as u64),
        }
    }
}

impl<O: PartReducible<Element: Pod>> OnDevice<O> {
    /// Takes the next part, and returns the µs of device time that this took.
    fn next(&mut self, op: O, elements: &[O::Element]) -> Result<f64, DeviceError> {
        let (len, part) = (elements.len(), self.elements.len());
        assert!(len <= part, "{len} elements are no part of {part}");
        if len == 0 {
            return Ok(0.0);
        }
        self.elements.copy_part_from(0, elements)?;
        let (unit, shape) = match O::EXACT || self.is_whole {
            true => (len, Shape::of::<O::Element>(len)),
            false => (self.shape.tile::<O::Element>(), Shape { tiles: 1, ..self.shape }),
        };
        let device = self.elements.device().clone();
        let firsts = (0..len).step_by(unit);
        let us = device.time(|| {
            for (number, first) in firsts.clone().enumerate() {
                let words = O::Accumulator::WORDS;
                let result = self.results.view().part(number * words, words);
                let unit = first..len.min(first + unit);
                // SAFETY: a unit is a whole array of this shape or one of its tiles; the buffer of
                // the words has room for all units of a part, and a dropped buffer waits for the
                // stream.
                unsafe {
                    self.reducer.launch_in(shape, &self.elements, unit, result)?;
                }
            }
            Ok(())
        })?;
        let words = self.results.download()?;
        let found = words.chunks(O::Accumulator::WORDS).zip(firsts).map(|(written, first)| {
            let mut words = [0; 4];
            words[..written.len()].copy_from_slice(written);
            let all = O::Accumulator::from_words(words);
            O::moved(all, (self.taken + first) as u64)
        });
        match O::EXACT {
            true => {
                let before = self.leaves.pop().unwrap_or(op.identity());
                self.leaves = vec![found.fold(before, |all, next| op.combine(all, next))];
            }
            false => self.leaves.extend(found),
        }
        self.taken += len;
        Ok(us)
    }

    /// What all elements combine to.
    fn all(&self, op: O) -> O::Accumulator {
        match &self.leaves[..] {
            [] => op.identity(),
            [all] => *all,
            leaves => combine_leaves(op, self.shape, leaves),
        }
    }
}

/// The elements of a part, when about `part` are asked for.
fn rounded<O: Operation>(len: usize, part: usize) -> usize {
    let shape = Shape::of::<O::Element>(len);
    if shape.leaves_are_strips() {
        // For so few tiles the leaves are strips, which the host does not get. Such an array is
        // small, so it is taken whole.
        return len;
    }
    let unit = match O::EXACT {
        true => 1,
        false => shape.tile::<O::Element>(),
    };
    ((part / unit).max(1) * unit).min(len)
}
