//! Litmus tests of PTX's memory model: what the model allows, and what the emulator's weak memory
//! and a GPU show.

mod emulated;
mod fences;
mod gpu;
#[cfg(test)]
mod random;

pub use emulated::{Emulated, emulate};
pub use fences::WRITE_AND_READ;
pub use gpu::{Gpu, OnGpu};

use litmus::{Judgement, Occurrence, Quantifier, Test, TooLarge, judge};

/// A litmus test with all its results.
#[derive(Debug)]
pub struct Report {
    /// The file, or the name of a built-in test.
    pub name: String,
    /// The test.
    pub test: Test,
    /// Result of the model.
    pub model: Judgement,
    /// Result of the emulator, or the reason why it cannot run the test.
    pub emulated: Result<Emulated, &'static str>,
    /// Result of a GPU, or the reason why it cannot run the test. `None` without a GPU.
    pub on_gpu: Option<Result<OnGpu, &'static str>>,
}

impl Report {
    /// Runs the model, and then the emulator under at most `schedules` schedules.
    ///
    /// # Errors
    /// [`TooLarge`] for tests beyond the bounds of the search.
    pub fn of(name: String, test: Test, schedules: u64) -> Result<Self, TooLarge> {
        let model = judge(&test)?;
        let emulated = emulate(&test, &model, schedules);
        Ok(Self { name, test, model, emulated, on_gpu: None })
    }

    /// The model's answer: `reachable` or `unreachable` for `exists` and `~exists`, `holds` or
    /// `violated` for `forall`.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.test.question.quantifier, self.model.occurrence) {
            (Quantifier::Forall, _) if self.model.holds => "holds",
            (Quantifier::Forall, _) => "violated",
            (_, Occurrence::Never) => "unreachable",
            _ => "reachable",
        }
    }

    /// Whether the emulator has reached a state that satisfies the question's formula.
    #[must_use]
    pub fn was_seen(&self) -> bool {
        self.emulated.as_ref().is_ok_and(|emulated| self.holds_in_any(emulated.states.keys()))
    }

    /// Whether the GPU has reached such a state.
    #[must_use]
    pub fn was_seen_on_gpu(&self) -> bool {
        matches!(&self.on_gpu, Some(Ok(seen)) if self.holds_in_any(seen.states.keys()))
    }

    fn holds_in_any<'a>(&self, mut states: impl Iterator<Item = &'a Vec<i32>>) -> bool {
        let value = |state: &[i32], term| {
            self.model.columns.iter().position(|&it| it == term).map_or(0, |at| state[at])
        };
        states.any(|state| self.test.question.formula.holds(&|term| value(state, term)))
    }

    /// A state of the emulator or the GPU that the model forbids, as a sentence.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        self.contradiction_on_gpu().or_else(|| self.contradiction_in_emulator())
    }

    fn contradiction_on_gpu(&self) -> Option<String> {
        let seen = self.on_gpu.as_ref()?.as_ref().ok()?;
        let forbidden = |state: &&Vec<i32>| !self.model.states.contains(state);
        let state = seen.states.keys().find(forbidden)?;
        let (shown, count, runs) = (self.shown(state), seen.states[state], seen.runs);
        Some(format!("the GPU reached {shown} in {count} of {runs} runs, which the model forbids"))
    }

    fn contradiction_in_emulator(&self) -> Option<String> {
        let emulated = self.emulated.as_ref().ok()?;
        let state = emulated.states.iter().find(|(state, _)| !self.model.states.contains(state));
        if let Some((state, seed)) = state {
            let shown = self.shown(state);
            return Some(format!(
                "the emulator reached {shown} with seed {seed}, which the model forbids"
            ));
        }
        let seed = emulated.endless.filter(|_| self.model.terminates)?;
        Some(format!("the emulator did not end with seed {seed}, and by the model every run ends"))
    }

    /// A final state with names: `P0:r0=1 x=2`.
    #[must_use]
    pub fn shown(&self, state: &[i32]) -> String {
        let columns = self.model.columns.iter().zip(state);
        let named = columns.map(|(&term, value)| format!("{}={value}", self.test.term_name(term)));
        named.collect::<Vec<_>>().join(" ")
    }
}
