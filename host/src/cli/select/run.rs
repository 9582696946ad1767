//! Selections, timed and checked.

use crate::cli::reduce::median;
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::select::{partition_on_cpu, positions_on_cpu, select_on_cpu};
use gridsync::primitives::{Room, Selector, Sifted, Wanted};
use gridsync_kernels::entry::select::Selectable;
use std::time::Instant;

/// What differs from a loop over the elements, if anything does.
pub(super) fn wrong<S: Selectable<Element: Pod>>(
    by: S,
    input: &[S::Element],
    results: &Sifted<S::Element>,
) -> Option<String> {
    let (mut kept, mut rest, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &element) in input.iter().enumerate() {
        if by.is_kept(input, index) {
            kept.push(element);
            positions.push(index as u64);
        } else {
            rest.push(element);
        }
    }
    let differ = |what, at: Option<usize>| {
        at.map(|at| format!("a loop gives another {what} at {at}, or no such one"))
    };
    differ(
        "element that is kept",
        first_difference(&results.kept, &kept),
    )
    .or_else(|| {
        let got = results.rest.as_ref()?;
        differ("element that is not kept", first_difference(got, &rest))
    })
    .or_else(|| {
        let got = results.positions.as_ref()?;
        differ("position", first_difference(got, &positions))
    })
}

/// Where the first two values stand whose bits differ, or where only one of both goes on.
fn first_difference<A: Pod>(one: &[A], other: &[A]) -> Option<usize> {
    let differ = |(a, b): (&A, &A)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b);
    let at = one.iter().zip(other).position(differ);
    at.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())))
}

/// The results, and the median time of three selections in µs.
pub(super) fn time_on_cpu<S: Selectable>(
    by: S,
    input: &[S::Element],
    wanted: Wanted,
) -> (Sifted<S::Element>, f64) {
    let select = || {
        let positions = wanted.positions.then(|| positions_on_cpu(by, input));
        let (kept, rest) = match wanted.rest {
            true => {
                let [kept, rest] = partition_on_cpu(by, input);
                (kept, Some(rest))
            }
            false => (select_on_cpu(by, input), None),
        };
        Sifted {
            kept,
            rest,
            positions,
        }
    };
    let mut times = Vec::new();
    let mut time = || {
        let start = Instant::now();
        let results = select();
        times.push(start.elapsed().as_secs_f64() * 1e6);
        results
    };
    time();
    time();
    (time(), median(times))
}

/// The results, and the median time of the kernel in µs.
pub(super) fn time_on_device<S: Selectable<Element: Pod>>(
    device: &Device,
    by: S,
    input: &[S::Element],
    wanted: Wanted,
) -> anyhow::Result<(Sifted<S::Element>, f64)> {
    let n = input.len();
    let input = device.upload(input)?;
    let mut room = Room::new(device, n, wanted)?;
    let mut selector = Selector::new(device, n)?;
    let mut launch = || selector.launch_part(by, &input, 0..n, room.to());
    let emulated = device.properties().is_emulated();
    if !emulated {
        // The first launch compiles the kernel.
        launch()?;
    }
    let runs = if emulated { 1 } else { 9 };
    let times = (0..runs).map(|_| device.time(&mut launch));
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((room.download()?, median_us))
}
