//! The distinct values of an array that is read part by part.

use super::Unique;
use crate::cli::comparisons::{Standard, hold};
use crate::cli::job::{About, Done, Job};
use crate::data::{Incoming, Stored};
use crate::number::Number;
use gridsync::primitives::parts::PartValueCounter;
use gridsync::primitives::sort::Key;

impl Unique {
    /// Counts the values of `input`, about `part` elements at a time. They are `stored` in the output.
    pub(super) fn in_parts<T: Key + Standard + Into<Number>>(
        &self,
        job: &Job<'_>,
        stored: Stored,
        input: Incoming,
        part: usize,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let mut counter = match job.place().device("unique")? {
            None => PartValueCounter::on_cpu(self.order()),
            Some(device) => PartValueCounter::new(self.order(), device, part)?,
        };
        let mut held = Vec::new();
        job.each_part::<T>(input, part, |elements| {
            counter.next(elements)?;
            hold(self.check, &mut held, elements)
        })?;
        let us = counter.us();
        let done = self.checked(job, (about, stored), &held, &counter.found())?;
        Ok(Done { us, part: self.parts.taken(job, part, about.len), ..done })
    }
}
