//! A suite of latencies: several designs of one operation of a whole grid, measured at several grid
//! shapes, and a peer.

use super::{Measurement, Peer, PeerError, PeerProgram, Record, SAMPLES, Sampling, Step, Warning};
use gridsync::device::{Device, DeviceError, Geometry, KernelInfo};
use serde_json::json;
use std::collections::HashMap;

/// Rounds of the shorter launch of a slope.
pub const FEW: u32 = 200;
/// Rounds of the longer launch.
pub const MANY: u32 = 2200;

/// Numbers of threads per block that are measured unless others are requested.
pub const THREADS: [u32; 4] = [32, 128, 256, 1024];

/// Numbers of blocks that are measured on a device unless others are requested: a quarter, a half,
/// one, two and four per multiprocessor.
#[must_use]
pub fn default_blocks(multiprocessors: u32) -> [u32; 5] {
    [(1, 4), (1, 2), (1, 1), (2, 1), (4, 1)]
        .map(|(times, over)| (multiprocessors * times / over).max(1))
}

/// Designs of one operation, and its peer.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Name.
    pub name: &'static str,
    /// The designs. To add a design, add a line to its table.
    pub designs: &'static [Design],
    /// The peer.
    pub peer: PeerProgram,
}

/// A design, and the function that measures it.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// Name in records.
    pub name: &'static str,
    pub(super) kernel: KernelInfo,
    pub(super) cluster: Option<u32>,
    pub(super) measure: Measure,
}

/// Measures a design, in clusters of this many blocks if it uses clusters. `None` if the grid
/// cannot be resident.
pub(super) type Measure =
    fn(&Device, Option<u32>, Shape, &Sampling) -> Result<Option<Measurement>, DeviceError>;

impl Design {
    /// The same design in clusters of `blocks` blocks.
    #[must_use]
    pub const fn in_clusters_of(self, blocks: u32) -> Self {
        Self { cluster: Some(blocks), ..self }
    }
}

/// The geometry, or `None` if the grid cannot be resident.
pub(super) fn if_resident(
    geometry: Result<Geometry, DeviceError>,
) -> Result<Option<Geometry>, DeviceError> {
    match geometry {
        Err(error) if does_not_fit(&error) => Ok(None),
        geometry => geometry.map(Some),
    }
}

/// Whether the error means that the grid does not fit, on one GPU or on one of several.
fn does_not_fit(error: &DeviceError) -> bool {
    match error {
        DeviceError::OnGpu { error, .. } => does_not_fit(error),
        DeviceError::GridTooLarge { .. }
        | DeviceError::BadBlock { .. }
        | DeviceError::PartialCluster { .. } => true,
        _ => false,
    }
}

/// Blocks and threads of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
}

impl Shape {
    /// Each of `blocks` with each of `threads`.
    #[must_use]
    pub fn all(blocks: &[u32], threads: &[u32]) -> Vec<Self> {
        blocks
            .iter()
            .flat_map(|&blocks| threads.iter().map(move |&threads| Self { blocks, threads }))
            .collect()
    }
}

/// The result of a run of the suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// A record for each shape that can be resident and each design, ordered by shape.
    pub records: Vec<Record>,
    /// The designs that have no kernel for this device.
    pub absent: Vec<Absent>,
}

/// A design that could not be measured at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// The design.
    pub design: &'static str,
    /// [`DeviceError::UnknownKernel`].
    pub error: DeviceError,
}

impl Suite {
    /// The time of the suite's peer at each of `shapes` that can be resident, µs: the median of
    /// [`SAMPLES`] slopes.
    ///
    /// # Errors
    /// [`PeerError`].
    pub fn peers(&self, shapes: &[Shape]) -> Result<HashMap<Shape, Peer>, PeerError> {
        let sampling = Sampling { at_least: SAMPLES, at_most: SAMPLES, ..Sampling::default() };
        let question = |shape: Shape| format!("{} {}", shape.blocks, shape.threads);
        let questions: Vec<String> = shapes.iter().copied().map(question).collect();
        let rounds = [FEW.to_string(), MANY.to_string()];
        let answers = self.peer.ask(&rounds, &sampling, &questions)?;
        let peer = |&shape: &Shape| {
            let name = self.peer.name;
            let median = answers.times.get(&question(shape))?.median;
            Some((shape, Peer::new(name, median)))
        };
        Ok(shapes.iter().filter_map(peer).collect())
    }

