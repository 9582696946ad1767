//! `--part`: how much of an array is in memory at a time.

use super::choice::Place;
use super::count::within;
use super::job::Job;
use gridsync::primitives::parts::that_fit;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Parts {
    /// Take so many elements at a time through the memory of the device and of the host, with what
    /// is made of them; the results are the same. Without it: all at once on a device if they fit,
    /// else as many as do; on the CPU about 1048576. Parts are rounded to what leaves every bit as
    /// it is, which is said. --check holds all of the array in host memory, and kendall does in any
    /// case.
    #[arg(long, value_name = "ELEMENTS", value_parser = within::<usize>(1..=u64::MAX))]
    part: Option<usize>,
}

/// Elements of a part on the CPU, unless the user says how many.
const ON_THE_CPU: usize = 1 << 20;

/// The most elements of a part if a device cannot hold the whole array, unless the user says how
/// many. The part is in the memory of the host too.
const STREAMED: usize = 1 << 26;

impl Parts {
    /// About how many of `len` elements to take at a time. Each takes `bytes` bytes of device
    /// memory.
    pub(super) fn of(self, job: &Job<'_>, len: usize, bytes: usize) -> anyhow::Result<usize> {
        Ok(match (self.part, job.place()?) {
            (Some(part), _) => part,
            (None, Place::Cpu) => ON_THE_CPU,
            (None, Place::Devices(devices)) => match that_fit(devices, len, bytes)? {
                Some(fit) => fit.min(STREAMED),
                None => len,
            },
        })
    }

    /// Like [`of`](Self::of), for arrays that the host holds whole: the CPU takes all at once,
    /// unless the user says how many.
    pub(super) fn of_held(self, job: &Job<'_>, len: usize, bytes: usize) -> anyhow::Result<usize> {
        match (self.part, job.place()?) {
            (None, Place::Cpu) => Ok(len),
            _ => self.of(job, len, bytes),
        }
    }

    /// The elements of a part. None if all `len` were taken at once. Tells the user if this differs
    /// from --part.
    pub(super) fn taken(self, job: &Job<'_>, part: usize, len: usize) -> Option<usize> {
        let taken = (part < len).then_some(part);
        let asked = self.part.filter(|&asked| asked < len && taken != Some(asked));
        if let Some(asked) = asked.filter(|_| !job.global.quiet && !job.global.json) {
            let taken = taken.map_or_else(
                || format!("all {len} elements are taken at once"),
                |part| format!("parts are of {part} elements"),
            );
            eprintln!("gridsync: --part {asked}: {taken}, so that the bits are those of the whole");
        }
        taken
    }
}
