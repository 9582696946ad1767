//! Peers: CUDA C++ programs, carried as source, built by nvcc where there is one.

use super::{FEW, MANY, SAMPLES, Shape};
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

/// Cooperative groups' `grid.sync()`.
const GRID_SYNC: &str = include_str!("../../../bench/peers/grid_sync.cu");

/// The median µs per `grid.sync()` for each of `shapes` that can be resident.
///
/// # Errors
/// [`PeerError`], as it says.
pub fn grid_sync(shapes: &[Shape]) -> Result<HashMap<Shape, f64>, PeerError> {
    let folder = tempfile::tempdir()?;
    let (source, program) = (
        folder.path().join("grid_sync.cu"),
        folder.path().join("grid_sync"),
    );
    std::fs::write(&source, GRID_SYNC)?;
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
    Ok(String::from_utf8_lossy(&done.stdout)
        .lines()
        .filter_map(parse)
        .collect())
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