    /// Measures each of `designs`, which belong to this suite, at each of `shapes`: µs per
    /// crossing, back to back. Calls `step` before each point, even if its grid turns out not to
    /// fit, and after each record. `peers` has the times of the peer, from [`peers`](Self::peers).
    ///
    /// At the end the first point is measured again. If it moved, every record gets a
    /// [`Warning::Drift`].
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If [`Sampling::measure`] panics.
    pub fn run(
        &self,
        device: &Device,
        designs: &[Design],
        shapes: &[Shape],
        peers: &HashMap<Shape, Peer>,
        sampling: &Sampling,
        mut step: impl FnMut(Step<'_, (&Design, Shape)>),
    ) -> Result<Run, DeviceError> {
        let (present, absent) =
            part(designs, |design| device.backend().attributes(&design.kernel).map(drop))?;
        let mut records = Vec::new();
        let mut first = None;
        for &shape in shapes {
            for design in &present {
                step(Step::Next((design, shape)));
                let Some(measured) = (design.measure)(device, design.cluster, shape, sampling)?
                else {
                    continue;
                };
                first.get_or_insert((design, shape, measured.time.median));
                let params = json!({ "blocks": shape.blocks, "threads": shape.threads });
                let of = &device.properties().name;
                let record = Record::new(self.name, design.name, of, params, measured)
                    .beside(peers.get(&shape).cloned());
                step(Step::Measured(&record));
                records.push(record);
            }
        }
        if let Some((design, shape, before)) = first
            && let Some(again) = (design.measure)(device, design.cluster, shape, sampling)?
            && let Some(drift) = Warning::drift(before, again.time.median)
        {
            for record in &mut records {
                record.warnings.push(drift);
            }
        }
        Ok(Run { records, absent })
    }
}

/// Separates the designs whose kernel `look` finds from the others.
fn part(
    designs: &[Design],
    look: impl Fn(&Design) -> Result<(), DeviceError>,
) -> Result<(Vec<Design>, Vec<Absent>), DeviceError> {
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    for design in designs {
        match look(design) {
            Ok(()) => present.push(*design),
            Err(error @ DeviceError::UnknownKernel { .. }) => {
                absent.push(Absent { design: design.name, error })
            }
            Err(error) => return Err(error),
        }
    }
    Ok((present, absent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::BARRIER;
    use gridsync::device::{Emulator, EmulatorConfig};

    #[test]
    fn the_blocks_on_an_h200_are_those_of_the_records() {
        assert_eq!(default_blocks(132), [33, 66, 132, 264, 528]);
        assert_eq!(default_blocks(1)[0], 1);
    }

    #[test]
    fn every_design_is_measured_at_every_shape_that_fits() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let sampling = Sampling { at_least: 1, at_most: 1, ..Sampling::default() };
        let shapes = Shape::all(&[4, 1 << 20], &[32]);
        let (mut steps, mut told) = (0, Vec::new());
        let step = |step: Step<'_, (&Design, Shape)>| match step {
            Step::Next(_) => steps += 1,
            Step::Measured(record) => told.push(record.clone()),
        };
        let run = BARRIER
            .run(&device, BARRIER.designs, &shapes, &HashMap::new(), &sampling, step)
            .expect("the emulator should run every design");
        assert_eq!(steps, 2 * BARRIER.designs.len());
        assert_eq!(run.absent, []);
        let times = |records: &[Record]| records.iter().map(|r| r.median).collect::<Vec<_>>();
        assert_eq!(times(&told), times(&run.records), "each as it comes");
        let measured: Vec<_> = run.records.iter().map(|record| record.variant.as_str()).collect();
        let names: Vec<_> = BARRIER.designs.iter().map(|design| design.name).collect();
        assert_eq!(measured, names, "each once: the larger grid does not fit");
        for record in run.records {
            assert_eq!(json!(record.params), json!({ "blocks": 4, "threads": 32 }));
        }
    }

    #[test]
    fn a_design_without_a_kernel_is_left_out_and_a_lost_device_is_an_error() {
        let unknown = DeviceError::UnknownKernel { name: "phase_barrier_only", image: 75 };
        let look = |design: &Design| match design.name {
            "phase" => Err(unknown.clone()),
            _ => Ok(()),
        };
        let (present, absent) =
            part(BARRIER.designs, look).expect("an absent design is no failure");
        assert_eq!(present.len(), BARRIER.designs.len() - 1);
        assert!(matches!(&absent[..], [absent] if absent.design == "phase"));

        let lost = DeviceError::NoSuchDevice { ordinal: 1, count: 1 };
        assert_eq!(part(BARRIER.designs, |_| Err(lost.clone())).map(|_| ()), Err(lost.clone()));
    }
}
