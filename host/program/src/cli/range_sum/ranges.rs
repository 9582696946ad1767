//! Range sums, either at once on a device that holds all elements and all prefix sums, or part by
//! part.

use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::memory;
use gridsync::primitives::range_sum::{BadRange, RangeSumError, RangeSums, settle_empty};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{PartRangeSums, RangeSummable, Scanner};
use gridsync::reference;

/// Range sums that are being computed.
pub(super) enum Ranges<'a, O: RangeSummable> {
    InParts(PartRangeSums<'a, O>),
    AtOnce(Box<AtOnce<'a, O>>),
}

pub(super) struct AtOnce<'a, O: RangeSummable> {
    device: Device,
    op: O,
    queries: &'a [[u64; 2]],
    sums: Option<RangeSums<O>>,
    us: f64,
}

impl<'a, O: RangeSummable<Element: Pod, Output: Pod>> Ranges<'a, O> {
    /// The sums of ranges of an array of `len` elements that fits into `device`.
    pub(super) fn on_device(
        op: O,
        device: &Device,
        len: usize,
        queries: &'a [[u64; 2]],
    ) -> Result<Self, RangeSumError> {
        if let Some(query) = reference::first_bad(queries, len) {
            return Err(BadRange::of(query, queries[query], len).into());
        }
        Ok(Self::AtOnce(Box::new(AtOnce {
            device: device.clone(),
            op,
            queries,
            sums: None,
            us: 0.0,
        })))
    }

    /// How many of `len` elements a part has.
    pub(super) fn part(&self, len: usize) -> usize {
        match self {
            Self::InParts(sums) => sums.part(),
            Self::AtOnce(_) => len,
        }
    }

    /// Adds the next part, or all elements.
    pub(super) fn take(&mut self, elements: &[O::Element]) -> anyhow::Result<()> {
        match self {
            Self::InParts(sums) => Ok(sums.next(elements)?),
            Self::AtOnce(at_once) => at_once.scan(elements),
        }
    }

    /// The sums, and the time in µs.
    pub(super) fn sums(self) -> anyhow::Result<(Vec<O::Output>, f64)> {
        match self {
            Self::InParts(sums) => Ok((sums.sums()?, sums.us())),
            Self::AtOnce(at_once) => at_once.query(),
        }
    }
}

impl<O: RangeSummable<Element: Pod, Output: Pod>> AtOnce<'_, O> {
    fn scan(&mut self, elements: &[O::Element]) -> anyhow::Result<()> {
        let input = self.device.upload(elements)?;
        let mut prefixes = self.device.alloc(elements.len())?;
        let mut scanner = Scanner::new(self.op, &self.device, elements.len())?;
        scanner.compile(elements.len())?;
        let form = Form::Inclusive;
        self.us += self.device.time(|| scanner.launch(&input, &mut prefixes, form))?;
        self.sums = Some(RangeSums::from_prefixes(prefixes)?);
        Ok(())
    }

    fn query(self) -> anyhow::Result<(Vec<O::Output>, f64)> {
        let Self { device, queries, .. } = self;
        let mut ranges = match self.sums {
            Some(sums) => sums,
            // The array is empty.
            None => RangeSums::from_prefixes(device.alloc(0)?)?,
        };
        ranges.compile()?;
        let words = device.upload(queries.as_flattened())?;
        let mut on_device = device.alloc(queries.len())?;
        let us = self.us + device.time(|| ranges.launch(&words, &mut on_device))?;
        let mut sums = memory::zeroed(queries.len())?;
        on_device.download_to(0, &mut sums)?;
        settle_empty(queries, &mut sums);
        Ok((sums, us))
    }
}
