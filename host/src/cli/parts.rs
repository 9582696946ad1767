//! `--part`: how much of an array is on the device at a time.

use super::Global;
use super::bench::progress;
use super::choice::Place;
use bytemuck::Pod;
use gridsync::data::{Dtype, Incoming};
use gridsync::device::DeviceError;
use gridsync::primitives::parts::that_fit;
use std::num::NonZeroUsize;
use std::time::Instant;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Parts {
    /// Take so many elements through device memory at a time, with what is made of them; the results are
    /// the same, and the time is that of the copies too. Without it: all at once if they fit, else as
    /// many as do. In parts and without --check, scan, select and range-sum hold no more of the files in
    /// host memory either, and their time is that of reading and writing too.
    #[arg(long, value_name = "ELEMENTS")]
    part: Option<NonZeroUsize>,
}

impl Parts {
    /// Elements of a part, unless all `len` are taken at once, as on the CPU; each takes so many bytes of
    /// device memory.
    pub(super) fn of(
        self,
        place: &Place,
        len: usize,
        bytes: usize,
    ) -> Result<Option<usize>, DeviceError> {
        match (place, self.part) {
            (Place::Cpu, _) => Ok(None),
            (Place::Device(_), Some(part)) => Ok(Some(part.get())),
            (Place::Device(device), None) => that_fit(device, len, bytes),
        }
    }

    /// Of `part` elements that the device holds, those that the host is to hold too.
    pub(super) fn to_stream(self, part: usize) -> usize {
        self.part.map_or(part.min(STREAMED), NonZeroUsize::get)
    }
}

/// What is to be said of an array whose elements may be gone.
pub(super) struct About {
    pub(super) dtype: Dtype,
    pub(super) len: usize,
}

/// Elements that are in the memory of the host at a time, unless the user says how many.
const STREAMED: usize = 1 << 26;

/// What `work` gives, and the µs that it took. It tells how far it is of how far, and a bar shows that.
pub(super) fn time_with_bar<R, E>(
    global: &Global,
    work: impl FnOnce(&dyn Fn(usize, usize)) -> Result<R, E>,
) -> Result<(R, f64), E> {
    let bar = progress(global, 0);
    let start = Instant::now();
    let result = work(&|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    })?;
    let us = start.elapsed().as_secs_f64() * 1e6;
    bar.finish_and_clear();
    Ok((result, us))
}

/// Reads the elements of `input`, `part` at a time, and passes them on; tells how far it is of how far.
pub(super) fn each_part<T: Pod>(
    mut input: Incoming,
    part: usize,
    step: &dyn Fn(usize, usize),
    mut take: impl FnMut(&[T]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let len = input.len();
    if len == 0 {
        // It looks whether there is something behind them all the same.
        return Ok(input.next(&mut [])?);
    }
    let mut elements = vec![T::zeroed(); part];
    let mut behind = 0;
    while behind < len {
        let elements = &mut elements[..part.min(len - behind)];
        input.next(bytemuck::cast_slice_mut(elements))?;
        take(elements)?;
        behind += elements.len();
        step(behind, len);
    }
    Ok(())
}
