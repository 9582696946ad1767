//! Peers that are Python libraries for GPUs: PyTorch and CuPy.

use super::peer::{Answers, PeerError, ask_python};
use super::{Case, PeerKind, Sampling};
use gridsync_verify::Dtype;
use std::ffi::OsStr;
use std::process::Command;

/// A Python library whose calls are peers (see `host/lab/peers/libraries.py`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Library {
    Torch,
    Cupy,
}

/// A call of a library that does the work of some cases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Its mode in questions and records: its name, and the number of bins if it counts in bins.
    pub(super) mode: &'static str,
    suite: &'static str,
    /// The variants of these cases, or none for all variants.
    variants: &'static [&'static str],
    ops: &'static [&'static str],
    dtypes: &'static [Dtype],
}

/// Floating-point types.
const FLOATS: &[Dtype] = &[Dtype::F32, Dtype::F64];
/// The element types that PyTorch adds up and compares.
const OF_TORCH: &[Dtype] = &[Dtype::F32, Dtype::F64, Dtype::I32];
/// The element types that CuPy adds up, compares and sorts.
const OF_CUPY: &[Dtype] = &[Dtype::F32, Dtype::F64, Dtype::I32, Dtype::U32, Dtype::U64];

/// The sorts of keys. PyTorch's also writes the indices.
const SORTS: &[&str] = &["keys", "rows-16", "rows-1000", "rows-100000"];

/// The softmax of rows of so many elements.
const SOFTMAXES: &[&str] = &[
    "softmax-16",
    "softmax-128",
    "softmax-1024",
    "softmax-4096",
    "softmax-32768",
    "softmax-1048576",
];

/// The sums of rows of so many elements.
const SUMS_OF_ROWS: &[&str] = &[
    "rows-16",
    "rows-17",
    "rows-128",
    "rows-1000",
    "rows-1001",
    "rows-1024",
    "rows-4096",
    "rows-65536",
    "rows-1048576",
];

/// All calls. PyTorch's median of an even number of elements is the lower of the two in the middle,
/// and its quantile is their mean, as our median is.
const CALLS: &[Call] = &[
    Call::new("torch.sort", "sort", SORTS, FLOATS),
    Call::new("torch.argsort", "sort", &["argsort"], FLOATS),
    Call::new("cupy.sort", "sort", SORTS, OF_CUPY),
    Call::new("cupy.argsort", "sort", &["argsort"], OF_CUPY),
    Call::new("torch.topk", "rank", &["top-64", "top-4096"], FLOATS),
    Call::new("torch.kthvalue", "rank", &["kth"], FLOATS),
    Call::new("torch.median", "rank", &["median"], FLOATS),
    Call::new("torch.quantile", "rank", &["median"], FLOATS),
    Call::new("cupy.partition", "rank", &["kth"], FLOATS),
    Call::new("torch.histc_256", "histogram", &["even"], FLOATS).of(&["256 bins"]),
    Call::new("torch.histc_65536", "histogram", &["even"], FLOATS).of(&["65536 bins"]),
    Call::new("torch.bincount_2048", "histogram", &["numbers"], &[Dtype::U32]),
    Call::new("torch.bincount_256", "histogram", &["bytes"], &[Dtype::U64]),
    Call::new("cupy.histogram_256", "histogram", &["even", "edges"], FLOATS).of(&["256 bins"]),
    Call::new("cupy.histogram_65536", "histogram", &["even"], FLOATS).of(&["65536 bins"]),
    Call::new("cupy.bincount_2048", "histogram", &["numbers"], &[Dtype::U32]),
    Call::new("cupy.bincount_256", "histogram", &["bytes"], &[Dtype::U64]),
    Call::new("torch.sum", "reduce", &["sum"], OF_TORCH).of(&["tiles"]),
    Call::new("torch.amin", "reduce", &["min"], OF_TORCH).of(&["tiles"]),
    Call::new("torch.amax", "reduce", &["max"], OF_TORCH).of(&["tiles"]),
    Call::new("cupy.sum", "reduce", &["sum"], OF_CUPY).of(&["tiles"]),
    Call::new("cupy.amin", "reduce", &["min"], OF_CUPY).of(&["tiles"]),
    Call::new("cupy.amax", "reduce", &["max"], OF_CUPY).of(&["tiles"]),
    Call::new("torch.logsumexp", "reduce", &["lse"], FLOATS),
    Call::new("torch.var", "reduce", &["var"], FLOATS).of(&["tiles"]),
    Call::new("torch.dot", "reduce", &["dot"], FLOATS),
    Call::new("torch.softmax", "softmax", SOFTMAXES, FLOATS),
    Call::new("torch.cumsum", "scan-rows", SUMS_OF_ROWS, FLOATS),
    Call::new("torch.cumsum", "scan", &["sum"], OF_TORCH).of(&["auto"]),
    Call::new("cupy.cumsum", "scan", &["sum"], OF_CUPY).of(&["auto"]),
];

