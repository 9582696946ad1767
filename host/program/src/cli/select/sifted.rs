//! Writes the selected elements to the outputs.

use crate::cli::sink::Sink;
use crate::data::Scalar;
use bytemuck::Pod;
use gridsync::memory;
use gridsync::primitives::Sifted;

/// The arrays that are being written.
pub(super) struct Outputs {
    pub(super) kept: Sink,
    pub(super) rest: Option<Sink>,
    pub(super) positions: Option<Sink>,
    /// The lengths of runs.
    pub(super) counts: Option<Sink>,
    /// The start of the run that has not ended yet, if run lengths are written.
    pub(super) run: Option<u64>,
}

impl Outputs {
    /// Writes the results of a part.
    pub(super) fn push<T: Pod + Scalar>(&mut self, found: &Sifted<T>) -> anyhow::Result<()> {
        self.kept.push(&found.kept)?;
        if let (Some(sink), Some(rest)) = (&mut self.rest, &found.rest) {
            sink.push(rest)?;
        }
        if let (Some(sink), Some(positions)) = (&mut self.positions, &found.positions) {
            sink.push(positions)?;
        }
        if let (Some(sink), Some(starts)) = (&mut self.counts, &found.positions) {
            let mut lengths: Vec<u64> = Vec::new();
            memory::reserve(&mut lengths, starts.len())?;
            let ended = starts.iter().filter_map(|&start| Some(start - self.run.replace(start)?));
            lengths.extend(ended);
            sink.push(&lengths)?;
        }
        Ok(())
    }

    /// All arrays, not finished yet. `len` is the number of elements of the input, which ends the
    /// last run.
    pub(super) fn finish(mut self, len: u64) -> anyhow::Result<Vec<Sink>> {
        if let (Some(sink), Some(start)) = (&mut self.counts, self.run) {
            sink.push(&[len - start])?;
        }
        let others = [self.rest, self.positions, self.counts];
        Ok([self.kept].into_iter().chain(others.into_iter().flatten()).collect())
    }
}
