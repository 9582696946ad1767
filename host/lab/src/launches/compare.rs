//! The time of each form at one shape.

use super::cost::{self, Prediction, Terms};
use super::form::Form;
use super::job::Job;
use crate::ExperimentError;
use crate::bench::{Measurement, Record, Sampling, Times, Warning, once};
use crate::xpx::{Setup, Wrong};
use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Plan, plan};
use gridsync_lab_kernels::xpx::{xpx_grid_barrier_alone, xpx_stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An error from a comparison.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchesError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A form gives a wrong result, so its time is meaningless.
    #[error(
        "the form {} is wrong at {} blocks of {} threads: {} of {} elements of X differ from the reference, the first X[{}]; that is a fault of gridsync",
        .form.name(), .setup.blocks, .setup.threads, .wrong.elements, .setup.elements, .wrong.first.start
    )]
    Wrong {
        /// The form.
        form: Form,
        /// The shape.
        setup: Setup,
        /// Errors of the result.
        wrong: Wrong,
    },
}

impl From<LaunchesError> for ExperimentError {
    fn from(error: LaunchesError) -> Self {
        match error {
            LaunchesError::Device(error) => error.into(),
            wrong => Self::Wrong(wrong.to_string()),
        }
    }
}

/// The time of a form whose result was right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Timed {
    /// The form.
    pub form: Form,
    /// Microseconds of device time per transform X→P→X: the time of a whole job divided by its
    /// rounds. The median.
    pub us_per_transform: f64,
    /// The least sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
    /// The time saved, in percent of that of the launches. Null if they did not run.
    pub gain_over_launches_percent: Option<f64>,
    /// The measurement rules that were broken.
    pub warnings: Vec<Warning>,
}

/// A form that cannot run at a shape, or on this device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Absent {
    /// The form.
    pub form: Form,
    /// The reason.
    pub why: String,
    /// The reason as an error. `None` if it was read from JSON.
    #[serde(skip)]
    pub error: Option<DeviceError>,
}

impl Absent {
    pub(super) fn new(form: Form, error: DeviceError) -> Self {
        Self { form, why: error.to_string(), error: Some(error) }
    }
}

/// Choice of [`plan`] for a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Planned {
    /// One launch, because all blocks can be resident.
    Single,
    /// A launch for each stage.
    Stages,
}

/// The times of all forms at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Comparison {
    /// The name of the device.
    pub device: String,
    /// Elements of X and of P.
    pub n: usize,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Transforms X→P→X of a job.
    pub rounds: u32,
    /// How the blocks have to be launched.
    pub plan: Planned,
    /// The forms that ran, in order.
    pub forms: Vec<Timed>,
    /// The forms that did not run.
    pub absent: Vec<Absent>,
    /// The savings of one launch with the grid barrier, by two models. Null if it did not run, or if
    /// the clock is not known.
    pub cost_model: Option<Prediction>,
}

/// Measures each of `forms` at one shape: a job of `rounds` transforms, by the rules of [`once`]. A
/// form's result has to equal the reference before it is timed. Calls `step` before each form.
///
/// # Errors
/// [`LaunchesError::Wrong`]; [`DeviceError::EmptyGrid`] and [`DeviceError::BadBlock`] if no form
/// can run at that shape; or if the device fails.
///
/// # Panics
/// If [`Sampling::measure`] panics.
pub fn compare(
    device: &Device,
    forms: &[Form],
    setup: &Setup,
    rounds: u32,
    sampling: &Sampling,
    mut step: impl FnMut(Form, &Setup),
) -> Result<Comparison, LaunchesError> {
    let plan = plan::<xpx_grid_barrier_alone, xpx_stage>(device, setup.blocks, setup.threads, 0)?;
    let plan = match plan {
        Plan::Single(_) => Planned::Single,
        Plan::Stages(_) => Planned::Stages,
    };
    let (mut timed, mut absent) = (Vec::new(), Vec::new());
    for &form in forms {
        step(form, setup);
        match measure(device, form, setup, rounds, sampling) {
            Ok(measured) => timed.push(measured),
            Err(LaunchesError::Device(error)) if is_absence(&error) => {
                absent.push(Absent::new(form, error));
            }
            Err(error) => return Err(error),
        }
    }
    let Setup { elements: n, blocks, threads } = *setup;
    let device_name = device.properties().name.clone();
    Ok(Comparison {
        device: device_name,
        n,
        blocks,
        threads,
        rounds,
        plan,
        forms: timed,
        absent,
        cost_model: None,
    }
    .with_gains(cost::mhz(device)))
}

