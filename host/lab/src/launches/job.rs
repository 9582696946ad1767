//! A form that is ready to run.

use super::form::{Form, Single};
use crate::xpx::{Setup, Wrong, start};
use gridsync::device::{Buffer, Device, DeviceError, Geometry, Graph, KernelInfo};
use gridsync::reference;
use gridsync_lab_kernels::xpx::{xpx_stage, xpx_stage_overlapped};

/// A number of rounds of X→P→X in one form, ready to run, and its memory.
#[derive(Debug)]
pub struct Job {
    device: Device,
    setup: Setup,
    rounds: u32,
    x: Buffer<f32>,
    p: Buffer<f32>,
    work: Work,
}

/// The launches of a job.
#[derive(Debug)]
enum Work {
    /// A launch for each stage; they overlap if the geometry requests it.
    Stages(Geometry),
    /// A graph of these launches.
    Graph(Graph),
    /// One launch, with a barrier.
    Single { single: Single, geometry: Geometry, words: Buffer<u32> },
}

impl Job {
    /// Prepares `rounds` rounds in `form`.
    ///
    /// # Errors
    /// [`DeviceError::GridTooLarge`] if the form has a barrier and its blocks cannot all be
    /// resident; [`DeviceError::UnknownKernel`] or [`DeviceError::Unsupported`] if the form is not
    /// available on this device; or if the device fails.
    pub fn new(
        device: &Device,
        form: Form,
        setup: &Setup,
        rounds: u32,
    ) -> Result<Self, DeviceError> {
        let x = device.upload(&start(setup.elements))?;
        let p = device.zeroed::<f32>(setup.elements)?;
        let plain = Geometry::new(setup.blocks, setup.threads);
        let overlapping = || {
            // A device below 9.0 does not have this kernel. Fail now, not in the first launch.
            let kernel = KernelInfo::of::<xpx_stage_overlapped>();
            device.backend().attributes(&kernel)?;
            Ok::<_, DeviceError>(plain.overlapping())
        };
        let graph = |geometry| device.record(|| launch_stages(device, &geometry, &x, &p, rounds));
        let work = match form {
            Form::Launches => Work::Stages(plain),
            Form::Graph => Work::Graph(graph(plain)?),
            Form::Overlapped => Work::Stages(overlapping()?),
            Form::OverlappedGraph => Work::Graph(graph(overlapping()?)?),
            Form::Barrier(design) => {
                let single = design.single();
                let geometry = (single.geometry)(device, setup.blocks, setup.threads)?;
                let words = (single.words)(device, &geometry)?;
                Work::Single { single, geometry, words }
            }
        };
        Ok(Self { device: device.clone(), setup: *setup, rounds, x, p, work })
    }

    /// Puts all rounds into the stream. They start from the contents of X.
    ///
    /// # Errors
    /// If a launch fails.
    pub fn run(&self) -> Result<(), DeviceError> {
        let Self { device, x, p, .. } = self;
        match &self.work {
            Work::Stages(geometry) => launch_stages(device, geometry, x, p, self.rounds),
            // SAFETY: the graph's launches are those of `launch_stages`, on the buffers of this
            // job, which are freed in stream order.
            Work::Graph(graph) => unsafe { graph.launch() },
            Work::Single { single, geometry, words } => {
                let args = (x.view(), p.view(), words.view(), self.rounds);
                // SAFETY: X and P are two buffers of the same length. The words are those of the
                // design, start at 0 and are used by this job only. All blocks of the geometry are
                // resident. Buffers are freed in stream order, so they outlive the launch.
                unsafe { (single.launch)(device, geometry, args) }
            }
        }
    }

    /// Sets X and P to their initial values, runs all rounds, and compares X with the reference,
    /// bit by bit.
    ///
    /// P initially holds NaN, which stays in all means if a thread reads it too early. Means settle
    /// after some rounds, so an error in a later round may not show here. The tests of the barriers
    /// find those.
    ///
    /// # Errors
    /// If the device fails.
    pub fn check(&mut self) -> Result<Option<Wrong>, DeviceError> {
        let start = start(self.setup.elements);
        self.x.copy_from(&start)?;
        self.p.copy_from(&vec![f32::NAN; start.len()])?;
        self.run()?;
        let expected = reference::xpx(&start, self.rounds);
        Ok(Wrong::of(&self.setup, &self.x.download()?, &expected))
    }
}

/// Launches both stages of each round; they overlap if `geometry` requests it.
fn launch_stages(
    device: &Device,
    geometry: &Geometry,
    x: &Buffer<f32>,
    p: &Buffer<f32>,
    rounds: u32,
) -> Result<(), DeviceError> {
    let stage = if geometry.overlapping {
        Device::launch::<xpx_stage_overlapped>
    } else {
        Device::launch::<xpx_stage>
    };
    for _ in 0..rounds {
        // SAFETY: X and P are two buffers of the same length, freed in stream order. The
        // overlapping kernel waits for the previous launch.
        unsafe {
            stage(device, geometry, (x.view(), p.view()))?;
            stage(device, geometry, (p.view(), x.view()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    #[test]
    fn a_job_with_a_wrong_number_of_rounds_fails_its_check() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let setup = Setup { elements: 96, blocks: 3, threads: 32 };
        let mut job = Job::new(&device, Form::Graph, &setup, 1).expect("it should be recorded");
        assert_eq!(job.check(), Ok(None));
        job.rounds = 2;
        let wrong = job.check().expect("it should run");
        assert_eq!(wrong.map(|wrong| wrong.whole_blocks), Some(3));
    }
}
