//! Tests of the suite `python`, with a Python that has stand-ins for the libraries.

#![cfg(unix)]

use super::*;
use crate::bench::PeerKind;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with a program `python` that does this.
fn with_python(script: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let python = folder.path().join("python");
    fs::write(&python, format!("#!/bin/sh\n{script}\n")).expect("it is written");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is mine");
    folder
}

/// Measures `sum` and `topk` at two lengths by the program `python` in `folder`.
fn run(folder: &Path, peers: &PeerKinds) -> Result<PythonRun, PeerError> {
    let is_asked = |function: &PythonFunction| ["sum", "topk"].contains(&function.name);
    let functions: Vec<_> = PYTHON_FUNCTIONS.into_iter().filter(is_asked).collect();
    let calls = PythonCalls { functions: &functions, sizes: &[65536, 1024], ordinal: 3 };
    let mut measured = 0;
    let step = |step: Step<'_, _>| measured += usize::from(matches!(step, Step::Measured(_)));
    let run = calls.run_by(folder.join("python").as_os_str(), "a GPU", peers, step)?;
    assert_eq!(measured, run.records.len(), "each record is a step");
    Ok(run)
}

/// The line of each record, its median, and its peer with the median of that.
fn told(run: &PythonRun) -> Vec<String> {
    let tell = |record: &Record| {
        let peer = record.peer.as_ref();
        let peer = peer.map_or(String::new(), |peer| format!(" {} {}", peer.name, peer.median));
        format!("{} {}{peer}", record.line(), record.median)
    };
    run.records.iter().map(tell).collect()
}

/// Answers each question about gridsync with 2 µs, and about others with 4.
const ANSWERS: &str = "echo version: 2.11.0; while read call rest; do\n\
    case $call in gridsync.*) us=2 ;; *) us=4 ;; esac\n\
    echo \"$call $rest: $us 0 $us $us 9\"; done; echo \"note: GPU $3\"";

#[test]
fn each_time_has_a_record_and_the_host_only_at_the_shortest_length() {
    let python = with_python(ANSWERS);
    let run = run(python.path(), &PeerKinds::None).expect("it should answer");
    let expected = ["sum", "topk"].map(|name| {
        ["n 65536, device", "n 1024, device", "n 65536, wall", "n 1024, wall", "n 1024, host"]
            .map(|rest| format!("python {name}, torch, f32, {rest} 2"))
    });
    assert_eq!(told(&run), expected.concat());
    assert_eq!(run.notes, ["arrays of torch: GPU 3"]);
}

#[test]
fn each_library_has_its_own_records_beside_its_own_calls() {
    let python = with_python(ANSWERS);
    let run = run(python.path(), &PeerKinds::All).expect("it should answer");
    let told = told(&run);
    assert_eq!(told.len(), 15, "CuPy has no topk: {told:?}");
    assert!(told.contains(&"python topk, torch, f32, n 1024, host 2 torch.topk 4".into()));
    assert_eq!(told[14], "python sum, cupy, f32, n 1024, host 2 cupy.sum 4");
    let peer = serde_json::to_value(&run.records[0].peer).expect("it is JSON");
    assert_eq!((&peer["version"], &peer["ratio"]), (&json!("2.11.0"), &json!(0.5)));
}

#[test]
fn cupy_may_be_absent_unless_it_is_named_but_not_torch() {
    let absent = |library: &str| {
        with_python(&format!(
            "[ $2 = {library} ] && {{ echo 'there is none' >&2; exit 4; }}\n{ANSWERS}"
        ))
    };
    let without_cupy = absent("cupy");
    let all = run(without_cupy.path(), &PeerKinds::All).expect("CuPy is left out");
    assert_eq!(all.records.len(), 10);
    assert_eq!(all.notes[1], "arrays of cupy: left out: there is none");
    let named = PeerKinds::Named(vec![PeerKind::Cupy]);
    let why = run(without_cupy.path(), &named).expect_err("it is named").to_string();
    assert_eq!(why, "cupy: there is none");
    let why = run(absent("torch").path(), &PeerKinds::All).expect_err("it is needed");
    assert!(matches!(why, PeerError::Absent(_)), "{why:?}");
    let why = run(Path::new("/no"), &PeerKinds::None).expect_err("there is no Python");
    assert!(matches!(why, PeerError::NoInterpreter(_)), "{why:?}");
}

