//! The result of `gridsync lab memory`.

use super::latencies::{L2, Latency};
use super::lines::Lines;
use super::{Curve, Shared, chart, meaning, tables};
use crate::display::Page;
use crate::display::svg::ChartError;
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Memory {
    /// The name of the device.
    pub device: String,
    /// The clock of a multiprocessor in MHz, as measured.
    pub clock_mhz: f64,
    /// The multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of the L2. 0 if the driver does not report them.
    pub l2_bytes: u32,
    /// GB/s (10⁹ bytes) by clock and width of device memory, if the driver reports them.
    pub peak_gb_per_s: Option<f64>,
    /// The best rate of reading device memory, percent of that.
    pub device_memory_percent_of_peak: Option<f64>,
    /// Latencies, from short to long.
    pub latencies: Vec<Latency>,
    /// Loads of single lines of the L2.
    pub l2_lines: Lines,
    /// Reading device memory.
    pub device_memory: Curve,
    /// Reading the L2.
    pub l2: Curve,
    /// Reading shared memory.
    pub shared_memory: Shared,
}

impl Report for Memory {
    fn page(&self) -> Page {
        let mut page = Page::new(format!(
            "How long does a thread wait for each kind of memory, and how many bytes must be on their \
             way until the rate is highest? On {}, whose clock was {:.0} MHz.",
            self.device, self.clock_mhz
        ));
        page.table(
            "One operation after the other, in one thread or one block:",
            &tables::latencies(&self.latencies),
        );
        page.table(
            &format!(
                "A load of one of {} lines of the L2, in cycles, from two multiprocessors:",
                self.l2_lines.from_one.cycles_of_lines.len()
            ),
            &tables::lines(&self.l2_lines),
        );
        page.table("Reading, with more and more bytes in flight:", &tables::rates(self));
        page.table(
            "The best rates, and what they take on each multiprocessor:",
            &tables::best(self),
        );
        page.table(
            "Reading shared memory, 16 bytes a lane, without bank conflicts:",
            &tables::shared(self),
        );
        for paragraph in meaning::paragraphs(self) {
            page.means(paragraph);
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        Ok(vec![chart::latencies(self)?, chart::lines(self)?, chart::rates(self)?])
    }
}

impl Memory {
    /// The latency with this name.
    pub(super) fn latency(&self, of: &str) -> Option<&Latency> {
        self.latencies.iter().find(|latency| latency.of == of)
    }

    /// The cycles with this name. NaN if they were not measured.
    pub(super) fn cycles(&self, of: &str) -> f64 {
        self.latency(of).map_or(f64::NAN, |latency| latency.cycles)
    }

    /// The latencies of the smaller and the larger array in device memory.
    pub(super) fn arrays(&self) -> Option<[&Latency; 2]> {
        let mut arrays: Vec<_> =
            self.latencies.iter().filter(|latency| latency.bytes > 0).collect();
        arrays.sort_by_key(|latency| latency.bytes);
        arrays.try_into().ok()
    }

    /// The two memories that were read, and the nanoseconds of a single load.
    pub(super) fn curves(&self) -> [(&'static str, &Curve, f64); 2] {
        let ns = |latency: Option<&Latency>| latency.map_or(f64::NAN, |latency| latency.ns);
        let large = self.arrays().map(|[_, large]| large);
        [("device memory", &self.device_memory, ns(large)), ("L2", &self.l2, ns(self.latency(L2)))]
    }
}
