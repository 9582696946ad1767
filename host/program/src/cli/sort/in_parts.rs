//! Sorts of arrays that do not fit in memory: sorted parts go to a temporary file, and are merged on
//! the way to the output.

use super::groups::Groups;
use super::{Lines, Sort};
use crate::cli::comparisons::{Standard, hold, wrong_element, wrong_index};
use crate::cli::job::{About, Done, Job};
use crate::cli::runs::SpilledRuns;
use crate::cli::sink::Sink;
use crate::data::{Dtype, Incoming, Output, Stored};
use bytemuck::Pod;
use gridsync::memory;
use gridsync::primitives::parts::{Merge, PartSorter, Runs};
use gridsync::primitives::sort::Key;

/// Where results go: to the output as they come, or to memory, to be checked before.
enum Results<R> {
    Written(Sink),
    Held(Vec<R>),
}

impl<R: Pod> Results<R> {
    fn push(&mut self, results: &[R]) -> anyhow::Result<()> {
        match self {
            Self::Written(sink) => sink.push_stored(results),
            Self::Held(held) => {
                memory::reserve(held, results.len())?;
                held.extend_from_slice(results);
                Ok(())
            }
        }
    }
}

impl Sort {
    /// Sorts `input`, about `part` elements at a time. They are `stored` in the output.
    pub(super) fn in_parts<T: Key + Standard>(
        &self,
        job: &Job<'_>,
        lines: &Lines,
        stored: Stored,
        input: Incoming,
        part: usize,
    ) -> anyhow::Result<Done> {
        if self.argsort {
            self.in_parts_to::<T, u64>(job, lines, Dtype::I64.into(), input, part)
        } else {
            self.in_parts_to::<T, T>(job, lines, stored, input, part)
        }
    }

    /// The same, with results of `R`: elements or indices.
    fn in_parts_to<T: Key + Standard, R: Pod>(
        &self,
        job: &Job<'_>,
        lines: &Lines,
        stored: Stored,
        input: Incoming,
        part: usize,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let mut held = Vec::new();
        let mut results: Results<R> = if self.check {
            Results::Held(Vec::new())
        } else {
            Results::Written(Sink::of_shape(&self.output, stored, lines.matrix.shape())?)
        };
        let (us, part, why) = if lines.matrix.along().is_some() {
            let (us, part) = self.rows(job, lines, input, part, &mut held, &mut results)?;
            (us, part, "so that rows are whole")
        } else {
            let (us, part) = self.merge(job, input, part, &mut held, &mut results)?;
            (us, part, "since a merge holds some elements of each part")
        };
        let part = self.parts.taken_because(job, part, about.len, why);
        let done = match results {
            Results::Written(sink) => {
                let done = self.report(job, about, lines, None);
                Done { arrays: vec![sink], ..done }
            }
            Results::Held(results) if self.argsort => {
                let indices = bytemuck::cast_slice(&results);
                let wrong =
                    || lines.wrong(&held, indices, |of, by| Ok(wrong_index(self.order(), of, by)));
                self.done(job, (about, lines), stored, &results, wrong)?
            }
            Results::Held(results) => {
                let sorted: &[T] = bytemuck::cast_slice(&results);
                let wrong = || {
                    lines.wrong(&held, sorted, |of, found| wrong_element(self.order(), of, found))
                };
                self.done(job, (about, lines), stored, &results, wrong)?
            }
        };
        let bytes = about.len * (size_of::<T>() + size_of::<R>());
        Ok(Done { us, bytes, part, ..done })
    }

    /// Sorts the rows, some at a time. Returns the time in µs and the elements of a part.
    fn rows<T: Key, R: Pod>(
        &self,
        job: &Job<'_>,
        lines: &Lines,
        input: Incoming,
        part: usize,
        held: &mut Vec<T>,
        results: &mut Results<R>,
    ) -> anyhow::Result<(f64, usize)> {
        let (device, order) = (job.place().device("sort")?, self.order());
        let columns = lines.matrix.size().1.max(1);
        let part = lines.matrix.whole_rows(part);
        let mut us = 0.0;
        job.each_part::<T>(input, part, |rows| {
            let of_rows = Groups::Rows(columns);
            let more = if self.argsort {
                let (indices, more) = of_rows.indices(device, order, rows)?;
                results.push(bytemuck::cast_slice(&indices))?;
                more
            } else {
                let (sorted, more) = of_rows.sorted(device, order, rows)?;
                results.push(bytemuck::cast_slice(&sorted))?;
                more
            };
            us += more;
            hold(self.check, held, rows)
        })?;
        Ok((us, part))
    }

    /// Sorts the parts, and merges them. Returns the time in µs and the elements of a part.
    fn merge<T: Key, R: Pod>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        part: usize,
        held: &mut Vec<T>,
        results: &mut Results<R>,
    ) -> anyhow::Result<(f64, usize)> {
        let mut sorter = match job.place().device("sort")? {
            None => PartSorter::on_cpu(self.order()),
            Some(device) => PartSorter::new(self.order(), device)?,
        };
        let len = input.len();
        let part = PartSorter::<T>::part(len, part);
        let mut runs = SpilledRuns::beside(Some(&Output::parse(&self.output)), self.argsort)?;
        let (mut keys, mut indices, mut taken) = (Vec::new(), Vec::new(), 0);
        job.doing("sorting parts");
        job.each_part::<T>(input, part, |elements| {
            keys.clear();
            memory::reserve(&mut keys, elements.len())?;
            keys.extend_from_slice(elements);
            if self.argsort {
                indices.clear();
                memory::reserve(&mut indices, elements.len())?;
                indices.extend(taken..taken + elements.len() as u64);
                sorter.sort_pairs(&mut keys, &mut indices)?;
            } else {
                sorter.sort(&mut keys)?;
            }
            runs.push(&keys, &indices)?;
            taken += elements.len() as u64;
            hold(self.check, held, elements)
        })?;
        drop((keys, indices));
        job.doing("merging");
        let mut merge = Merge::new(&runs.lens(), part);
        let mut merged = 0;
        while let Some((keys, indices)) = merge.next(&mut sorter, &mut runs)? {
            merged += keys.len();
            if self.argsort {
                results.push(bytemuck::cast_slice(indices))?;
            } else {
                results.push(bytemuck::cast_slice(keys))?;
            }
            job.step(merged, len);
        }
        Ok((sorter.us(), part))
    }
}