/// A module `torch` whose functions return their argument at once. A call sets `cuda.is_idle` if it
/// waits for the GPU.
const TORCH: &str = r#"
import time

__version__ = "0.0"

class Tensor:
    def __init__(self, shape):
        self.shape = shape
    def __getitem__(self, part):
        return Tensor((len(range(*part.indices(self.shape[0]))),))
    def reshape(self, _, row):
        return Tensor((self.shape[0] // row, row))
    def __ge__(self, other):
        return self
    def sum(self):
        return self

class cuda:
    is_idle = False
    is_available = lambda: True
    set_device = synchronize = empty_cache = lambda *_: None
    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
        def record(self):
            self.at, cuda.is_idle = time.perf_counter(), False
        def elapsed_time(self, later):
            return 1e3 * (later.at - self.at)
        def query(self):
            return cuda.is_idle

def rand(n, device):
    assert device == "cuda"
    return Tensor((n,))

def __getattr__(name):
    return lambda x, *_, **__: x
"#;

/// A module `gridsync` of which `sum` waits, and `topk` fails.
const GRIDSYNC: &str = r#"
import torch

def sum(x):
    torch.cuda.is_idle = True

def topk(x, k):
    raise TypeError(f"the {k} greatest of {x.shape[0]}\nare not here")

def softmax(x):
    assert x.shape == (16, 4096), x.shape
"#;

/// The exit code of the script and what it prints to these questions, with this module `gridsync`;
/// or `None` without Python.
fn of_script(gridsync: &str, questions: &str) -> Option<(Option<i32>, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("script.py", include_str!("../../../peers/python.py"));
    write("peer.py", include_str!("../../../peers/peer.py"));
    write("torch.py", TORCH);
    write("gridsync.py", gridsync);
    write("questions", questions);
    let stdin = fs::File::open(folder.path().join("questions")).expect("the questions");
    let mut script = Command::new(interpreter());
    script.arg(folder.path().join("script.py")).args(["torch", "0", "1", "3", "0.5"]);
    let done = script.stdin(stdin).output().ok()?;
    let text = [done.stdout, done.stderr].concat();
    Some((done.status.code(), String::from_utf8(text).expect("it is UTF-8")))
}

#[test]
fn the_script_answers_each_question_or_explains_why_not() {
    let questions = "gridsync.sum device 1024\ngridsync.sum wall 1024\ngridsync.sum host 1024\n\
        gridsync.topk wall 1024\ngridsync.softmax wall 65537\ngridsync.var wall 1024\n\
        torch.masked_select host 1024\ntorch.softmax device 3\n";
    let Some((code, said)) = of_script(GRIDSYNC, questions) else { return };
    assert_eq!(code, Some(0), "{said}");
    let answers = Answers::parse(&said);
    assert_eq!(answers.version.as_deref(), Some("0.0"));
    let mut asked: Vec<_> = answers.times.keys().map(String::as_str).collect();
    asked.sort_unstable();
    assert_eq!(
        asked,
        [
            "gridsync.softmax wall 65537",
            "gridsync.sum device 1024",
            "gridsync.sum wall 1024",
            "torch.masked_select host 1024",
            "torch.softmax device 3",
        ]
    );
    for time in answers.times.values() {
        assert!(0.0 < time.min && time.min <= time.median && (1..=3).contains(&time.samples));
    }
    assert_eq!(
        answers.notes,
        [
            "gridsync.sum waits for the GPU, so it has no time of the host",
            "error: gridsync.topk: TypeError: the 64 greatest of 1024",
            "error: gridsync.var: AttributeError: module 'gridsync' has no attribute 'var'",
        ]
    );
}

#[test]
fn the_script_says_how_to_install_what_is_not_there() {
    let Some((code, said)) = of_script("import no_such_module", "") else { return };
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("'no_such_module'") && said.contains("maturin build"), "{said}");
}
