//! The text and the JSON of a `--check`.

use super::computed;
use super::job::Verdict;
use crate::number::Number;
use gridsync::primitives::{Check, ScanCheck};
use gridsync_lab::display::rounded;

impl Verdict {
    /// The verdict on one result.
    pub(super) fn of(result: Number, check: Check<Number>) -> Self {
        let wrong = || {
            format!(
                "the result is wrong: {}, the reference is {}; off by {}, allowed {}",
                result.text(),
                check.reference.text(),
                rounded(check.abs_err),
                rounded(check.bound)
            )
        };
        Self { json: json(None, &check), line: compared(&check), wrong: (!check.ok).then(wrong) }
    }

    /// The verdict on many results. `found` is the first wrong one or, if all are right, the one
    /// whose error comes closest to its bound. `what` is the name of a result, without its index.
    pub(super) fn of_many<A: Into<Number>>(found: ScanCheck<A>, what: &str) -> Self {
        let ScanCheck { at, check } = found;
        let check = Check {
            reference: check.reference.into(),
            abs_err: check.abs_err,
            bound: check.bound,
            ok: check.ok,
        };
        let wrong = || {
            format!(
                "{what} {at} is wrong, and nothing was written: the reference is {}; off by {}, allowed {}",
                check.reference.text(),
                rounded(check.abs_err),
                rounded(check.bound)
            )
        };
        Self {
            json: json(Some(at), &check),
            line: format!("worst at {at}: {}", compared(&check)),
            wrong: (!check.ok).then(wrong),
        }
    }
}

fn json(at: Option<usize>, check: &Check<Number>) -> computed::Check {
    let Check { reference, abs_err, bound, ok } = *check;
    computed::Check::Result { at, reference, abs_err: abs_err.into(), bound: bound.into(), ok }
}

/// Describes a result compared with its reference.
fn compared(check: &Check<Number>) -> String {
    let verdict = match check.ok {
        true if check.bound == f64::INFINITY => {
            "nothing can be promised, since partial results may overflow"
        }
        true => "right",
        false => "WRONG",
    };
    format!(
        "reference {}: off by {}, allowed {}: {verdict}",
        check.reference.text(),
        rounded(check.abs_err),
        rounded(check.bound)
    )
}
