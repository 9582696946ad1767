//! The rates of reading an array.

use crate::bench::Spread;
use serde::{Deserialize, Serialize};

/// Bytes of a pack.
pub(super) const PACK_BYTES: usize = 16;

/// The fraction of the best rate at which a curve counts as saturated.
pub(super) const NEARLY: f64 = 0.9;

/// The rate with a number of bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Point {
    /// Threads of a multiprocessor, all resident.
    pub threads: u32,
    /// Packs of 16 bytes that each of them has in flight.
    pub packs_of_16_bytes: u32,
    /// The most bytes that a multiprocessor has in flight.
    pub bytes_in_flight: usize,
    /// The rate of the whole device, GB/s (10⁹ bytes), the median.
    pub gb_per_s: f64,
    /// The least sample.
    pub gb_per_s_min: f64,
    /// The greatest sample.
    pub gb_per_s_max: f64,
}

/// The rates of reading an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Curve {
    /// Bytes of the array.
    pub bytes: usize,
    /// The point with the highest rate.
    pub best: Point,
    /// The fewest bytes in flight on each multiprocessor that reach 90 % of the best rate.
    pub bytes_in_flight_for_90_percent: usize,
    /// The best rate × the latency, for each multiprocessor.
    pub bytes_in_flight_by_littles_law: f64,
    /// All points.
    pub points: Vec<Point>,
}

impl Point {
    /// The rate `gb_per_s` of `threads` threads with `packs` packs each in flight.
    pub(super) const fn new(threads: u32, packs: u32, gb_per_s: Spread) -> Self {
        Self {
            threads,
            packs_of_16_bytes: packs,
            bytes_in_flight: threads as usize * packs as usize * PACK_BYTES,
            gb_per_s: gb_per_s.median,
            gb_per_s_min: gb_per_s.min,
            gb_per_s_max: gb_per_s.max,
        }
    }
}

impl Curve {
    /// The curve of an array of `bytes` bytes, on `multiprocessors` multiprocessors which wait `ns`
    /// nanoseconds for a load.
    ///
    /// # Panics
    /// If the curve has no point.
    #[must_use]
    pub fn of(bytes: usize, points: Vec<Point>, ns: f64, multiprocessors: u32) -> Self {
        let best = points.iter().max_by(|a, b| a.gb_per_s.total_cmp(&b.gb_per_s));
        let best = *best.expect("a curve should have points");
        Self {
            bytes,
            best,
            bytes_in_flight_for_90_percent: in_flight_for(&points, NEARLY * best.gb_per_s),
            bytes_in_flight_by_littles_law: best.gb_per_s * ns / f64::from(multiprocessors),
            points,
        }
    }

    /// The best point for each number of bytes in flight, in ascending order.
    #[must_use]
    pub fn envelope(&self) -> Vec<&Point> {
        envelope(&self.points)
    }
}

fn envelope(points: &[Point]) -> Vec<&Point> {
    let mut points: Vec<&Point> = points.iter().collect();
    points.sort_by(|a, b| {
        a.bytes_in_flight.cmp(&b.bytes_in_flight).then(b.gb_per_s.total_cmp(&a.gb_per_s))
    });
    points.dedup_by_key(|point| point.bytes_in_flight);
    points
}

/// The fewest bytes in flight on each multiprocessor that give `enough` GB/s.
fn in_flight_for(points: &[Point], enough: f64) -> usize {
    let points = envelope(points);
    let first = points.iter().find(|point| point.gb_per_s >= enough);
    first.map_or(0, |point| point.bytes_in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_a_best_point_and_fewest_bytes_in_flight_near_it() {
        let points = [(64, 1, 90.0), (32, 1, 50.0), (32, 2, 95.0), (64, 2, 100.0)];
        let points = points.map(|(threads, packs, rate)| {
            Point::new(threads, packs, Spread::of(vec![rate]).expect("a sample"))
        });
        let curve = Curve::of(1 << 20, points.to_vec(), 600.0, 100);
        assert_eq!((curve.best.threads, curve.best.packs_of_16_bytes), (64, 2));
        let envelope: Vec<_> =
            curve.envelope().iter().map(|point| (point.bytes_in_flight, point.gb_per_s)).collect();
        assert_eq!(envelope, [(512, 50.0), (1024, 95.0), (2048, 100.0)]);
        assert_eq!(curve.bytes_in_flight_for_90_percent, 1024);
        assert_eq!(curve.bytes_in_flight_by_littles_law, 600.0);
        let fewest = [40.0, 96.0].map(|enough| in_flight_for(&curve.points, enough));
        assert_eq!(fewest, [512, 2048]);
    }
}
