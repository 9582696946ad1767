//! `--part`: how much of an array is in memory at a time.

use super::axis::{Axis, Matrix};
use super::choice::Place;
use super::exit::Usage;
use super::job::Job;
use super::output;
use gridsync::primitives::parts::that_fit;
use gridsync_lab::count::within;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Parts {
    /// Process this many elements at a time, so that the memory of the device and of the host holds
    /// only these and their results; the results are the same. While a part is computed, the next
    /// one is read and the previous one written. Default: on a device as many as need 32 MiB with
    /// their results, on the CPU 1048576. Rounded so results stay bit-identical; prints a note.
    /// --rows processes whole rows; reduce --rows also pieces of one that is longer. By default sort,
    /// quantile, unique, kendall, and whatever needs the whole array process it at once, if a device
    /// has room.
    #[arg(long, value_name = "ELEMENTS", value_parser = within::<usize>(1..=u64::MAX))]
    part: Option<usize>,
}

/// Elements of a part on the CPU, by default.
const ON_THE_CPU: usize = 1 << 20;

/// Bytes of a part and its results on each device, by default. Copying this much takes a hundred
/// times as long as its launch, and the next part is read at the same time. The host has room for a
/// few of these.
const ON_A_DEVICE: usize = 32 << 20;

impl Parts {
    /// About how many of `len` elements to process at a time. Each needs `bytes` bytes of device
    /// memory.
    pub(super) fn of(self, job: &Job<'_>, len: usize, bytes: usize) -> anyhow::Result<usize> {
        Ok(match (self.part, job.place()) {
            (Some(part), _) => part,
            (None, Place::Cpu) => ON_THE_CPU,
            (None, Place::Devices(devices)) => {
                let streamed = ON_A_DEVICE / bytes.max(1) * devices.len();
                that_fit(devices, len, bytes)?.unwrap_or(len).min(streamed)
            }
        })
    }

    /// Like [`of`](Self::of), for arrays that the host holds whole: all at once if they fit, unless
    /// the user gives a number.
    pub(super) fn of_held(self, job: &Job<'_>, len: usize, bytes: usize) -> anyhow::Result<usize> {
        Ok(match (self.part, job.place()) {
            (Some(part), _) => part,
            (None, Place::Cpu) => len,
            (None, Place::Devices(devices)) => that_fit(devices, len, bytes)?.unwrap_or(len),
        })
    }

    /// Like [`of_held`](Self::of_held), for the lines of a matrix. `None` for all at once, which lines
    /// that interleave need: they are refused with --part.
    pub(super) fn of_lines(
        self,
        job: &Job<'_>,
        (axis, matrix): (Axis, &Matrix),
        bytes: usize,
    ) -> anyhow::Result<Option<usize>> {
        if matrix.interleaves() {
            self.refuse_for(axis.flag())?;
            return Ok(None);
        }
        let len = matrix.len();
        let part = self.of_held(job, len, bytes)?;
        Ok((part < len).then_some(part))
    }

    /// An error if --part is given with `flag`, which needs the whole array.
    pub(super) fn refuse_for(self, flag: &str) -> Result<(), Usage> {
        match self.part {
            None => Ok(()),
            Some(_) => Err(Usage(format!("{flag} needs the whole array: leave out --part"))),
        }
    }

    /// The elements of a part, or `None` if all `len` were processed at once. Prints a note if this
    /// differs from --part.
    pub(super) fn taken(self, job: &Job<'_>, part: usize, len: usize) -> Option<usize> {
        self.taken_because(job, part, len, "so that results stay bit-identical")
    }

    /// Like [`taken`](Self::taken), with the reason for a difference.
    pub(super) fn taken_because(
        self,
        job: &Job<'_>,
        part: usize,
        len: usize,
        why: &str,
    ) -> Option<usize> {
        let taken = (part < len).then_some(part);
        let asked = self.part.filter(|&asked| asked < len && taken != Some(asked));
        if let Some(asked) = asked.filter(|_| !job.global.quiet && !job.global.json) {
            let taken = taken.map_or_else(
                || format!("all {len} elements are processed at once"),
                |part| format!("parts are of {part} elements"),
            );
            output::say(format_args!("gridsync: --part {asked}: {taken}, {why}"));
        }
        taken
    }
}
