//! Kendall's rank correlation, part by part.

use super::together::{at_once, on_each};
use crate::device::{Buffer, Device, Devices};
use crate::memory::{self, NoRoom};
use crate::primitives::kendall::{Correlatable, Correlator, Kendall, KendallError, expect_ranks};
use crate::reference;
use bytemuck::Pod;
use std::time::Instant;

/// Correlates host arrays on a device or on the CPU, with one part of their elements in its memory
/// at a time: each half of a part with every other half. The counts, and the bits of τ, are the
/// same as for the whole arrays at once.
///
/// All counts are sums over pairs of indices. So the count between two halves is the count of both
/// together minus the counts within each, and needs no separate kernel. n elements in halves of h
/// need (n/h)²/2 correlations of 2h elements. Several devices share them.
pub struct PartCorrelator<T> {
    part: usize,
    on: On<T>,
    /// Whether some of the devices are the same GPU.
    share: bool,
    us: f64,
}

enum On<T> {
    Devices(Vec<OnDevice<T>>),
    Cpu,
}

struct OnDevice<T> {
    device: Device,
    correlator: Correlator<T>,
    /// Two halves: one, followed by the half that it is correlated with.
    both: [Buffer<T>; 2],
}

/// Parts of x and of y.
type Places<'a, T> = (&'a [T], &'a [T]);

impl<T: Correlatable> PartCorrelator<T> {
    /// Plans for arrays of `len` elements. About `part` elements, and at least two, go to each of
    /// `devices` at a time. Arrays of a single part are correlated by one device alone: sorting
    /// them whole is less work than all pairs of their halves.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(devices: impl Into<Devices>, len: usize, part: usize) -> Result<Self, KendallError> {
        let (part, devices) = (rounded(len, part), devices.into());
        let mut each = Vec::new();
        for device in &devices {
            let mut correlator = Correlator::new(device, part)?;
            correlator.compile(part)?;
            let both = [device.alloc(0)?, device.alloc(0)?];
            each.push(OnDevice { device: device.clone(), correlator, both });
            if part >= len {
                break;
            }
        }
        Ok(Self { part, on: On::Devices(each), share: devices.sharing() > 1, us: 0.0 })
    }

    /// The same plan on all cores of the CPU.
    #[must_use]
    pub fn on_cpu(len: usize, part: usize) -> Self {
        Self { part: rounded(len, part), on: On::Cpu, share: false, us: 0.0 }
    }

    /// Elements that are correlated at a time.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }

    /// Correlates `x` and `y`. Calls `done` with the number of completed steps and of all steps.
    ///
    /// # Errors
    /// [`KendallError`]; a NaN is refused.
    pub fn correlate(
        &mut self,
        x: &[T],
        y: &[T],
        mut done: impl FnMut(usize, usize),
    ) -> Result<Kendall, KendallError> {
        expect_ranks(x, y)?;
        if x.len() <= self.part {
            let all = self.alone((x, y))?;
            done(1, 1);
            return Ok(all);
        }
        let half = self.part / 2;
        let halves: Vec<_> = x.chunks(half).zip(y.chunks(half)).collect();
        let steps = halves.len() * (halves.len() + 1) / 2;
        let mut step_number = 0;
        let mut within: Vec<[u64; 4]> = Vec::new();
        let mut all = [0; 4];
        for (number, &last) in halves.iter().enumerate() {
            let alone = counts(&self.alone(last)?);
            step_number += 1;
            done(step_number, steps);
            let at_once = self.at_once();
            let before = halves[..number].chunks(at_once).zip(within.chunks(at_once));
            for (before, within) in before {
                let together = self.together(last, before.iter().copied())?;
                for (together, within) in together.iter().map(counts).zip(within) {
                    all = [0, 1, 2, 3].map(|c| all[c] + together[c] - within[c] - alone[c]);
                    step_number += 1;
                    done(step_number, steps);
                }
            }
            all = [0, 1, 2, 3].map(|c| all[c] + alone[c]);
            within.push(alone);
        }
        let [discordant, ties_x, ties_y, ties_both] = all;
        let len = x.len() as u64;
        Ok(Kendall::of(len, discordant, ties_x, ties_y, ties_both))
    }

    /// Number of correlations that run at the same time.
    fn at_once(&self) -> usize {
        match &self.on {
            On::Devices(each) => each.len(),
            On::Cpu => 1,
        }
    }

    /// Correlates a half alone. If it is one of several, every device keeps it for
    /// [`together`](Self::together).
    fn alone(&mut self, half: Places<'_, T>) -> Result<Kendall, KendallError> {
        let (kendall, us) = match &mut self.on {
            On::Devices(each) => {
                let room = self.part / 2;
                if half.0.len() <= room {
                    on_each(each.iter_mut(), |on| on.keep(half, room))?;
                }
                each[0].alone(half)?
            }
            On::Cpu => on_cpu(half)?,
        };
        self.us += us;
        Ok(kendall)
    }

    /// Correlates the half of the last [`alone`](Self::alone) call, `last`, together with each of
    /// those before it: at most as many as there are devices.
    fn together<'a>(
        &mut self,
        last: Places<'_, T>,
        before: impl Iterator<Item = Places<'a, T>>,
    ) -> Result<Vec<Kendall>, KendallError> {
        let found = match &mut self.on {
            On::Devices(each) => {
                on_each(each.iter_mut().zip(before), |(on, before)| on.together(before))?
            }
            On::Cpu => {
                let with_last = |before: Places<'_, T>| {
                    let [x, y] = [joined(before.0, last.0)?, joined(before.1, last.1)?];
                    on_cpu((&x, &y))
                };
                before.map(with_last).collect::<Result<_, _>>()?
            }
        };
        self.us += at_once(found.iter().map(|(_, us)| *us), self.share);
        Ok(found.into_iter().map(|(kendall, _)| kendall).collect())
    }
}

