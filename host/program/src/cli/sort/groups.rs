//! The groups of elements that are sorted separately: all of an array, its rows, or its segments.

use crate::cli::job;
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::sort::{
    Key, Order, RowSorter, Segments, Sorter, argsort_on_cpu, argsort_rows_on_cpu,
    argsort_segments_on_cpu, sort_on_cpu, sort_rows_on_cpu, sort_segments_on_cpu,
};

/// Elements that are sorted together.
#[derive(Clone, Copy)]
pub(super) enum Groups<'a> {
    /// All.
    Whole,
    /// Each row of so many elements.
    Rows(usize),
    /// Each segment between two offsets.
    Segments(&'a [u64]),
}

impl Groups<'_> {
    /// Rows of `input`, and the elements of each.
    fn rows<T>(self, input: &[T]) -> (usize, usize) {
        match self {
            Self::Rows(columns) => (input.len().checked_div(columns).unwrap_or(0), columns),
            Self::Whole | Self::Segments(_) => (1, input.len()),
        }
    }

    /// Elements of the longest group.
    fn longest<T>(self, input: &[T]) -> usize {
        match self {
            Self::Segments(offsets) => {
                let lens = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                lens.max().unwrap_or(0) as usize
            }
            Self::Whole | Self::Rows(_) => self.rows(input).1,
        }
    }

    /// The elements of each group in the order, and the time of the sort in µs. `None` is the CPU.
    pub(super) fn sorted<T: Key>(
        self,
        device: Option<&Device>,
        order: Order,
        input: &[T],
    ) -> anyhow::Result<(Vec<T>, f64)> {
        if let Some(device) = device {
            return self.on_device(device, input, |mut sorter, input, sorted| {
                sorter.launch(order, input, sorted)
            });
        }
        // A row is sorted by its indices.
        let indices = 4 * size_of::<u64>() * self.longest(input);
        let bytes = size_of_val(input).saturating_add(match self {
            Self::Whole => size_of_val(input),
            Self::Rows(_) | Self::Segments(_) => indices,
        });
        let (rows, columns) = self.rows(input);
        Ok(job::on_cpu(bytes, || match self {
            Self::Whole => sort_on_cpu(order, input),
            Self::Rows(_) => sort_rows_on_cpu(order, input, rows, columns),
            Self::Segments(offsets) => sort_segments_on_cpu(order, input, offsets),
        })?)
    }

    /// The indices of the elements of each group, from 0, in the order of the elements, and the time
    /// of the sort in µs.
    pub(super) fn indices<T: Key>(
        self,
        device: Option<&Device>,
        order: Order,
        input: &[T],
    ) -> anyhow::Result<(Vec<u64>, f64)> {
        if let Some(device) = device {
            return self.on_device(device, input, |mut sorter, input, indices| {
                sorter.launch_argsort(order, input, indices)
            });
        }
        let (rows, columns) = self.rows(input);
        Ok(job::on_cpu(4 * size_of::<u64>() * input.len(), || match self {
            Self::Whole => argsort_on_cpu(order, input),
            Self::Rows(_) => argsort_rows_on_cpu(order, input, rows, columns),
            Self::Segments(offsets) => argsort_segments_on_cpu(order, input, offsets),
        })?)
    }

    /// The results of `launch` on a device, and the time of its kernels in µs.
    fn on_device<T: Key, R: Pod + Scalar>(
        self,
        device: &Device,
        input: &[T],
        launch: impl Fn(RowSorter<'_, T>, &Buffer<T>, &mut Buffer<R>) -> Result<(), DeviceError>,
    ) -> anyhow::Result<(Vec<R>, f64)> {
        let (rows, columns) = self.rows(input);
        let segments = match self {
            Self::Segments(offsets) => Some(Segments::new(device, offsets)?),
            Self::Whole | Self::Rows(_) => None,
        };
        let input = device.upload(input)?;
        let mut output = device.alloc(input.len())?;
        let mut sorter = Sorter::new(device, 0)?;
        let mut launch = || match &segments {
            Some(segments) => launch(sorter.segments(segments), &input, &mut output),
            None => launch(sorter.rows(rows, columns), &input, &mut output),
        };
        // The first one allocates, and compiles the kernels.
        if !device.properties().is_emulated() {
            launch()?;
        }
        let us = device.time(launch)?;
        let mut results = memory::zeroed(input.len())?;
        output.download_to(0, &mut results)?;
        Ok((results, us))
    }
}

/// The first place in `results` that is wrong, given a function that finds that of a segment.
pub(super) fn wrong_in_segments<T, R>(
    offsets: &[u64],
    input: &[T],
    results: &[R],
    wrong: impl Fn(&[T], &[R]) -> Result<Option<usize>, NoRoom>,
) -> Result<Option<usize>, NoRoom> {
    for pair in offsets.windows(2) {
        let segment = pair[0] as usize..pair[1] as usize;
        if let Some(at) = wrong(&input[segment.clone()], &results[segment.clone()])? {
            return Ok(Some(segment.start + at));
        }
    }
    Ok(None)
}
