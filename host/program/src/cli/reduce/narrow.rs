//! `gridsync reduce --op argmin` and `argmax` of narrow integers on the CPU, without widening them.

use super::shown::Shown;
use super::{Found, Given, Reduce, is_index};
use crate::cli::choice::Place;
use crate::cli::job::{About, Done, Job};
use crate::data::{Incoming, Narrow};
use bytemuck::Pod;
use gridsync::memory;
use gridsync::primitives::Checked;
use gridsync::reference::{self, FirstExtreme};
use gridsync_kernels::op::{ArgMax, ArgMin, Indexed};
use std::time::Instant;

impl Reduce {
    /// If the elements can be reduced at the width they have in the file, makes `given.input`
    /// return them at that width, and returns their type.
    pub(super) fn narrow(&self, job: &Job<'_>, given: &mut Given<'_>) -> Option<Narrow> {
        let finds_one = is_index(self.op());
        let is_on_cpu = matches!(job.place(), Place::Cpu);
        if finds_one && is_on_cpu && given.share.is_none() { given.input.narrow() } else { None }
    }

    /// Finds the first extreme of narrow elements.
    pub(super) fn reduce_narrow(
        &self,
        narrow: Narrow,
        job: &Job<'_>,
        input: Incoming,
    ) -> anyhow::Result<Done> {
        macro_rules! first {
            ($ty:ident in $wide:ident) => {
                if self.op() == "argmin" {
                    self.first_extreme(ArgMin::<$wide>::new(), $ty::min, job, input)
                } else {
                    self.first_extreme(ArgMax::<$wide>::new(), $ty::max, job, input)
                }
            };
        }
        match narrow {
            Narrow::I8 => first!(i8 in i32),
            Narrow::I16 => first!(i16 in i32),
            Narrow::U8 => first!(u8 in u32),
            Narrow::U16 => first!(u16 in u32),
        }
    }

    /// Like `op` on the widened elements, part by part. Only a check widens them.
    fn first_extreme<T, W, O>(
        &self,
        op: O,
        extreme: impl Fn(T, T) -> T + Copy + Sync,
        job: &Job<'_>,
        input: Incoming,
    ) -> anyhow::Result<Done>
    where
        T: Pod + Eq + Send + Sync + Into<W>,
        O: Checked<Element = W, Output = Option<Indexed<W>>>,
        O::Output: Shown,
    {
        let (about, len) = (About::of(&input), input.len());
        let part = self.parts.of(job, len, size_of::<T>())?.min(len);
        let taken = self.parts.taken(job, part, len);
        let variant = self.variant(job.place())?;
        let (mut first, mut us) = (FirstExtreme::new(extreme), 0.0);
        let mut checking = self.check.then(|| op.checking(len));
        job.each_part(input, part, |elements: &[T]| {
            let start = Instant::now();
            first.next(elements);
            us += start.elapsed().as_secs_f64() * 1e6;
            if let Some(checking) = &mut checking {
                let mut wide: Vec<W> = Vec::new();
                memory::reserve(&mut wide, elements.len())?;
                wide.extend(elements.iter().map(|&x| x.into()));
                checking.next(&wide);
            }
            Ok(())
        })?;
        let output = first.found().map(|(index, value)| Indexed { value: value.into(), index });
        let depth = reference::reduce_depth::<O>(len);
        let check = checking.map(|checking| checking.check(output, depth));
        Ok(self.done(Found { output, check, about, variant, us, part: taken }))
    }
}
