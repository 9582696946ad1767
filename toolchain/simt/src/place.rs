//! Source locations: of calls in Rust, and of programs that a kernel interprets.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::panic::Location;
use core::ptr::NonNull;
use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A source location. Of a call in Rust it comes from `#[track_caller]`.
///
/// One pointer, because the race detector keeps one for each access: to a [`Location`], or with its
/// lowest bit set to a `Line`.
#[derive(Clone, Copy)]
pub struct Place(NonNull<()>);

// SAFETY: it is a shared reference to a static value that never changes.
unsafe impl Send for Place {}
// SAFETY: it is a shared reference to a static value that never changes.
unsafe impl Sync for Place {}

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
enum At {
    Call(&'static Location<'static>),
    Program(&'static Line),
}

/// The bit that marks a `Line`, which no aligned address has.
const PROGRAM: usize = 1;
const _: () = assert!(align_of::<Location<'_>>() > PROGRAM && align_of::<Line>() > PROGRAM);

/// A location in a program that is not compiled Rust.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Line {
    file: Box<str>,
    line: u32,
    column: u32,
}

impl Place {
    /// A location in a program that the kernel interprets: file, line, and column, or 0 if only the
    /// line is known. For [`interpret_at`](crate::interpret_at).
    ///
    /// Each distinct location is kept until the process ends, so create them once per program.
    pub fn in_program(file: &str, line: u32, column: u32) -> Self {
        static LINES: LazyLock<Mutex<HashSet<&'static Line>>> = LazyLock::new(Mutex::default);
        let line = Line { file: file.into(), line, column };
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lines.get(&line).copied().unwrap_or_else(|| {
            let kept: &Line = Box::leak(Box::new(line));
            lines.insert(kept);
            kept
        });
        Self(NonNull::from(kept).cast().map_addr(|address| address | PROGRAM))
    }

    /// The location of the caller.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        Location::caller().into()
    }

    /// The file, as the compiler was given it.
    pub fn file(self) -> &'static str {
        match self.at() {
            At::Call(call) => call.file(),
            At::Program(line) => &line.file,
        }
    }

    /// The line, starting at 1.
    pub fn line(self) -> u32 {
        match self.at() {
            At::Call(call) => call.line(),
            At::Program(line) => line.line,
        }
    }

    /// The column, starting at 1. 0 if it is not known.
    pub fn column(self) -> u32 {
        match self.at() {
            At::Call(call) => call.column(),
            At::Program(line) => line.column,
        }
    }

    /// Whether both are one value in memory. Then they are equal, but not the reverse.
    pub(crate) fn is(self, other: Self) -> bool {
        self.0 == other.0
    }

    fn at(self) -> At {
        let address = self.0.addr().get();
        if address & PROGRAM == 0 {
            // SAFETY: without the bit it was made from a reference to a static location.
            At::Call(unsafe { self.0.cast().as_ref() })
        } else {
            let line = self.0.as_ptr().map_addr(|address| address & !PROGRAM);
            // SAFETY: with the bit it was made from a reference to a leaked line.
            At::Program(unsafe { &*line.cast_const().cast() })
        }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.at() == other.at()
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.at().hash(state);
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at().cmp(&other.at())
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(call: &'static Location<'static>) -> Self {
        Self(NonNull::from(call).cast())
    }
}

impl fmt::Display for Place {
    /// `file:line:column`, without a column that is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file(), self.line())?;
        match self.column() {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

impl fmt::Debug for Place {
    /// Same as `Display`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
