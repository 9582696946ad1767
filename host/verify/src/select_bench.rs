//! Selections with any shape and workspace.

use super::{CaseError, same_bits};
use bytemuck::Pod;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_entries::select::{Arguments, Selectable};
use gridsync_kernels::grid::scan::{STATE, Shape};
use gridsync_kernels::grid::select::{Outputs, WORDS};
use std::fmt::Debug;

/// A selection with any shape for the length of its input, in a workspace for many launches.
pub struct SelectBench<S: Selectable<Element: Pod>> {
    by: S,
    device: Device,
    shape: Shape,
    host: Vec<S::Element>,
    input: Buffer<S::Element>,
    words: Buffer<u64>,
    state: Buffer<u32>,
}

impl<S: Selectable<Element: Pod + Debug> + Debug> SelectBench<S> {
    /// Selects by `by` from `host`, after the launch with the stamp `stamp`.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If `shape` is for another length than `host`.
    pub fn new(
        by: S,
        device: &Device,
        shape: Shape,
        host: Vec<S::Element>,
        stamp: u32,
    ) -> Result<Self, DeviceError> {
        let of_host = Shape::with::<S::Element>(host.len(), shape.warps, shape.rows, shape.group);
        assert_eq!(shape, of_host, "{} elements", host.len());
        let mut state = [0; STATE];
        state[1] = stamp;
        Ok(Self {
            by,
            device: device.clone(),
            shape,
            input: device.upload(&host)?,
            words: device.zeroed(shape.places() * WORDS)?,
            state: device.upload(&state)?,
            host,
        })
    }

    /// Launches once, compares the results with a loop, and returns the resulting stamp.
    ///
    /// # Errors
    /// [`CaseError::Wrong`] if a bit differs, or if the launch changed its counters; or if the
    /// device fails.
    pub fn run(&self) -> Result<u32, CaseError> {
        let (len, shape) = (self.host.len(), self.shape);
        let (kept, rest) = (self.device.alloc(len)?, self.device.alloc(len)?);
        let (positions, count) = (self.device.alloc(len)?, self.device.alloc(1)?);
        let outputs = Outputs {
            kept: kept.view(),
            rest: rest.view(),
            positions: positions.view(),
            count: count.view(),
        };
        let args = self.by.arguments(Arguments {
            input: self.input.view(),
            outputs,
            words: self.words.view(),
            state: self.state.view(),
            rows: shape.rows,
            group: shape.group,
        });
        let geometry = Geometry::new(shape.tiles, shape.threads());
        // SAFETY: the shape fits the input's length, the grid fits the shape, and no word holds a
        // stamp of a later launch. All outlive the launch, because the downloads wait for it.
        unsafe { self.device.launch::<S::Kernel>(&geometry, args)? };

        let is_kept = |&index: &usize| self.by.is_kept(&self.host, index);
        let (inside, outside): (Vec<_>, Vec<_>) = (0..len).partition(is_kept);
        let elements =
            |indices: &[usize]| -> Vec<_> { indices.iter().map(|&i| self.host[i]).collect() };
        let places: Vec<u64> = inside.iter().map(|&index| index as u64).collect();
        let case = format!("{:?} of {len} in {shape:?}", self.by);
        same_bits(&case, "count has", &count.download()?, &[inside.len() as u64])?;
        let part = kept.download_part(0..inside.len())?;
        same_bits(&case, "kept has", &part, &elements(&inside))?;
        let part = rest.download_part(0..outside.len())?;
        same_bits(&case, "rest has", &part, &elements(&outside))?;
        let part = positions.download_part(0..inside.len())?;
        same_bits(&case, "positions has", &part, &places)?;
        let state = self.state.download()?;
        if (state[0], state[2]) != (0, 0) {
            let left = format!("{case}: the launch left {state:?} in its state");
            return Err(CaseError::Wrong(left));
        }
        Ok(state[1])
    }
}