impl Call {
    const fn new(
        mode: &'static str,
        suite: &'static str,
        ops: &'static [&'static str],
        dtypes: &'static [Dtype],
    ) -> Self {
        Self { mode, suite, variants: &[], ops, dtypes }
    }

    /// The same call, as a peer of these variants only.
    const fn of(self, variants: &'static [&'static str]) -> Self {
        Self { variants, ..self }
    }

    /// The calls that do the work of `case` in `suite`.
    pub(super) fn of_case(suite: &str, case: &Case) -> impl Iterator<Item = &'static Self> {
        let does = move |call: &&Self| {
            call.suite == suite
                && (call.variants.is_empty() || call.variants.contains(&case.variant))
                && call.ops.contains(&case.op)
                && call.dtypes.contains(&case.dtype)
        };
        CALLS.iter().filter(does)
    }

    /// Name in records.
    pub(super) fn name(&self) -> &'static str {
        let is_digit = |letter: char| letter.is_ascii_digit();
        self.mode.trim_end_matches(is_digit).trim_end_matches('_')
    }

    /// Its library.
    pub(super) fn library(&self) -> Library {
        if self.mode.starts_with("torch.") { Library::Torch } else { Library::Cupy }
    }
}

/// Prints the path of the Python that runs it, and whether it has the library of its argument.
const PROBE: &str = "import importlib.util as util, sys\n\
    print(sys.executable)\n\
    print(util.find_spec(sys.argv[1]) is not None)";

impl Library {
    pub(super) const ALL: [Self; 2] = [Self::Torch, Self::Cupy];

