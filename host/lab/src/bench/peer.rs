//! Peers: CUDA C++ programs, included as source and built with nvcc if it is installed, and Python
//! scripts that run on the CPU.

use super::{Sampling, Spread};
use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Why a peer could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The compiler is missing.
    #[error(
        "no nvcc to build the peer with ({0}): put CUDA's bin folder on the PATH, or name other kinds, as --peers=cpu,torch,cupy"
    )]
    NoCompiler(io::Error),
    /// The interpreter is missing.
    #[error(
        "no Python to run the peer with ({0}): install python3, or name a Python in {PYTHON_VARIABLE}"
    )]
    NoInterpreter(io::Error),
    /// The interpreter does not have the library.
    #[error("{python} does not have it: install it, or name another Python in {PYTHON_VARIABLE}")]
    NoLibrary {
        /// The interpreter.
        python: String,
    },
    /// Something that a script needs is not there; it says what, and the remedy.
    #[error("{0}")]
    Absent(String),
    /// A library that was asked for by name is not there or failed.
    #[error("{library}: {error}")]
    OfLibrary {
        /// Name of the library.
        library: &'static str,
        /// Its error.
        error: Box<PeerError>,
    },
    /// Its result is wrong.
    #[error("a wrong result of the peer: {0}")]
    Wrong(String),
    /// It did not build or run.
    #[error("the peer {step} failed: {output}")]
    Failed {
        /// The step that failed.
        step: &'static str,
        /// Its output, on one line.
        output: String,
    },
    /// A file or a pipe failed.
    #[error("running the peer: {0}")]
    Io(#[from] io::Error),
}

/// The files that all peers share. They are in the folder of a peer's source when it is built.
const HEADERS: [(&str, &str); 5] = [
    ("peer.cuh", include_str!("../../peers/peer.cuh")),
    ("slope.cuh", include_str!("../../peers/slope.cuh")),
    ("throughput.cuh", include_str!("../../peers/throughput.cuh")),
    ("select.cuh", include_str!("../../peers/select.cuh")),
    ("peer.py", include_str!("../../peers/peer.py")),
];

/// The environment variable for the interpreter of the peers in Python, which replaces python3.
const PYTHON_VARIABLE: &str = "GRIDSYNC_PYTHON";

/// The interpreter of the peers in Python: that of [`PYTHON_VARIABLE`], or python3.
pub(super) fn interpreter() -> OsString {
    let named = env::var_os(PYTHON_VARIABLE).filter(|named| !named.is_empty());
    named.unwrap_or_else(|| "python3".into())
}

/// The folder that keeps built peers, if the user names one.
fn kept_in() -> Option<PathBuf> {
    env::var_os("GRIDSYNC_PEERS").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// The exit code of a peer whose result is wrong.
const WRONG: i32 = 1;

/// The exit code of a script without something that it needs.
const ABSENT: i32 = 4;

/// A CUDA C++ program that answers each question (a line) with times (see
/// `host/lab/peers/peer.cuh`).
#[derive(Clone, Copy, Debug)]
pub struct PeerProgram {
    /// Name in records.
    pub(super) name: &'static str,
    /// Source.
    pub(super) source: &'static str,
    /// Flags for nvcc in addition to those for all programs.
    pub(super) flags: &'static [&'static str],
}

/// The answers of a peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answers {
    /// µs for each question. Questions that it could not measure are missing.
    pub(super) times: HashMap<String, Spread>,
    /// The peer's notes on missing answers, each once.
    pub(super) notes: Vec<String>,
    /// Its version, if it reports one.
    pub(super) version: Option<String>,
}

impl PeerProgram {
    /// Builds the program, runs it with `args` and the parameters of `sampling`, and sends it
    /// `questions`.
    pub(super) fn ask(
        &self,
        args: &[String],
        sampling: &Sampling,
        questions: &[String],
    ) -> Result<Answers, PeerError> {
        self.ask_with(&[], args, sampling, questions)
    }

    /// As [`ask`](Self::ask), with additional nvcc flags, such as those of a library that had to be
    /// found.
    pub(super) fn ask_with(
        &self,
        library: &[OsString],
        args: &[String],
        sampling: &Sampling,
        questions: &[String],
    ) -> Result<Answers, PeerError> {
        let folder = folder_with("peer.cu", self.source)?;
        let kept = kept_in().map(|kept| kept.join(self.key(library)));
        let program = kept.clone().unwrap_or_else(|| folder.path().join("peer"));
        if !program.is_file() {
            self.build(&folder, library, &program)?;
        }
        let mut peer = Command::new(&program);
        peer.args(args);
        converse(&mut peer, sampling, questions, PeerError::Io)
    }