impl<T: Correlatable> OnDevice<T> {
    /// Correlates a half.
    fn alone(&mut self, (x, y): Places<'_, T>) -> Result<(Kendall, f64), KendallError> {
        let alone = [self.device.upload(x)?, self.device.upload(y)?];
        self.count(&alone)
    }

    /// Keeps a half for [`together`](Self::together), with room for another before it.
    fn keep(&mut self, (x, y): Places<'_, T>, room: usize) -> Result<(), KendallError> {
        for (both, half) in self.both.iter_mut().zip([x, y]) {
            *both = self.device.alloc(room + half.len())?;
            both.copy_part_from(room, half)?;
        }
        Ok(())
    }

    /// Correlates the half that it [keeps](Self::keep) together with one `before` it, which has
    /// full length.
    fn together(&mut self, (x, y): Places<'_, T>) -> Result<(Kendall, f64), KendallError> {
        let [both_x, both_y] = &mut self.both;
        both_x.copy_part_from(0, x)?;
        both_y.copy_part_from(0, y)?;
        let both =
            std::mem::replace(&mut self.both, [self.device.alloc(0)?, self.device.alloc(0)?]);
        let found = self.count(&both);
        self.both = both;
        found
    }

    /// Correlates the data on the device. Also returns the device time in µs.
    fn count(&mut self, [x, y]: &[Buffer<T>; 2]) -> Result<(Kendall, f64), KendallError> {
        let mut refused = None;
        let us = self.device.time(|| match self.correlator.launch(x, y) {
            Ok(()) => Ok(()),
            Err(KendallError::Device(error)) => Err(error),
            Err(error) => {
                refused = Some(error);
                Ok(())
            }
        })?;
        match refused {
            Some(error) => Err(error),
            None => Ok((self.correlator.result()?, us)),
        }
    }
}

/// Correlates on the CPU. Also returns the time in µs.
fn on_cpu<T: Correlatable>((x, y): Places<'_, T>) -> Result<(Kendall, f64), KendallError> {
    // Memory for the elements of both, and for one more array to merge into.
    memory::probe(x.len().saturating_mul(4 * size_of::<T>()))?;
    let start = Instant::now();
    let kendall = reference::kendall(x, y);
    Ok((kendall, start.elapsed().as_secs_f64() * 1e6))
}

/// The number of elements per part, out of `len`: an even number, or all.
fn rounded(len: usize, part: usize) -> usize {
    if part >= len { len } else { (part & !1).max(2) }
}

/// Concatenates both pieces.
fn joined<T: Pod>(first: &[T], last: &[T]) -> Result<Vec<T>, NoRoom> {
    let mut all = Vec::new();
    memory::reserve(&mut all, first.len() + last.len())?;
    all.extend_from_slice(first);
    all.extend_from_slice(last);
    Ok(all)
}

/// Correlates `x` and `y` with `part` elements on each of `devices` at a time, like a
/// [`PartCorrelator`]. Calls `done` with the number of completed steps and of all steps.
///
/// # Errors
/// As for [`PartCorrelator`].
pub fn kendall_in_parts<T: Correlatable>(
    devices: impl Into<Devices>,
    x: &[T],
    y: &[T],
    part: usize,
    done: impl FnMut(usize, usize),
) -> Result<Kendall, KendallError> {
    PartCorrelator::new(devices, x.len(), part)?.correlate(x, y, done)
}

/// The counts, in the order of the arguments of [`Kendall::of`].
fn counts(kendall: &Kendall) -> [u64; 4] {
    [kendall.discordant, kendall.ties_x, kendall.ties_y, kendall.ties_both]
}
