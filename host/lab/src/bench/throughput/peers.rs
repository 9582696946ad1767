//! The questions to the peers of a suite, and their answers.

use super::{Case, Ceiling, OnCpu, Plan, Throughput, bytes, lengths};
use crate::bench::{Answers, PeerError, Sampling};
use std::collections::HashSet;

/// The times of the peers, and their notes on missing measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerTimes(pub(super) Answers);

impl PeerTimes {
    /// The peers' notes on missing measurements, each once.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    fn add(&mut self, name: &str, answers: Answers) {
        self.0.times.extend(answers.times);
        let notes = answers.notes.iter().map(|note| format!("{name}: {note}"));
        self.0.notes.extend(notes);
    }
}

/// A mode of the peer, without the parts that the variant repeats: the type of the accumulator, the
/// length of the rows, the percentage of kept elements.
#[must_use]
pub fn plain_mode(mode: &str) -> &str {
    let mode = mode.trim_end_matches("_in_f64");
    let is_digit = |letter: char| letter.is_ascii_digit();
    mode.trim_end_matches(is_digit).trim_end_matches('_')
}

impl Throughput {
    /// The times of the peers for `cases`, which belong to this suite, at each of `sizes`. A peer
    /// on the GPU measures the cases and the ceiling, by the same plan and the same sampling. A
    /// peer on the CPU runs if Python is installed. `l2_bytes` is the L2 of the device.
    ///
    /// # Errors
    /// [`PeerError`].
    pub fn peers(
        &self,
        cases: &[Case],
        sizes: &[usize],
        l2_bytes: u32,
        sampling: &Sampling,
    ) -> Result<PeerTimes, PeerError> {
        let mut times = PeerTimes::default();
        if let Some(peer) = self.peer {
            let questions = self.questions(cases, sizes, l2_bytes);
            times.add(peer.name, peer.ask(&[], sampling, &questions)?);
        }
        if let Some((on_cpu, n)) = self.on_cpu(cases, sizes) {
            let answers = on_cpu.peer.ask(sampling, &[on_cpu.question(n)])?;
            times.add(on_cpu.peer.name, answers);
        }
        Ok(times)
    }

    /// The questions to the peer on the GPU, each once.
    fn questions(&self, cases: &[Case], sizes: &[usize], l2_bytes: u32) -> Vec<String> {
        let mut questions = Vec::new();
        for (dtype, n) in lengths(cases, sizes) {
            for plan in self.plans(dtype, n, l2_bytes) {
                questions.push(self.ceiling.question(bytes(dtype, n), &plan));
                let of_type = cases.iter().filter(|case| case.dtype == dtype);
                questions.extend(of_type.flat_map(|case| {
                    let modes = case.peer_modes.iter();
                    modes.map(move |mode| case.question(mode, n, &plan))
                }));
            }
        }
        // Types of one size share a ceiling, and designs of one operation share a peer.
        let mut asked = HashSet::new();
        questions.retain(|question| asked.insert(question.clone()));
        questions
    }

    /// The peer on the CPU and the length for it, if one of `cases` is its case and one of `sizes`
    /// is short enough.
    pub(super) fn on_cpu(&self, cases: &[Case], sizes: &[usize]) -> Option<(OnCpu, usize)> {
        let on_cpu = self.on_cpu?;
        let alike = |case: &Case| case.dtype == on_cpu.dtype && case.op == on_cpu.op;
        let short = sizes.iter().copied().filter(|&n| n <= on_cpu.longest);
        let n = short.max()?;
        cases.iter().any(alike).then_some((on_cpu, n))
    }
}

impl Ceiling {
    /// The question for the ceiling with an input of `bytes` bytes, or with two of them.
    pub(super) fn question(self, bytes: u64, plan: &Plan) -> String {
        let Plan { calls, sample_us } = plan;
        let bytes = match self {
            Self::Read | Self::Copy => bytes,
            Self::ReadBoth => self.moved(bytes),
        };
        format!("{} u8 plain {bytes} {calls} {sample_us}", self.name())
    }
}

impl Case {
    /// The question for this case in one mode of the peer: `OP DTYPE MODE N CALLS SAMPLE_US`.
    pub(super) fn question(&self, mode: &str, n: usize, plan: &Plan) -> String {
        let Plan { calls, sample_us } = plan;
        let (op, dtype) = (self.op, self.dtype.name());
        format!("{op} {dtype} {mode} {n} {calls} {sample_us}")
    }
}

impl OnCpu {
    /// The question for the peer on the CPU.
    pub(super) fn question(&self, n: usize) -> String {
        let Self { op, dtype, .. } = self;
        format!("{op} {} cpu {n} 1 0", dtype.name())
    }
}
