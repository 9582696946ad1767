//! The lines of a file of CUDA C++ that a fault must name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::problem::Verdict;

/// A file of kernels.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    text: String,
}

impl Source {
    /// A file of `tests/cuda`.
    pub(crate) fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { path, text }
    }

    /// The names of all kernels.
    pub(crate) fn kernels(&self) -> BTreeSet<&str> {
        let heads = self.text.lines().filter_map(|line| line.strip_prefix("__global__ void "));
        heads.filter_map(|head| head.split_once('(')).map(|(name, _)| name).collect()
    }

    /// What a fault of a kernel must name.
    pub(crate) fn expected(&self, kernel: &str, verdict: Verdict) -> Expected<'_> {
        let mark = mark(verdict);
        let is_marked = |line: &str| mark.is_some_and(|mark| line.trim_end().ends_with(mark));
        let body = || self.body(kernel);
        let lines = body().filter(|(line, _)| is_marked(line)).map(|(_, number)| number).collect();
        let causes = body().filter_map(|(line, _)| line.trim().strip_prefix("// cause: "));
        Expected { lines, causes: causes.collect() }
    }

    /// The lines of a kernel with their numbers, up to a brace at the beginning of a line.
    fn body(&self, kernel: &str) -> impl Iterator<Item = (&str, u32)> {
        let head = format!("__global__ void {kernel}(");
        let lines = self.text.lines().zip(1..);
        lines
            .skip_while(move |(line, _)| !line.starts_with(&head))
            .take_while(|(line, _)| !line.starts_with('}'))
    }
}

/// What a fault must name.
pub(crate) struct Expected<'a> {
    /// The lines that are marked for the verdict. A race must be of two of them.
    pub(crate) lines: BTreeSet<u32>,
    /// Parts of the message: comments that begin with `// cause: `.
    pub(crate) causes: Vec<&'a str>,
}

/// The comment that marks the lines of a fault.
fn mark(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Right | Verdict::Wrong => None,
        Verdict::Race => Some("// race"),
        Verdict::Deadlock => Some("// deadlock"),
        Verdict::OutOfBounds => Some("// out of bounds"),
        Verdict::Uninitialised => Some("// uninitialised"),
        Verdict::Barrier => Some("// barrier"),
    }
}
