//! The suite `python`: calls of the Python package `gridsync`, on arrays of PyTorch and CuPy, next to
//! the calls of these libraries that do the same (see `host/lab/peers/python.py`).

use super::library::Library;
use super::peer::{Answers, PeerError, ask_python, interpreter};
use super::{Measurement, Peer, PeerKinds, Record, Sampling, Spread, Step};
use serde_json::json;
use std::ffi::OsStr;

/// A function of the package, and the calls that do the same.
#[derive(Clone, Copy, Debug)]
pub struct PythonFunction {
    /// Its name.
    pub name: &'static str,
    /// The call of PyTorch.
    torch: &'static str,
    /// The call of CuPy, if there is one.
    cupy: Option<&'static str>,
}

/// All functions.
pub const PYTHON_FUNCTIONS: [PythonFunction; 10] = [
    PythonFunction::new("sum", "torch.sum").and("cupy.sum"),
    PythonFunction::new("cumulative_sum", "torch.cumsum").and("cupy.cumsum"),
    PythonFunction::new("cumulative_max", "torch.cummax"),
    PythonFunction::new("sort", "torch.sort").and("cupy.sort"),
    PythonFunction::new("argsort", "torch.argsort").and("cupy.argsort"),
    PythonFunction::new("topk", "torch.topk"),
    PythonFunction::new("select", "torch.masked_select"),
    PythonFunction::new("searchsorted", "torch.searchsorted").and("cupy.searchsorted"),
    PythonFunction::new("softmax", "torch.softmax"),
    PythonFunction::new("var", "torch.var").and("cupy.var"),
];

/// Lengths to measure by default.
pub const PYTHON_SIZES: [usize; 5] = [1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28];

/// The times of a call: of the GPU, of the host until the GPU is done, and of the host until the
/// call returns. The last is only measured at the least length.
pub const PYTHON_TIMES: [&str; 3] = ["device", "wall", HOST];

/// The time until a call returns.
const HOST: &str = "host";

/// Fewer samples than in other suites, as the host's times scatter more.
const SAMPLING: Sampling = Sampling { uncertainty: 0.02, at_least: 7, at_most: 51 };

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct PythonCalls<'a> {
    /// The functions.
    pub functions: &'a [PythonFunction],
    /// The lengths.
    pub sizes: &'a [usize],
    /// The number of the GPU.
    pub ordinal: u32,
}

/// The measured time.
#[derive(Clone, Debug, Default)]
pub struct PythonRun {
    /// The records.
    pub records: Vec<Record>,
    /// Why some are missing.
    pub notes: Vec<String>,
}

/// One time of one function at one length.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The function.
    function: PythonFunction,
    /// One of [`PYTHON_TIMES`].
    time: &'static str,
    /// The length.
    n: usize,
}

impl PythonFunction {
    /// A function with this name, where this call of PyTorch does the same.
    const fn new(name: &'static str, torch: &'static str) -> Self {
        Self { name, torch, cupy: None }
    }

    /// The same, where this call of CuPy does the same.
    const fn and(self, cupy: &'static str) -> Self {
        Self { cupy: Some(cupy), ..self }
    }

    /// The call of `library` that does the same.
    fn peer(&self, library: Library) -> Option<&'static str> {
        match library {
            Library::Torch => Some(self.torch),
            Library::Cupy => self.cupy,
        }
    }
}

impl Point {
    /// The question about a call: `CALL TIME N`.
    fn question(&self, call: &str) -> String {
        format!("{call} {} {}", self.time, self.n)
    }

    /// The question about the function.
    fn our_question(&self) -> String {
        self.question(&format!("gridsync.{}", self.function.name))
    }

    /// The question about the call of `library` that does the same, if there is one.
    fn peer_question(&self, library: Library) -> Option<String> {
        self.function.peer(library).map(|call| self.question(call))
    }
}

