//! A failing run with as little in it as possible, told in a few lines.

use super::{Failure, Rerun, Wrong, every};
use crate::device::{Device, DeviceError, Emulator};
use simt::replay::{Recording, Script, Story, record, shrink};
use simt::search::follow;

impl Failure {
    /// Runs the failure again, with fewer switches and old values as long as it is the same one, and adds the
    /// story of that run.
    pub(super) fn retold(
        mut self: Box<Self>,
        run: &impl Fn(&Device) -> Result<(), Wrong>,
    ) -> Box<Self> {
        let message = self.what.to_string();
        let once = |script: Option<&Script>, tells| -> Option<Recording> {
            let again = || run(&Device::new(Emulator::new(self.config))).err();
            let (what, recording) = record(script, tells, again);
            (what?.to_string() == message).then_some(recording)
        };
        let told = match &self.rerun {
            Rerun::Seed(_) => once(None, false).and_then(|recording| {
                let fails = |script: &Script| Some(once(Some(script), false)?.script);
                once(Some(&shrink(recording.script, fails)), true)
            }),
            Rerun::Path(path) => {
                every::read(path).ok().and_then(|(_, path)| follow(&path, || once(None, true)))
            }
        };
        let fault = match &self.what {
            Wrong::Device(DeviceError::Fault(fault)) => Some(&**fault),
            _ => None,
        };
        let story = told.map(|recording| recording.story(fault));
        self.story = story.filter(|story: &Story| !story.steps.is_empty());
        self
    }
}
