//! Peers: CUDA C++ programs, carried as source, built by nvcc where there is one.

use super::{Sampling, Spread};
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

/// What the peers share, as it lies beside their sources.
const HEADERS: [(&str, &str); 3] = [
    ("peer.cuh", include_str!("../../../bench/peers/peer.cuh")),
    ("slope.cuh", include_str!("../../../bench/peers/slope.cuh")),
    (
        "throughput.cuh",
        include_str!("../../../bench/peers/throughput.cuh"),
    ),
];

/// A CUDA C++ program that is asked in lines what takes how long, as `bench/peers/peer.cuh` says.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerProgram {
    /// What it is called in a record.
    pub(super) name: &'static str,
    /// Its source.
    pub(super) source: &'static str,
    /// What nvcc is told beyond what it is told for all.
    pub(super) flags: &'static [&'static str],
}

/// What a peer answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answers {
    /// µs, by the line that asked for them; what could not be measured is not there.
    pub(super) times: HashMap<String, Spread>,
    /// Why something is not there, in the peer's words, each once.
    pub(super) notes: Vec<String>,
}

impl PeerProgram {
    /// Builds it, runs it with `args` and the numbers of `sampling`, and asks it `questions`.
    pub(super) fn ask(
        &self,
        args: &[String],
        sampling: &Sampling,
        questions: &[String],
    ) -> Result<Answers, PeerError> {
        let folder = tempfile::tempdir()?;
        for (name, text) in HEADERS {
            std::fs::write(folder.path().join(name), text)?;
        }
        let (source, program) = (folder.path().join("peer.cu"), folder.path().join("peer"));
        std::fs::write(&source, self.source)?;
        let built = Command::new("nvcc")
            .args(["-O3", "-std=c++17", "-arch=native"])
            .args(self.flags)
            .arg("-o")
            .args([&program, &source])
            .output()
            .map_err(PeerError::NoCompiler)?;
        succeeded("build", built.status.success(), &built.stderr)?;

        let mut child = Command::new(&program)
            .args(args)
            .args([
                sampling.at_least.to_string(),
                sampling.at_most.to_string(),
                sampling.uncertainty.to_string(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            let asked: String = questions.iter().map(|line| format!("{line}\n")).collect();
            input.write_all(asked.as_bytes())?;
        }
        let done = child.wait_with_output()?;
        succeeded("run", done.status.success(), &done.stderr)?;
        Ok(Answers::parse(&String::from_utf8_lossy(&done.stdout)))
    }
}

impl Answers {
    /// Reads lines `QUESTION: median quartile_range min max samples` and `note: …`; others are left
    /// aside.
    fn parse(said: &str) -> Self {
        let mut answers = Self::default();
        for (question, answer) in said.lines().filter_map(|line| line.split_once(": ")) {
            if question == "note" {
                if !answers.notes.iter().any(|note| note == answer) {
                    answers.notes.push(answer.into());
                }
            } else if let Some(time) = spread(answer) {
                answers.times.insert(question.into(), time);
            }
        }
        answers
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

/// `median quartile_range min max samples`.
fn spread(text: &str) -> Option<Spread> {
    let mut words = text.split_whitespace();
    let mut us = || words.next()?.parse().ok();
    let (median, quartile_range, min, max) = (us()?, us()?, us()?, us()?);
    Some(Spread {
        median,
        quartile_range,
        min,
        max,
        samples: words.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_are_read_by_their_questions_and_the_notes_once() {
        let answers = Answers::parse(
            "132 256: 0.9900 0.0010 0.9880 0.9910 7\n\
             note: no room for 1 × 34359738368 bytes\n\
             sum f32 run_to_run 1024 256 0: 2.5 0.01 2.4 1e+01 51\n\
             note: no room for 1 × 34359738368 bytes\n",
        );
        let time = |question| answers.times.get(question).copied();
        assert_eq!(
            time("132 256"),
            Some(Spread {
                median: 0.99,
                quartile_range: 0.001,
                min: 0.988,
                max: 0.991,
                samples: 7
            })
        );
        let sum = time("sum f32 run_to_run 1024 256 0").expect("there is an answer");
        assert_eq!((sum.median, sum.max, sum.samples), (2.5, 10.0, 51));
        assert_eq!(answers.times.len(), 2);
        assert_eq!(answers.notes, ["no room for 1 × 34359738368 bytes"]);
    }

    #[test]
    fn what_is_no_answer_is_left_aside() {
        let answers = Answers::parse("132 256: 0.99 0.001 0.988\n132 256\nno device\n\n");
        assert_eq!(answers, Answers::default());
    }
}