impl PythonCalls<'_> {
    /// The number of libraries that are asked: PyTorch, and CuPy if that is one of `peers`.
    #[must_use]
    pub fn libraries(&self, peers: &PeerKinds) -> usize {
        self.asked(peers).count()
    }

    /// The libraries that are asked.
    fn asked(&self, peers: &PeerKinds) -> impl Iterator<Item = Library> {
        let is_asked = |library: &Library| {
            let is_wanted = *library == Library::Torch || peers.contains(library.kind());
            is_wanted && !self.points(*library).is_empty()
        };
        Library::ALL.into_iter().filter(is_asked)
    }

    /// Measures the functions on tensors of PyTorch on a GPU with the name `device`, and on arrays
    /// of CuPy if that is one of `peers`. A process for each library measures all of its points,
    /// and then their records follow.
    ///
    /// # Errors
    /// [`PeerError`], which is [`PeerError::Absent`] or [`PeerError::NoInterpreter`] if Python has
    /// no PyTorch with a GPU or no package, and [`PeerError::OfLibrary`] if CuPy was asked for by
    /// name and is not there or fails.
    pub fn run(
        &self,
        device: &str,
        peers: &PeerKinds,
        step: impl FnMut(Step<'_, &'static str>),
    ) -> Result<PythonRun, PeerError> {
        self.run_by(&interpreter(), device, peers, step)
    }

    /// As [`run`](Self::run), with this Python.
    fn run_by(
        &self,
        python: &OsStr,
        device: &str,
        peers: &PeerKinds,
        mut step: impl FnMut(Step<'_, &'static str>),
    ) -> Result<PythonRun, PeerError> {
        let mut run = PythonRun::default();
        for library in self.asked(peers) {
            step(Step::Next(library.name()));
            let points = self.points(library);
            let asked = self.ask(python, library, &points, peers.contains(library.kind()));
            let answers = match library {
                Library::Torch => asked?,
                Library::Cupy => library.or_note(asked, peers.names(library.kind()))?,
            };
            let records =
                points.iter().filter_map(|point| record(device, point, library, &answers));
            for record in records {
                step(Step::Measured(&record));
                run.records.push(record);
            }
            let notes = answers.notes.iter();
            run.notes.extend(notes.map(|note| format!("arrays of {}: {note}", library.name())));
        }
        Ok(run)
    }

    /// The points on arrays of `library`: of CuPy those with a peer.
    fn points(&self, library: Library) -> Vec<Point> {
        let shortest = self.sizes.iter().min();
        let of_time = |function, time| {
            let sizes = self.sizes.iter().filter(move |&n| time != HOST || Some(n) == shortest);
            sizes.map(move |&n| Point { function, time, n })
        };
        let functions = self.functions.iter().filter(|function| function.peer(library).is_some());
        let of_function =
            |&function| PYTHON_TIMES.into_iter().flat_map(move |time| of_time(function, time));
        functions.flat_map(of_function).collect()
    }

    /// The answers about arrays of `library`, and about its calls if `with_peer`.
    fn ask(
        &self,
        python: &OsStr,
        library: Library,
        points: &[Point],
        with_peer: bool,
    ) -> Result<Answers, PeerError> {
        let questions = |point: &Point| {
            let peer = point.peer_question(library).filter(|_| with_peer);
            [point.our_question()].into_iter().chain(peer)
        };
        let questions: Vec<_> = points.iter().flat_map(questions).collect();
        let source = include_str!("../../peers/python.py");
        let args = [library.name(), &self.ordinal.to_string()];
        ask_python(python, source, &args, &SAMPLING, &questions)
    }
}

/// The record of a point, if there is an answer.
fn record(device: &str, point: &Point, library: Library, answers: &Answers) -> Option<Record> {
    let time = *answers.times.get(&point.our_question())?;
    let peer_time = |question| answers.times.get(&question);
    let peer_time: Option<&Spread> = point.peer_question(library).and_then(peer_time);
    let peer_noise = peer_time.and_then(|time| SAMPLING.peer_noise(time));
    let warnings = SAMPLING.noise(&time).into_iter().chain(peer_noise).collect();
    let params = json!({
        "arrays": library.name(), "dtype": "f32", "n": point.n, "time": point.time,
    });
    let measured = Measurement { time, warnings };
    let peer = point
        .function
        .peer(library)
        .zip(peer_time)
        .map(|(name, time)| Peer::new(name, time.median).of_version(answers.version.clone()));
    let record = Record::new("python", point.function.name, device, params, measured);
    Some(record.beside(peer))
}

#[cfg(test)]
mod tests;
