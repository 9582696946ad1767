//! A litmus test with the results of the model, the emulator and a GPU.

use super::emulated::{Emulated, emulate};
use super::gpu::Seen;
use super::report::{Answer, Counted, Emulator, OnGpu, Question, Shown, State};
use litmus::{Judgement, Occurrence, Quantifier, Test, TooLarge, judge};

/// A litmus test with all its results.
#[derive(Debug)]
pub(super) struct Judged {
    /// The file, or the name of a built-in test.
    pub(super) name: String,
    /// The test.
    pub(super) test: Test,
    /// Result of the model.
    pub(super) model: Judgement,
    /// Result of the emulator, or the reason why it cannot run the test.
    pub(super) emulated: Result<Emulated, &'static str>,
    /// Result of a GPU, or the reason why it cannot run the test. `None` without a GPU.
    pub(super) on_gpu: Option<Result<Seen, &'static str>>,
}

impl Judged {
    /// Runs the model, and then the emulator under at most `schedules` schedules.
    ///
    /// # Errors
    /// [`TooLarge`] for tests beyond the bounds of the search.
    pub(super) fn of(name: String, test: Test, schedules: u64) -> Result<Self, TooLarge> {
        let model = judge(&test)?;
        let emulated = emulate(&test, &model, schedules);
        Ok(Self { name, test, model, emulated, on_gpu: None })
    }

    /// The result, without the test.
    pub(super) fn answer(self) -> Answer {
        let named = |state: &Vec<i32>| -> State {
            let columns = self.model.columns.iter().zip(state);
            columns.map(|(&term, &value)| (self.test.term_name(term), value)).collect()
        };
        let counted = |(state, &count): (&Vec<i32>, &u64)| Counted { state: named(state), count };
        let emulated = self.emulated.as_ref();
        let on_gpu = self.on_gpu.as_ref().map(Result::as_ref);
        Answer {
            quantifier: match self.test.question.quantifier {
                Quantifier::Exists => Question::Exists,
                Quantifier::NotExists => Question::NotExists,
                Quantifier::Forall => Question::Forall,
            },
            model: self.verdict().to_owned(),
            terminates: self.model.terminates,
            states: self.model.states.iter().map(named).collect(),
            emulator: emulated.ok().map(|emulated| Emulator {
                states: emulated.states.keys().map(named).collect(),
                schedules: emulated.schedules,
                endless: emulated.endless.is_some(),
            }),
            gpu: on_gpu.and_then(Result::ok).map(|seen| OnGpu {
                states: seen.states.iter().map(counted).collect(),
                runs: seen.runs,
                endless: seen.endless,
            }),
            shown: Shown {
                by_emulator: self.was_seen(),
                by_gpu: self.was_seen_on_gpu(),
                not_in_emulator: emulated.err().copied().unwrap_or_default(),
                not_on_gpu: on_gpu.and_then(Result::err).copied().unwrap_or_default(),
                contradiction: self.contradiction(),
            },
            file: self.name,
        }
    }

    /// The model's answer: [`Answer::model`].
    fn verdict(&self) -> &'static str {
        match (self.test.question.quantifier, self.model.occurrence) {
            (Quantifier::Forall, _) if self.model.holds => "holds",
            (Quantifier::Forall, _) => "violated",
            (_, Occurrence::Never) => "unreachable",
            _ => "reachable",
        }
    }

    /// Whether the emulator has reached a state that satisfies the question's formula.
    fn was_seen(&self) -> bool {
        self.emulated.as_ref().is_ok_and(|emulated| self.holds_in_any(emulated.states.keys()))
    }

    /// Whether the GPU has reached such a state.
    fn was_seen_on_gpu(&self) -> bool {
        matches!(&self.on_gpu, Some(Ok(seen)) if self.holds_in_any(seen.states.keys()))
    }

    fn holds_in_any<'a>(&self, mut states: impl Iterator<Item = &'a Vec<i32>>) -> bool {
        let value = |state: &[i32], term| {
            self.model.columns.iter().position(|&it| it == term).map_or(0, |at| state[at])
        };
        states.any(|state| self.test.question.formula.holds(&|term| value(state, term)))
    }

    /// A state of the emulator or the GPU that the model forbids, as a sentence.
    pub(super) fn contradiction(&self) -> Option<String> {
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
    fn shown(&self, state: &[i32]) -> String {
        let columns = self.model.columns.iter().zip(state);
        let named = columns.map(|(&term, value)| format!("{}={value}", self.test.term_name(term)));
        named.collect::<Vec<_>>().join(" ")
    }
}