    /// Builds the program of `folder`, and then moves it to `program`, so that another process
    /// never sees a part of it.
    fn build(
        &self,
        folder: &TempDir,
        library: &[OsString],
        program: &Path,
    ) -> Result<(), PeerError> {
        let (source, new) = (folder.path().join("peer.cu"), folder.path().join("new"));
        let built = Command::new("nvcc")
            .args(["-O3", "-std=c++17", "-arch=native"])
            .args(self.flags)
            .arg("-o")
            .args([&new, &source])
            .args(library)
            .output()
            .map_err(PeerError::NoCompiler)?;
        if !built.status.success() {
            return Err(failed("build", &built.stderr));
        }
        if let Some(folder) = program.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::rename(&new, program) {
            // The folder is on another file system.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::copy(&new, program).map(|_| ())?;
            }
            moved => moved?,
        }
        Ok(())
    }

    /// A name for the result of building these sources with these flags.
    fn key(&self, library: &[OsString]) -> String {
        let mut hasher = DefaultHasher::new();
        (HEADERS, self.source, self.flags, library).hash(&mut hasher);
        format!("peer-{:016x}", hasher.finish())
    }

    /// Builds the program into the folder named by `GRIDSYNC_PEERS`, unless it is already there.
    ///
    /// # Errors
    /// If nvcc is missing or fails, or a file cannot be written.
    pub(super) fn keep(&self) -> Result<(), PeerError> {
        let Some(program) = kept_in().map(|kept| kept.join(self.key(&[]))) else { return Ok(()) };
        if program.is_file() {
            return Ok(());
        }
        let folder = folder_with("peer.cu", self.source)?;
        self.build(&folder, &[], &program)
    }
}

/// A Python script that answers the same questions (see `host/lab/peers/peer.py`).
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerScript {
    /// Name in records.
    pub(super) name: &'static str,
    /// Source.
    pub(super) source: &'static str,
}

impl PeerScript {
    /// Runs the script with the parameters of `sampling`, and sends it `questions`. If Python is
    /// missing or the script fails, the result is a note: the CPU is only for comparison.
    ///
    /// # Errors
    /// [`PeerError::Wrong`]; or if a file operation fails.
    pub(super) fn ask(
        &self,
        sampling: &Sampling,
        questions: &[String],
    ) -> Result<Answers, PeerError> {
        match ask_python(&interpreter(), self.source, &[], sampling, questions) {
            Err(error @ (PeerError::NoInterpreter(_) | PeerError::Failed { .. })) => {
                Ok(Answers { notes: vec![format!("left out: {error}")], ..Answers::default() })
            }
            answers => answers,
        }
    }
}

/// Runs the script `source` with `args` and the parameters of `sampling`, and sends it `questions`.
///
/// # Errors
/// If Python is missing, the script fails, or a file operation fails.
pub(super) fn ask_python(
    python: &OsStr,
    source: &str,
    args: &[&str],
    sampling: &Sampling,
    questions: &[String],
) -> Result<Answers, PeerError> {
    let folder = folder_with("script.py", source)?;
    let mut peer = Command::new(python);
    peer.arg(folder.path().join("script.py")).args(args);
    converse(&mut peer, sampling, questions, PeerError::NoInterpreter)
}

