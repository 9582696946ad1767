//! Grid barriers under stress: each is crossed repeatedly in many settings. The same kernel also
//! crosses deliberately broken barriers. The more of these are caught, the stronger the evidence
//! that the correct ones hold.

mod setting;
mod tally;

pub use setting::{Setting, settings};
pub use tally::{Found, Tally};

use gridsync::device::{Device, DeviceError};
use gridsync_verify::Contender;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// A tally for each barrier that was crossed at all.
    pub tallies: Vec<Tally>,
    /// The other barriers, and why they were not crossed: the device lacks the kernel or a feature
    /// that it needs, or no grid fits.
    pub absent: Vec<(&'static str, DeviceError)>,
}

/// Crosses each barrier in each setting whose grid fits. Calls `step` before each crossing.
///
/// # Errors
/// If the device fails.
pub fn stress(
    device: &Device,
    contenders: &[Contender],
    settings: &[Setting],
    mut step: impl FnMut(&Contender, &Setting),
) -> Result<Run, DeviceError> {
    let mut run = Run { tallies: Vec::new(), absent: Vec::new() };
    for contender in contenders {
        let mut tally = Tally::new(contender.name);
        let mut refused = None;
        for setting in settings {
            step(contender, setting);
            match (contender.cross)(&setting.device(device), &setting.crossing) {
                Err(
                    error @ (DeviceError::UnknownKernel { .. }
                    | DeviceError::Unsupported { .. }
                    | DeviceError::GridTooLarge { .. }
                    | DeviceError::BadBlock { .. }
                    | DeviceError::PartialCluster { .. }),
                ) => refused = Some(error),
                outcome => tally.count(setting, outcome)?,
            }
        }
        match refused {
            Some(error) if tally.settings == 0 => run.absent.push((contender.name, error)),
            _ => run.tallies.push(tally),
        }
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::setting::on_the_emulator;
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};
    use gridsync_verify::{DESIGNS, Outcome};

    #[test]
    fn an_absent_kernel_is_not_a_failing_device() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let absent = Contender {
            name: "absent",
            cross: |_, _| Err(DeviceError::UnknownKernel { name: "absent", image: 75 }),
        };
        let stale = Contender {
            name: "stale",
            cross: |_, crossing| {
                Ok(if crossing.skew == 0 { Outcome::Held } else { Outcome::Stale(7) })
            },
        };
        let settings = &on_the_emulator()[..16];
        let run = stress(&device, &[absent, stale], settings, |_, _| ())
            .expect("neither is a failure of the device");
        assert!(matches!(&run.absent[..], [("absent", _)]), "{run:?}");
        let [tally] = &run.tallies[..] else { panic!("{run:?}") };
        assert_eq!((tally.settings, tally.crossings), (16, 16 * 40));
        assert_eq!(tally.stale, Found { settings: 8, times: 56 });
        assert_eq!(tally.wrong_in(), 8);
        let first = "blocks of 64 threads, 2 in all, 1 word a thread, up to 300 cycles late, seed 0, checking for races: 7 stale words";
        assert_eq!(tally.first.as_deref(), Some(first));

        let lost = Contender {
            name: "lost",
            cross: |_, _| Err(DeviceError::NoSuchDevice { ordinal: 1, count: 1 }),
        };
        assert!(stress(&device, &[DESIGNS[0], lost], &settings[..1], |_, _| ()).is_err());
    }
}
