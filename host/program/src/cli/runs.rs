//! Sorted runs in a temporary file.

use crate::data::{DataError, Output, Spill};
use bytemuck::Pod;
use gridsync::primitives::parts::Runs;
use std::marker::PhantomData;

/// The sorted parts of an array of `K`, in a temporary file.
pub(super) struct SpilledRuns<K> {
    spill: Spill,
    has_indices: bool,
    /// Where each run is in the file, and its length.
    runs: Vec<(u64, usize)>,
    of: PhantomData<K>,
}

impl<K: Pod> SpilledRuns<K> {
    /// No runs yet. The file is in the folder of `output`.
    pub(super) fn beside(output: Option<&Output>, has_indices: bool) -> Result<Self, DataError> {
        let spill = Spill::beside(output)?;
        Ok(Self { spill, has_indices, runs: Vec::new(), of: PhantomData })
    }

    /// Appends a run: sorted keys, and their indices if they have any.
    pub(super) fn push(&mut self, keys: &[K], indices: &[u64]) -> Result<(), DataError> {
        let at = self.spill.append(bytemuck::cast_slice(keys))?;
        self.spill.append(bytemuck::cast_slice(indices))?;
        self.runs.push((at, keys.len()));
        Ok(())
    }
}

impl<K: Pod> Runs<K> for SpilledRuns<K> {
    type Error = anyhow::Error;

    fn lens(&self) -> Vec<usize> {
        self.runs.iter().map(|&(_, len)| len).collect()
    }

    fn read_keys(&mut self, run: usize, start: usize, to: &mut [K]) -> anyhow::Result<()> {
        let (at, _) = self.runs[run];
        let bytes = (start * size_of::<K>()) as u64;
        Ok(self.spill.read(at + bytes, bytemuck::cast_slice_mut(to))?)
    }

    fn read_indices(&mut self, run: usize, start: usize, to: &mut [u64]) -> anyhow::Result<()> {
        let (at, len) = self.runs[run];
        let bytes = (len * size_of::<K>() + start * size_of::<u64>()) as u64;
        Ok(self.spill.read(at + bytes, bytemuck::cast_slice_mut(to))?)
    }

    fn has_indices(&self) -> bool {
        self.has_indices
    }
}
