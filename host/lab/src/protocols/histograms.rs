//! Histograms.

use super::{Protocol, right};
use gridsync::device::{Device, Geometry};
use gridsync::primitives::histogram::{Bins, Histogram, histogram};
use gridsync_entries::histogram::{Arguments, histogram_numbers_32};
use gridsync_kernels::grid::histogram::{Counts, Layout, Numbers, Sums, THREADS};
use gridsync_verify::CaseError;

/// A protocol for each layout in shared memory.
pub(super) fn all() -> [Protocol; 2] {
    [Protocol::new("histogram/columns", columns), Protocol::new("histogram/half-words", half_words)]
}

/// Counts in two blocks, in words of 64 and of 32 bits. The bins with elements belong to different
/// warps.
fn columns(device: &Device) -> Result<(), CaseError> {
    let bins = Bins::numbers(0..=99).expect("there are bins");
    let input: Vec<u32> = (0..7000).map(|i| i % 3 * 40).collect();
    let expected = bins.count_on_cpu(&input);
    let input = device.upload(&input)?;
    let wide = histogram(&bins, &input)?.download()?;
    let mut narrow = device.alloc::<u32>(bins.len())?;
    Histogram::new(device, bins)?.launch(&input, &mut narrow)?;
    let are_right = narrow.download()?.into_iter().map(u64::from).eq(expected.iter().copied());
    right((!are_right || wide != expected).then(|| "the counts are wrong".to_owned()))
}

/// Counts in two blocks, two bins in a word. The library does so only for more bins and elements than
/// a protocol should have.
fn half_words(device: &Device) -> Result<(), CaseError> {
    const BINS: usize = 100;
    let input: Vec<u32> = (0..4000).map(|i| i % BINS as u32).collect();
    let expected = Bins::numbers(0..=BINS as u32 - 1).expect("there are bins").count_on_cpu(&input);
    let (input, ended) = (device.upload(&input)?, device.zeroed(1)?);
    let (counts, partial) = (device.alloc::<u64>(BINS)?, device.zeroed::<u64>(BINS)?);
    let wide = |view| Counts { narrow: ended.view().part(0, 0), wide: view };
    let layout = Layout::HALVES;
    let args = Arguments {
        input: input.view(),
        sums: Sums {
            counts: wide(counts.view()),
            partial: wide(partial.view()),
            ended: ended.view(),
        },
        bins: BINS as u32,
        layout,
    };
    let geometry = Geometry::new(2, THREADS).with_dynamic_shared(layout.shared_bytes(BINS));
    // SAFETY: there is a count for each bin, partial ones and the number of blocks are zero, and all
    // live until the download.
    unsafe { device.launch::<histogram_numbers_32>(&geometry, (args, Numbers { first: 0 }))? };
    right((counts.download()? != expected).then(|| "the counts are wrong".to_owned()))
}
