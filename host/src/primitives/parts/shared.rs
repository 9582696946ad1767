//! A part of an array that several reductions share.

use super::PartError;
use super::leaves::Cut;
use super::together::{of_gpu, on_each};
use crate::device::{Buffer, Devices};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::reduce::Shape;
use std::ops::Range;

/// Room for one part of an array, on the CPU or on the devices that share the part. Several
/// reductions of elements of one type can share it, so that each part is uploaded once:
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::op::{Max, Sum};
/// use gridsync::primitives::parts::SharedPart;
/// use gridsync::primitives::{PartError, PartReducer};
///
/// # fn main() -> Result<(), PartError> {
/// let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
/// let mut room = SharedPart::new(&Device::emulator(), numbers.len(), 500)?;
/// let mut sum = PartReducer::sharing(Sum::<f32>::new(), &room)?;
/// let mut max = PartReducer::sharing(Max::<f32>::new(), &room)?;
/// for elements in numbers.chunks(room.part()) {
///     let part = room.upload(elements)?;
///     sum.next_uploaded(&part)?;
///     max.next_uploaded(&part)?;
/// }
/// assert_eq!((sum.finish(), max.finish()), (500_500.0, 1000.0));
/// # Ok(())
/// # }
/// ```
pub struct SharedPart<T> {
    /// How the whole array may be cut.
    cut: Cut,
    part: usize,
    on: Option<OnDevices<T>>,
}

struct OnDevices<T> {
    devices: Devices,
    /// Room for the share of each.
    each: Vec<Buffer<T>>,
}

impl<T: Scalar + Pod> SharedPart<T> {
    /// Room on `devices` for about `part` elements of an array of `len`. They are rounded to a
    /// multiple of a [`tile`](Shape::tile), as for a [`PartReducer`](super::PartReducer) whose
    /// operation is not exact.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(devices: impl Into<Devices>, len: usize, part: usize) -> Result<Self, PartError> {
        Self::of_run(devices.into(), Cut::between_tiles::<T>(len), &(0..len), part)
    }

    /// The same for reductions on all cores of the CPU, where nothing is uploaded.
    #[must_use]
    pub fn on_cpu(len: usize, part: usize) -> Self {
        Self::of_run_on_cpu(Cut::between_tiles::<T>(len), &(0..len), part)
    }

    /// Room for a part of the elements `run`.
    pub(super) fn of_run(
        devices: Devices,
        cut: Cut,
        run: &Range<usize>,
        part: usize,
    ) -> Result<Self, PartError> {
        let mut room = Self::of_run_on_cpu(cut, run, part);
        let longest = room.longest_on_each(devices.len());
        let each = devices.each(|_, device| device.alloc(longest))?;
        room.on = Some(OnDevices { devices, each });
        Ok(room)
    }

    /// The same on the CPU.
    pub(super) fn of_run_on_cpu(cut: Cut, run: &Range<usize>, part: usize) -> Self {
        Self { cut, part: rounded::<T>(cut, run, part), on: None }
    }

    /// Length of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// Length of the whole array.
    pub(super) fn array(&self) -> usize {
        self.cut.len()
    }

    /// The devices, unless this is the CPU.
    pub(super) fn devices(&self) -> Option<&Devices> {
        self.on.as_ref().map(|on| &on.devices)
    }

    /// The most elements of a part that one of `count` devices gets.
    pub(super) fn longest_on_each(&self, count: usize) -> usize {
        Cut::in_units(self.part, self.cut.unit()).longest(count)
    }

    /// Copies the next part to the devices.
    ///
    /// # Errors
    /// If a device fails.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn upload<'a>(&'a mut self, elements: &'a [T]) -> Result<Uploaded<'a, T>, PartError> {
        let (len, part) = (elements.len(), self.part);
        assert!(len <= part, "{len} elements are not a part of {part}");
        if let Some(OnDevices { each, .. }) = &mut self.on {
            let count = each.len();
            let runs = Cut::in_units(len, self.cut.unit()).runs(elements, count);
            let shares = each.iter_mut().zip(runs).enumerate();
            let shares = shares.filter(|(_, (_, (run, _)))| !run.is_empty());
            on_each(shares, |(gpu, (room, (_, elements)))| {
                let copied = room.copy_part_from(0, elements);
                copied.map_err(|error| of_gpu(error, (gpu, count), room.device()))
            })?;
        }
        Ok(Uploaded { room: self, elements })
    }
}

/// A part that all reductions of a [`SharedPart`] can get.
pub struct Uploaded<'a, T> {
    room: &'a SharedPart<T>,
    elements: &'a [T],
}

impl<'a, T: Scalar + Pod> Uploaded<'a, T> {
    /// The elements, on the host.
    #[must_use]
    pub fn elements(&self) -> &'a [T] {
        self.elements
    }

    /// Where they are.
    pub(super) fn room(&self) -> &'a SharedPart<T> {
        self.room
    }

    /// The elements that each device has, and where.
    pub(super) fn runs(&self) -> impl Iterator<Item = (Range<usize>, &'a Buffer<T>)> {
        let each = self.room.on.as_ref().map_or(&[][..], |on| &on.each);
        let cut = Cut::in_units(self.elements.len(), self.room.cut.unit());
        let count = each.len();
        each.iter().enumerate().map(move |(number, on)| (cut.run(number, count), on))
    }
}

/// The length of a part of `run`, if about `part` elements are requested. Small arrays are not
/// split.
fn rounded<T: Scalar>(cut: Cut, run: &Range<usize>, part: usize) -> usize {
    let (len, unit) = (cut.len(), cut.unit());
    let is_small = Shape::of::<T>(len).leaves_are_strips();
    let between = |at: usize| at == len || at.is_multiple_of(unit);
    assert!(
        run.start <= run.end && run.end <= len && between(run.start) && between(run.end),
        "a run {run:?} of {len} elements in units of {unit}"
    );
    if is_small || part >= run.len() {
        run.len()
    } else {
        (part / unit).max(1).saturating_mul(unit).min(run.len())
    }
}
