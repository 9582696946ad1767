//! A selection from file to files, of which the host holds a part at a time, as the device does.

use super::{File, Outcome};
use crate::cli::Global;
use crate::cli::parts::{each_part, time_with_bar};
use bytemuck::Pod;
use gridsync::data::{self, Dtype, Growing, Incoming, Output};
use gridsync::device::Device;
use gridsync::primitives::{PartSelector, Sifted, Wanted};
use gridsync_kernels::entry::select::Selectable;

/// Selects from `input`, `part` elements at a time, into `outputs`, by the options that named them. The time
/// is that of reading and writing too.
pub(super) fn select<S>(
    by: S,
    device: &Device,
    (input, outputs): (Incoming, Vec<(&'static str, Output)>),
    wanted: Wanted,
    part: usize,
    global: &Global,
) -> anyhow::Result<Outcome>
where
    S: Selectable<Element: Pod + data::Scalar>,
{
    let dtype = <S::Element as data::Scalar>::DTYPE;
    let len = input.len();
    let mut kept = 0;
    let mut moved = len * dtype.size();
    let (files, median_us) = time_with_bar(global, |step| {
        let at_once = part.min(len);
        let mut selector = PartSelector::new(by, device, at_once, wanted)?;
        let mut files = outputs
            .into_iter()
            .map(|(name, to)| Written::begin(name, to, dtype))
            .collect::<anyhow::Result<Vec<_>>>()?;
        each_part(input, at_once, step, |elements| {
            let found = selector.next(elements)?;
            kept += found.kept.len();
            moved += size_of_val(&found.kept[..])
                + found.rest.as_deref().map_or(0, size_of_val)
                + found.positions.as_deref().map_or(0, size_of_val);
            files.iter_mut().try_for_each(|file| file.push(&found))
        })?;
        let files = files.into_iter().map(|file| file.finish(len as u64));
        files.collect::<anyhow::Result<Vec<_>>>()
    })?;
    Ok(Outcome {
        kept,
        files,
        check: None,
        median_us,
        gb_per_s: moved as f64 / median_us / 1e3,
        part: Some(part),
    })
}

/// An output that is being written.
struct Written {
    name: &'static str,
    to: Output,
    file: Growing,
    /// Where the run began that is not at its end yet, if lengths of runs are written.
    run: Option<u64>,
}

impl Written {
    fn begin(name: &'static str, to: Output, elements: Dtype) -> anyhow::Result<Self> {
        let dtype = match name {
            "positions" | "counts" => Dtype::U64,
            _ => elements,
        };
        let file = Growing::begin(&to, dtype)?;
        Ok(Self {
            name,
            to,
            file,
            run: None,
        })
    }

    /// Writes what belongs here of that which was found in a part.
    fn push<T: Pod>(&mut self, found: &Sifted<T>) -> anyhow::Result<()> {
        let bytes: &[u8] = match (self.name, &found.rest, &found.positions) {
            ("partition", Some(rest), _) => bytemuck::cast_slice(rest),
            ("positions", _, Some(positions)) => bytemuck::cast_slice(positions),
            ("counts", _, Some(starts)) => {
                let starts = starts.iter();
                let lengths: Vec<u64> = starts
                    .filter_map(|&start| Some(start - self.run.replace(start)?))
                    .collect();
                return Ok(self.file.push(bytemuck::cast_slice(&lengths))?);
            }
            _ => bytemuck::cast_slice(&found.kept),
        };
        Ok(self.file.push(bytes)?)
    }

    /// Ends it, where the array had `len` elements.
    fn finish(mut self, len: u64) -> anyhow::Result<File> {
        if let Some(start) = self.run {
            self.file.push(bytemuck::bytes_of(&(len - start)))?;
        }
        let (dtype, len) = (self.file.dtype(), self.file.len() as usize);
        self.file.finish()?;
        Ok(File {
            to: self.to,
            name: self.name,
            dtype,
            len,
            bytes: None,
        })
    }
}
