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

    /// The lines of a kernel that are marked for this verdict. A kernel ends with the first line
    /// that ends with a brace at its beginning or in its head.
    pub(crate) fn marked(&self, kernel: &str, verdict: Verdict) -> BTreeSet<u32> {
        let Some(mark) = mark(verdict) else { return BTreeSet::new() };
        let head = format!("__global__ void {kernel}(");
        let lines = self.text.lines().zip(1..).skip_while(|(line, _)| !line.starts_with(&head));
        let body = lines.take_while(|(line, _)| !line.starts_with('}'));
        body.filter(|(line, _)| line.trim_end().ends_with(mark)).map(|(_, number)| number).collect()
    }
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
