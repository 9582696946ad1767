//! What `--check` found of many results, as the program says it.

use super::exit::Wrong;
use super::number::Number;
use super::output;
use gridsync::primitives::{Check, ScanCheck};
use serde_json::{Value, json};

/// The first wrong result, or one that is as far off as any of what it may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Where it stands.
    at: usize,
    check: Check<Number>,
}

impl Found {
    pub(super) fn new<A: Into<Number>>(scan: ScanCheck<A>) -> Self {
        Self {
            at: scan.at,
            check: Check {
                reference: scan.check.reference.into(),
                abs_err: scan.check.abs_err,
                bound: scan.check.bound,
                ok: scan.check.ok,
            },
        }
    }

    pub(super) fn is_right(&self) -> bool {
        self.check.ok
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "at": self.at,
            "reference": self.check.reference.json(),
            "abs_err": output::number(self.check.abs_err),
            "bound": output::number(self.check.bound),
            "ok": self.check.ok,
        })
    }

    /// A line.
    pub(super) fn text(&self) -> String {
        let Self { at, check } = self;
        let verdict = match check.ok {
            true if check.bound == f64::INFINITY => {
                "nothing can be promised, since partial results may overflow"
            }
            true => "right",
            false => "WRONG",
        };
        format!(
            "worst at {at}: reference {}, off by {:e}, allowed {:e}: {verdict}",
            check.reference.text(),
            check.abs_err,
            check.bound,
        )
    }

    /// That it is wrong; `what` says of what it is a result, up to its number.
    pub(super) fn error(&self, what: &str) -> Wrong {
        let Self { at, check } = self;
        Wrong(format!(
            "{what} {at} is wrong, and nothing was written: the reference says {}, it is off by {:e}, allowed are {:e}",
            check.reference.text(),
            check.abs_err,
            check.bound
        ))
    }
}