    /// Name of the Python package.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Torch => "torch",
            Self::Cupy => "cupy",
        }
    }

    pub(super) const fn kind(self) -> PeerKind {
        match self {
            Self::Torch => PeerKind::Torch,
            Self::Cupy => PeerKind::Cupy,
        }
    }

    /// Whether a call of the library is a peer in `suite`.
    pub(super) fn is_in(self, suite: &str) -> bool {
        CALLS.iter().any(|call| call.suite == suite && call.library() == self)
    }

    /// Sends `questions` to the library of `python`.
    ///
    /// # Errors
    /// [`PeerError::NoLibrary`]; or if Python is missing or fails.
    pub(super) fn ask(
        self,
        python: &OsStr,
        sampling: &Sampling,
        questions: &[String],
    ) -> Result<Answers, PeerError> {
        let probed = Command::new(python).args(["-c", PROBE, self.name()]).output();
        let probed = probed.map_err(PeerError::NoInterpreter)?;
        let said = String::from_utf8_lossy(&probed.stdout);
        let mut lines = said.lines();
        let program = lines.next().filter(|path| !path.is_empty());
        if lines.next() != Some("True") {
            let python = program.map_or(python.to_string_lossy(), Into::into).into_owned();
            return Err(PeerError::NoLibrary { python });
        }
        let source = include_str!("../../peers/libraries.py");
        ask_python(python, source, &[self.name()], sampling, questions)
    }

    /// The answers; or if the library is not there or fails, a note, or an error if it `is_named`.
    ///
    /// # Errors
    /// [`PeerError::OfLibrary`].
    pub(super) fn or_note(
        self,
        asked: Result<Answers, PeerError>,
        is_named: bool,
    ) -> Result<Answers, PeerError> {
        asked.or_else(|error| {
            if is_named {
                return Err(PeerError::OfLibrary { library: self.name(), error: Box::new(error) });
            }
            Ok(Answers { notes: vec![format!("left out: {error}")], ..Answers::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{HISTOGRAM, RANK, REDUCE, SCAN, SCAN_ROWS, SOFTMAX, SORT, Throughput};

    /// The modes of the calls of each case of an operation, in order.
    fn modes(suite: &Throughput, op: &str, dtype: Dtype) -> Vec<Vec<&'static str>> {
        let alike = |case: &&Case| (case.op, case.dtype) == (op, dtype);
        let modes = |case| Call::of_case(suite.name, case).map(|call| call.mode).collect();
        suite.cases.iter().filter(alike).map(modes).collect()
    }

    #[test]
    fn a_case_has_the_calls_that_do_its_work() {
        assert_eq!(modes(&SORT, "keys", Dtype::F32), [["torch.sort", "cupy.sort"]]);
        assert_eq!(modes(&SORT, "keys", Dtype::U64), [["cupy.sort"]]);
        assert_eq!(modes(&SORT, "argsort", Dtype::F32), [["torch.argsort", "cupy.argsort"]]);
        assert_eq!(modes(&SORT, "segments-16", Dtype::F32), [[""; 0]]);
        assert_eq!(modes(&RANK, "top-64", Dtype::F32), [["torch.topk"]]);
        assert_eq!(modes(&RANK, "median", Dtype::F32), [["torch.median", "torch.quantile"]]);
        assert_eq!(
            modes(&HISTOGRAM, "even", Dtype::F32),
            [
                ["torch.histc_256", "cupy.histogram_256"],
                ["torch.histc_65536", "cupy.histogram_65536"]
            ]
        );
        assert_eq!(modes(&HISTOGRAM, "edges", Dtype::F32), [["cupy.histogram_256"]]);
        let of_sum = modes(&REDUCE, "sum", Dtype::F32);
        assert_eq!(of_sum, [&["torch.sum", "cupy.sum"][..], &[], &[], &[]]);
        let of_variance = modes(&REDUCE, "var", Dtype::F32);
        assert_eq!(of_variance, [&["torch.var"][..], &[]]);
        assert_eq!(modes(&REDUCE, "dot", Dtype::F32), [["torch.dot"]]);
        assert_eq!(modes(&SOFTMAX, "softmax-16", Dtype::F32), [["torch.softmax"]]);
        assert_eq!(modes(&SCAN_ROWS, "rows-17", Dtype::F32), [["torch.cumsum"]]);
        let of_scan = modes(&SCAN, "sum", Dtype::F64);
        assert_eq!(of_scan, [&["torch.cumsum", "cupy.cumsum"][..], &[], &[]]);
    }

    #[test]
    fn every_call_is_of_a_case() {
        for call in CALLS {
            let suites = [SORT, RANK, HISTOGRAM, REDUCE, SCAN, SCAN_ROWS, SOFTMAX];
            let suite = suites.iter().find(|suite| suite.name == call.suite).expect("a suite");
            for op in call.ops {
                let is_its = |case: &&Case| {
                    let mut calls = Call::of_case(suite.name, case);
                    case.op == *op && calls.any(|other| other.mode == call.mode)
                };
                assert!(suite.cases.iter().any(|case| is_its(&case)), "{} {op}", call.mode);
            }
        }
    }

    #[test]
    fn a_call_is_named_without_its_bins() {
        let names: Vec<_> = CALLS.iter().map(|call| (call.name(), call.library())).collect();
        assert!(names.contains(&("torch.histc", Library::Torch)), "{names:?}");
        assert!(names.contains(&("cupy.sort", Library::Cupy)), "{names:?}");
        assert!(Library::Torch.is_in("rank") && !Library::Cupy.is_in("kendall"));
    }

    /// The answers of PyTorch, where Python is this shell script.
    #[cfg(unix)]
    fn of_shell(script: &str) -> Result<Answers, PeerError> {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a folder");
        let python = folder.path().join("python");
        fs::write(&python, format!("#!/bin/sh\n{script}\n")).expect("it is written");
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is mine");
        let question = ["keys f32 torch.sort 1024 256 0".to_owned()];
        Library::Torch.ask(python.as_os_str(), &Sampling::default(), &question)
    }

    /// Python that has PyTorch, and runs `script` as its peer.
    #[cfg(unix)]
    fn with_torch(script: &str) -> Result<Answers, PeerError> {
        of_shell(&format!("[ \"$1\" = -c ] && {{ echo /a/python; echo True; exit; }}\n{script}"))
    }

    #[cfg(unix)]
    #[test]
    fn a_library_answers_with_its_version() {
        let answers = with_torch(
            "echo version: 2.11.0; while read line; do echo \"$line: 4 0 4 $3 9\"; echo note: $2; done",
        )
        .expect("it should answer");
        assert_eq!(answers.version.as_deref(), Some("2.11.0"));
        assert_eq!(answers.notes, ["torch"], "its name is the argument");
        let time = answers.times["keys f32 torch.sort 1024 256 0"];
        assert_eq!((time.median, time.max, time.samples), (4.0, 7.0, 9));
    }

    #[cfg(unix)]
    #[test]
    fn a_library_that_is_not_there_is_left_out_unless_it_is_named() {
        let absent = || of_shell("echo /a/python; echo False");
        let left_out = Library::Torch.or_note(absent(), false).expect("it is a note");
        let why =
            "/a/python does not have it: install it, or name another Python in GRIDSYNC_PYTHON";
        assert_eq!(left_out.notes, [format!("left out: {why}")]);
        let named = Library::Torch.or_note(absent(), true).expect_err("it is an error");
        assert_eq!(named.to_string(), format!("torch: {why}"));
    }

    #[test]
    fn a_missing_python_is_reported_with_its_variable() {
        let none = Library::Cupy.ask(OsStr::new("/no/python"), &Sampling::default(), &[]);
        let why = none.expect_err("there is none").to_string();
        assert!(why.starts_with("no Python") && why.contains("GRIDSYNC_PYTHON"), "{why}");
    }

    #[cfg(unix)]
    #[test]
    fn a_traceback_is_reported_by_its_error() {
        let died = with_torch(
            "cat > /dev/null; printf 'Traceback (most recent call last):\\n  File \"a\"\\n    x()\\n\
             RuntimeError: CUDA error: no kernel image\\nCompile with TORCH_USE_CUDA_DSA\\n' >&2; exit 1",
        );
        let why = Library::Torch.or_note(died, true).expect_err("it should fail").to_string();
        assert_eq!(why, "torch: the peer run failed: RuntimeError: CUDA error: no kernel image");
    }
}
