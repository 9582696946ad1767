//! Kendall's rank correlation, part by part.

use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::kendall::{Correlatable, Correlator, Kendall, KendallError, expect_ranks};

/// Correlates `x` and `y` with `part` places on `device` at a time, two at least: half of them against every
/// other half. The counts, and τ to the bit, are those of the whole. Calls `done` with how many of how
/// many steps are behind.
///
/// All counts are sums over pairs of places. So the pairs between two halves are those of both together
/// less those within each, and need no kernel of their own; n places in halves of h take (n/h)²/2
/// correlations of 2h.
///
/// # Errors
/// [`KendallError`], as for a [`Correlator`].
pub fn kendall_in_parts<T: Correlatable>(
    device: &Device,
    x: &[T],
    y: &[T],
    part: usize,
    mut done: impl FnMut(usize, usize),
) -> Result<Kendall, KendallError> {
    expect_ranks(x, y)?;
    let len = x.len();
    if len <= part {
        let mut correlator = Correlator::new(device, len)?;
        correlator.launch(&device.upload(x)?, &device.upload(y)?)?;
        let all = correlator.result()?;
        done(1, 1);
        return Ok(all);
    }
    let half = (part / 2).max(1);
    let halves: Vec<_> = x.chunks(half).zip(y.chunks(half)).collect();
    let steps = halves.len() * (halves.len() + 1) / 2;
    let mut behind = 0;
    let mut correlator = Correlator::new(device, 2 * half)?;
    let mut count = |[x, y]: &[Buffer<T>; 2]| {
        correlator.launch(x, y)?;
        let kendall = correlator.result()?;
        behind += 1;
        done(behind, steps);
        Ok::<_, KendallError>(counts(&kendall))
    };

    let mut within: Vec<[u64; 4]> = Vec::new();
    let mut all = [0; 4];
    for &(x, y) in &halves {
        let alone = count(&[device.upload(x)?, device.upload(y)?])?;
        // Beside this half, one after the other of those before, which are whole.
        let mut both = [device.alloc(half + x.len())?, device.alloc(half + y.len())?];
        copy(&mut both, half, (x, y))?;
        for (before, within) in halves.iter().zip(&within) {
            copy(&mut both, 0, *before)?;
            let together = count(&both)?;
            all = [0, 1, 2, 3].map(|c| all[c] + together[c] - within[c] - alone[c]);
        }
        all = [0, 1, 2, 3].map(|c| all[c] + alone[c]);
        within.push(alone);
    }
    let [discordant, ties_x, ties_y, ties_both] = all;
    Ok(Kendall::of(
        len as u64, discordant, ties_x, ties_y, ties_both,
    ))
}

/// Copies parts of x and y to where they go on the device.
fn copy<T: Correlatable>(
    [x, y]: &mut [Buffer<T>; 2],
    at: usize,
    (from_x, from_y): (&[T], &[T]),
) -> Result<(), DeviceError> {
    x.copy_part_from(at, from_x)?;
    y.copy_part_from(at, from_y)
}

/// What is counted, in the order that [`Kendall::of`] takes it.
fn counts(kendall: &Kendall) -> [u64; 4] {
    [
        kendall.discordant,
        kendall.ties_x,
        kendall.ties_y,
        kendall.ties_both,
    ]
}