/// A folder with `source` in a file with the name `name`, and the files that the peers share.
fn folder_with(name: &str, source: &str) -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for (name, text) in HEADERS.into_iter().chain([(name, source)]) {
        fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// Runs `peer` with the parameters of `sampling` after its arguments, and sends it `questions`.
/// `absent` is the error if the program does not exist.
fn converse(
    peer: &mut Command,
    sampling: &Sampling,
    questions: &[String],
    absent: fn(io::Error) -> PeerError,
) -> Result<Answers, PeerError> {
    let mut child = peer
        .args([
            sampling.at_least.to_string(),
            sampling.at_most.to_string(),
            sampling.uncertainty.to_string(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(absent)?;
    if let Some(mut input) = child.stdin.take() {
        let asked: String = questions.iter().map(|line| format!("{line}\n")).collect();
        match input.write_all(asked.as_bytes()) {
            // The peer exited before it had read all questions. Its exit code and its errors are
            // read below.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    let done = child.wait_with_output()?;
    match done.status.code() {
        Some(0) => Ok(Answers::parse(&String::from_utf8_lossy(&done.stdout))),
        // Python also exits with this code after an uncaught exception.
        Some(WRONG) if !is_traceback(&done.stderr) => {
            Err(PeerError::Wrong(on_one_line(&done.stderr)))
        }
        Some(ABSENT) => Err(PeerError::Absent(on_one_line(&done.stderr))),
        _ => Err(failed("run", &done.stderr)),
    }
}

fn failed(step: &'static str, stderr: &[u8]) -> PeerError {
    let output = on_one_line(stderr);
    PeerError::Failed { step, output }
}

/// The text without line breaks. Of a traceback only the line with the exception.
fn on_one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let exception = text.rsplit_once(TRACEBACK).and_then(|(_, after)| {
        // The lines of the stack are indented.
        after.lines().skip(1).find(|line| !line.starts_with(' '))
    });
    exception.unwrap_or(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line of Python's report of an exception.
const TRACEBACK: &str = "Traceback (most recent call last):";

fn is_traceback(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains(TRACEBACK)
}

impl Answers {
    /// Reads lines `QUESTION: median quartile_range min max samples`, `note: …` and `version: …`;
    /// ignores other lines.
    pub(super) fn parse(said: &str) -> Self {
        let mut answers = Self::default();
        for (question, answer) in said.lines().filter_map(|line| line.split_once(": ")) {
            if question == "note" {
                if !answers.notes.iter().any(|note| note == answer) {
                    answers.notes.push(answer.into());
                }
            } else if question == "version" {
                answers.version = Some(answer.into());
            } else if let Some(time) = spread(answer) {
                answers.times.insert(question.into(), time);
            }
        }
        answers
    }
}

/// `median quartile_range min max samples`.
fn spread(text: &str) -> Option<Spread> {
    let mut words = text.split_whitespace();
    let mut us = || words.next()?.parse().ok();
    let (median, quartile_range, min, max) = (us()?, us()?, us()?, us()?);
    Some(Spread { median, quartile_range, min, max, samples: words.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_by_question_and_notes_once() {
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

    /// The answers of this shell script to two questions.
    #[cfg(unix)]
    fn of_shell(script: &str) -> Result<Answers, PeerError> {
        let mut shell = Command::new("sh");
        let questions = ["132 256".to_owned(), "132 512".to_owned()];
        let sampling = Sampling::default();
        converse(shell.args(["-c", script, "peer"]), &sampling, &questions, PeerError::Io)
    }

    #[cfg(unix)]
    #[test]
    fn a_peer_receives_its_sampling_and_its_questions() {
        let answers = of_shell("while read line; do echo \"$line: 1 0 1 $2 $1\"; done")
            .expect("the shell should answer");
        let time = answers.times["132 512"];
        assert_eq!((time.median, time.max, time.samples), (1.0, 51.0, 7));
    }

    #[cfg(unix)]
    #[test]
    fn a_wrong_result_of_a_peer_is_not_a_failure_to_run() {
        let ends = |script| of_shell(script).expect_err("it should fail").to_string();
        assert_eq!(
            ends("echo 'sum 3 is 4,\nnot 5' >&2; exit 1"),
            "a wrong result of the peer: sum 3 is 4, not 5"
        );
        assert_eq!(
            ends("cat > /dev/null; echo 'no device' >&2; exit 3"),
            "the peer run failed: no device"
        );
    }

    /// The answers of a script that only waits and checks its result in this way.
    fn of_python(check: &str) -> Result<Answers, PeerError> {
        let source = format!(
            "import peer, time\npeer.answer(lambda op, dtype, n: (lambda: time.sleep(1e-3), {check}))\n"
        );
        let script = PeerScript { name: "wait", source: source.leak() };
        script.ask(&Sampling::default(), &["wait f32 cpu 1 1 0".into()])
    }

    #[test]
    fn a_script_is_timed_or_a_note_explains_why_not() {
        let answers = of_python("lambda: None").expect("it should not fail");
        match answers.times.get("wait f32 cpu 1 1 0") {
            Some(time) => assert!(time.min >= 1000.0 && time.samples >= 7, "{time:?}"),
            None => assert!(answers.notes[0].contains("no Python"), "{answers:?}"),
        }
        let fails = of_python("lambda: 1 / 0").expect("that it fails is a note");
        assert!(fails.notes[0].starts_with("left out: "), "{fails:?}");
    }

    #[test]
    fn a_wrong_result_of_a_script_is_an_error() {
        match of_python("lambda: (_ for _ in ()).throw(peer.Wrong('5'))") {
            Ok(answers) => assert!(answers.notes[0].contains("no Python"), "{answers:?}"),
            Err(error) => assert_eq!(error.to_string(), "a wrong result of the peer: peer: 5"),
        }
    }

    #[test]
    fn a_line_that_is_not_an_answer_is_ignored() {
        let answers = Answers::parse("132 256: 0.99 0.001 0.988\n132 256\nno device\n\n");
        assert_eq!(answers, Answers::default());
    }
}
