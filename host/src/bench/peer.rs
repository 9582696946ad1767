//! Peers: CUDA C++ programs, carried as source, built by nvcc where there is one.

use super::{FEW, MANY, Peer, SAMPLES, Shape};
use std::collections::HashMap;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Why a peer could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// There is no compiler for it.
    #[error(
        "no nvcc to build the peer with ({0}): put CUDA's bin folder on the PATH, or leave --peers out"
    )]
    NoCompiler(io::Error),
    /// It did not build or run.
    #[error("the peer {step} failed: {output}")]
    Failed {
        /// What was being done.
        step: &'static str,
        /// What was said of it, on one line.
        output: String,
    },
    /// A file or a pipe failed.
    #[error("running the peer: {0}")]
    Io(#[from] io::Error),
}

/// A CUDA C++ program that measures by the rule of a slope.
///
/// It takes the two counts of rounds and the number of samples as its arguments, reads lines
/// `blocks threads`, and prints a line `blocks threads median min max`, in µs, for each that can be
/// resident.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerProgram {
    /// What it is called in a record.
    pub(super) name: &'static str,
    /// Its source.
    pub(super) source: &'static str,
}

impl PeerProgram {
    /// Builds and runs it: the median of [`SAMPLES`] slopes at each of `shapes` that can be resident.
    pub(super) fn measure(&self, shapes: &[Shape]) -> Result<HashMap<Shape, Peer>, PeerError> {
        let folder = tempfile::tempdir()?;
        let (source, program) = (folder.path().join("peer.cu"), folder.path().join("peer"));
        std::fs::write(&source, self.source)?;
        let built = Command::new("nvcc")
            .args(["-O3", "-arch=native", "-rdc=true", "-o"])
            .args([&program, &source])
            .output()
            .map_err(PeerError::NoCompiler)?;
        succeeded("build", built.status.success(), &built.stderr)?;

        let mut child = Command::new(&program)
            .args([FEW.to_string(), MANY.to_string(), SAMPLES.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let asked: String = shapes
            .iter()
            .map(|shape| format!("{} {}\n", shape.blocks, shape.threads))
            .collect();
        if let Some(mut input) = child.stdin.take() {
            input.write_all(asked.as_bytes())?;
        }
        let done = child.wait_with_output()?;
        succeeded("run", done.status.success(), &done.stderr)?;
        let peer = |(shape, median)| {
            let name = self.name;
            (shape, Peer { name, median })
        };
        let said = String::from_utf8_lossy(&done.stdout);
        Ok(said.lines().filter_map(parse).map(peer).collect())
    }
}

fn succeeded(step: &'static str, success: bool, stderr: &[u8]) -> Result<(), PeerError> {
    if success {
        return Ok(());
    }
    let output = String::from_utf8_lossy(stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Err(PeerError::Failed { step, output })
}

/// A line `blocks threads median min max`.
fn parse(line: &str) -> Option<(Shape, f64)> {
    let mut words = line.split_whitespace();
    let shape = Shape {
        blocks: words.next()?.parse().ok()?,
        threads: words.next()?.parse().ok()?,
    };
    Some((shape, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_peer_is_read_and_anything_else_is_not() {
        let shape = Shape {
            blocks: 132,
            threads: 256,
        };
        assert_eq!(parse("132 256 0.9900 0.9880 0.9910"), Some((shape, 0.99)));
        assert_eq!(parse("132 256"), None);
        assert_eq!(parse("no device"), None);
    }
}
