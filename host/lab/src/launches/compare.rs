//! The time of each form at one shape.

use super::form::Form;
use super::job::Job;
use crate::bench::{Measurement, Record, Sampling, Spread, Warning, once};
use crate::xpx::{Setup, Wrong};
use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Plan, plan};
use gridsync_lab_kernels::xpx::{xpx_grid_barrier_alone, xpx_stage};
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

/// The time of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The form.
    pub form: Form,
    /// Microseconds of device time per transform X→P→X: the time of a whole job divided by its
    /// rounds.
    pub time: Spread,
    /// The measurement rules that were broken.
    pub warnings: Vec<Warning>,
}

/// A form that cannot run at a shape, or on this device.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// The form.
    pub form: Form,
    /// Reason.
    pub error: DeviceError,
}

/// The times of all forms at one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The shape.
    pub setup: Setup,
    /// Transforms of a job.
    pub rounds: u32,
    /// Choice of [`plan`] for this shape: one launch, or one for each stage if the blocks cannot
    /// all be resident.
    pub plan: Plan,
    /// The forms that ran, in order.
    pub timed: Vec<Timed>,
    /// The forms that did not run.
    pub absent: Vec<Absent>,
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
    let (mut timed, mut absent) = (Vec::new(), Vec::new());
    for &form in forms {
        step(form, setup);
        match measure(device, form, setup, rounds, sampling) {
            Ok(measured) => timed.push(measured),
            Err(LaunchesError::Device(error)) if is_absence(&error) => {
                absent.push(Absent { form, error });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Comparison { setup: *setup, rounds, plan, timed, absent })
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
    let measured = once(device, sampling, || job.run())?;
    let rounds = f64::from(rounds);
    let whole = measured.time;
    Ok(Timed {
        form,
        time: Spread {
            median: whole.median / rounds,
            quartile_range: whole.quartile_range / rounds,
            min: whole.min / rounds,
            max: whole.max / rounds,
            samples: whole.samples,
        },
        warnings: measured.warnings,
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
    /// The median of microseconds per transform of `form`. `None` if it did not run.
    #[must_use]
    pub fn time(&self, form: Form) -> Option<f64> {
        let timed = self.timed.iter().find(|timed| timed.form == form)?;
        Some(timed.time.median)
    }

    /// The gain of `form` over `many`, in percent of the time of `many`. Above 0, `form` is faster.
    /// `None` if one of the two did not run.
    #[must_use]
    pub fn gain(&self, form: Form, many: Form) -> Option<f64> {
        let many = self.time(many)?;
        Some(100.0 * (many - self.time(form)?) / many)
    }

    /// The measurements as records of the suite `launches`, each with the number of its `figure`,
    /// if any.
    #[must_use]
    pub fn records(&self, device: &str, figure: Option<u32>) -> Vec<Record> {
        let Setup { elements, blocks, threads } = self.setup;
        let record = |timed: &Timed| {
            let params = json!({
                "figure": figure, "n": elements, "blocks": blocks, "threads": threads,
                "rounds": self.rounds,
            });
            let measured = Measurement { time: timed.time, warnings: timed.warnings.clone() };
            Record::new("launches", timed.form.name(), device, params, measured)
        };
        self.timed.iter().map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig, Geometry};

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
        let forms: Vec<_> = compared.timed.iter().map(|timed| timed.form).collect();
        assert_eq!(forms, Form::ALL);
        assert_eq!(compared.plan, Plan::Single(Geometry::new(2, 512).cooperative()));
        assert_eq!(compared.records("emulator", Some(5)).len(), forms.len());
    }

    #[test]
    fn without_residency_the_barriers_are_absent_and_the_plan_is_stages() {
        let compared = compared(5);
        let barrier = |form| matches!(form, Form::Barrier(_));
        assert!(compared.timed.iter().all(|timed| !barrier(timed.form)));
        assert_eq!(compared.plan, Plan::Stages(Geometry::new(5, 512)));
        assert_eq!(compared.absent.len(), 7);
        for Absent { form, error } in compared.absent {
            assert!(barrier(form), "{form:?}");
            assert!(matches!(error, DeviceError::GridTooLarge { .. }), "{error}");
        }
    }
}
