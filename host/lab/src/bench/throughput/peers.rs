//! The questions to the peers of a suite, and their answers.

use super::{Case, Ceiling, OnCpu, Plan, Throughput, bytes, lengths, timed};
use crate::bench::library::{Call, Library};
use crate::bench::peer::interpreter;
use crate::bench::{Answers, PeerError, PeerKind, PeerKinds, Sampling, Spread};
use std::collections::{HashMap, HashSet};

/// The times of the peers, and their notes on missing measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerTimes {
    /// µs for each question.
    pub(super) times: HashMap<String, Spread>,
    notes: Vec<String>,
    /// The versions of libraries.
    pub(super) versions: HashMap<Library, String>,
}

impl PeerTimes {
    /// The peers' notes on missing measurements, each once.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn add(&mut self, name: &str, answers: Answers) {
        self.times.extend(answers.times);
        let notes = answers.notes.iter().map(|note| format!("{name}: {note}"));
        self.notes.extend(notes);
    }
}

/// A mode of the peer, without the parts that the variant repeats: the type of the accumulator, the
/// length of the rows, the percentage of kept elements. Of a call of a library, the library.
#[must_use]
pub fn plain_mode(mode: &str) -> &str {
    if let Some((library, _)) = mode.split_once('.') {
        return library;
    }
    let mode = mode.trim_end_matches("_in_f64");
    let is_digit = |letter: char| letter.is_ascii_digit();
    mode.trim_end_matches(is_digit).trim_end_matches('_')
}

impl Throughput {
    /// The times of the peers of `kinds` for `cases`, which belong to this suite, at each of
    /// `sizes`. A peer on the GPU measures the cases, and the one in CUDA C++ also the ceiling, by
    /// the same plan and the same sampling. A peer on the CPU runs if Python is installed, and a
    /// library if Python has it. `l2_bytes` is the L2 of the device.
    ///
    /// # Errors
    /// [`PeerError`], which is [`PeerError::OfLibrary`] if a library that `kinds` names is not there
    /// or fails.
    pub fn peers(
        &self,
        cases: &[Case],
        sizes: &[usize],
        l2_bytes: u32,
        sampling: &Sampling,
        kinds: &PeerKinds,
    ) -> Result<PeerTimes, PeerError> {
        let mut times = PeerTimes::default();
        if kinds.contains(PeerKind::Cuda)
            && let Some(peer) = self.peer
        {
            let questions = self.questions(cases, sizes, l2_bytes);
            times.add(peer.name, peer.ask(&[], sampling, &questions)?);
        }
        if kinds.contains(PeerKind::Cpu)
            && let Some((on_cpu, n)) = self.on_cpu(cases, sizes)
        {
            let answers = on_cpu.peer.ask(sampling, &[on_cpu.question(n)])?;
            times.add(on_cpu.peer.name, answers);
        }
        for library in Library::ALL {
            let questions = self.questions_to(library, cases, sizes, l2_bytes);
            if questions.is_empty() || !kinds.contains(library.kind()) {
                continue;
            }
            let asked = library.ask(&interpreter(), sampling, &questions);
            let mut answers = library.or_note(asked, kinds.names(library.kind()))?;
            times.versions.extend(answers.version.take().map(|version| (library, version)));
            times.add(library.name(), answers);
        }
        Ok(times)
    }

    /// The kinds of peers that the suite has.
    #[must_use]
    pub fn kinds(&self) -> Vec<PeerKind> {
        let cuda = self.peer.map(|_| PeerKind::Cuda);
        let cpu = self.on_cpu.map(|_| PeerKind::Cpu);
        let libraries = Library::ALL.into_iter().filter(|library| library.is_in(self.name));
        cuda.into_iter().chain(cpu).chain(libraries.map(Library::kind)).collect()
    }

    /// The modes in which the peers on the GPU measure `case`.
    #[must_use]
    pub fn modes(&self, case: &Case) -> Vec<&'static str> {
        let of_libraries = Call::of_case(self.name, case).map(|call| call.mode);
        case.peer_modes.iter().copied().chain(of_libraries).collect()
    }

    /// The questions to the peer in CUDA C++, each once.
    pub(super) fn questions(&self, cases: &[Case], sizes: &[usize], l2_bytes: u32) -> Vec<String> {
        let mut questions = Vec::new();
        for (dtype, n) in lengths(cases, sizes) {
            for plan in self.plans(dtype, n, l2_bytes) {
                let here = timed(cases, dtype, plan);
                if here.is_empty() {
                    continue;
                }
                questions.push(self.ceiling.question(bytes(dtype, n), &plan));
                questions.extend(here.into_iter().flat_map(|case| {
                    let modes = case.peer_modes.iter();
                    modes.map(move |mode| case.question(mode, n, &plan))
                }));
            }
        }
        each_once(questions)
    }

    /// The questions to a library, each once.
    pub(super) fn questions_to(
        &self,
        library: Library,
        cases: &[Case],
        sizes: &[usize],
        l2_bytes: u32,
    ) -> Vec<String> {
        let mut questions = Vec::new();
        for (dtype, n) in lengths(cases, sizes) {
            for plan in self.plans(dtype, n, l2_bytes) {
                for case in timed(cases, dtype, plan) {
                    let calls =
                        Call::of_case(self.name, case).filter(|call| call.library() == library);
                    questions.extend(calls.map(|call| case.question(call.mode, n, &plan)));
                }
            }
        }
        each_once(questions)
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

/// The questions without repetitions: types of one size share a ceiling, and designs of one operation
/// share a peer.
fn each_once(mut questions: Vec<String>) -> Vec<String> {
    let mut asked = HashSet::new();
    questions.retain(|question| asked.insert(question.clone()));
    questions
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
