//! `--part`: how much of an array is on the device at a time.

use super::Global;
use super::bench::progress;
use super::choice::Place;
use gridsync::device::DeviceError;
use gridsync::primitives::parts::that_fit;
use std::num::NonZeroUsize;
use std::time::Instant;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Parts {
    /// Take so many elements through device memory at a time, with what is made of them; the results are
    /// the same, and the time is that of the copies too. Without it: all at once if they fit, else as
    /// many as do.
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
}

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