/// The time of `form`, if its result is right.
pub(super) fn measure(
    device: &Device,
    form: Form,
    setup: &Setup,
    rounds: u32,
    sampling: &Sampling,
) -> Result<Timed, LaunchesError> {
    let mut job = Job::new(device, form, setup, rounds)?;
    if let Some(wrong) = job.check()? {
        return Err(LaunchesError::Wrong { form, setup: *setup, wrong });
    }
    let Measurement { time, warnings } = once(device, sampling, || job.run())?;
    let rounds = f64::from(rounds);
    Ok(Timed {
        form,
        us_per_transform: time.median / rounds,
        min: time.min / rounds,
        max: time.max / rounds,
        samples: time.samples,
        gain_over_launches_percent: None,
        warnings,
    })
}

/// Whether the error means that a form is not available on this device or at this shape.
fn is_absence(error: &DeviceError) -> bool {
    matches!(
        error,
        DeviceError::GridTooLarge { .. }
            | DeviceError::BadBlock { .. }
            | DeviceError::UnknownKernel { .. }
            | DeviceError::Unsupported { .. }
    )
}

impl Comparison {
    /// Computes the gains over the launches, and what the models predict at a clock of `mhz`.
    fn with_gains(mut self, mhz: f64) -> Self {
        let many = self.time(Form::Launches);
        for timed in &mut self.forms {
            timed.gain_over_launches_percent =
                many.map(|many| 100.0 * (many - timed.us_per_transform) / many);
        }
        self.cost_model = Prediction::of(&self, &Terms::H200, mhz);
        self
    }

    /// The measurements as records of the suite `launches`, each with the number of its `figure`,
    /// if any.
    #[must_use]
    pub fn records(&self, figure: Option<u32>) -> Vec<Record> {
        let params = json!({
            "figure": figure, "n": self.n, "blocks": self.blocks, "threads": self.threads,
            "rounds": self.rounds,
        });
        let record = |timed: &Timed| {
            let times = Times {
                median: timed.us_per_transform,
                min: timed.min,
                max: timed.max,
                samples: timed.samples,
                warnings: timed.warnings.clone(),
            };
            Record::new("launches", timed.form.name(), &self.device, params.clone(), times)
        };
        self.forms.iter().map(record).collect()
    }
}

/// A comparison with these times in microseconds per transform, at a clock of 1 GHz.
#[cfg(test)]
pub(super) fn made(setup: &Setup, times: &[(Form, f64)]) -> Comparison {
    let timed = |&(form, us): &(Form, f64)| Timed {
        form,
        us_per_transform: us,
        min: us,
        max: us,
        samples: 1,
        gain_over_launches_percent: None,
        warnings: Vec::new(),
    };
    let comparison = Comparison {
        device: "a GPU".into(),
        n: setup.elements,
        blocks: setup.blocks,
        threads: setup.threads,
        rounds: 100,
        plan: Planned::Single,
        forms: times.iter().map(timed).collect(),
        absent: Vec::new(),
        cost_model: None,
    };
    comparison.with_gains(1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    /// Compares all forms with `blocks` blocks, with one sample each.
    fn compared(blocks: u32) -> Comparison {
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 1,
            ..EmulatorConfig::default()
        }));
        let setup = Setup { elements: 5, blocks, threads: 512 };
        let sampling = Sampling { at_least: 1, at_most: 1, ..Sampling::default() };
        compare(&device, &Form::ALL, &setup, 1, &sampling, |_, _| {}).expect("it should run")
    }

    #[test]
    fn every_form_is_measured_if_all_blocks_are_resident() {
        let compared = compared(2);
        let forms: Vec<_> = compared.forms.iter().map(|timed| timed.form).collect();
        assert_eq!(forms, Form::ALL);
        assert_eq!(compared.plan, Planned::Single);
        assert_eq!(compared.records(Some(5)).len(), forms.len());
    }

    #[test]
    fn without_residency_the_barriers_are_absent_and_the_plan_is_stages() {
        let compared = compared(5);
        let barrier = |form| matches!(form, Form::Barrier(_));
        assert!(compared.forms.iter().all(|timed| !barrier(timed.form)));
        assert_eq!(compared.plan, Planned::Stages);
        assert_eq!(compared.absent.len(), 7);
        for Absent { form, error, .. } in compared.absent {
            assert!(barrier(form), "{form:?}");
            assert!(matches!(error, Some(DeviceError::GridTooLarge { .. })), "{error:?}");
        }
    }
}
