//! The operations of a command: the lines of the [catalogue](gridsync_entries::operations) that it
//! accepts, by operation, element type and accumulator.

use crate::data::{self, Dtype};
use clap::ValueEnum;
use gridsync_kernels::op::{Compensated, Operation};
use std::any::TypeId;

/// The accumulator for floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Acc {
    F32,
    F64,
    /// Sums and means of f32 and f64: the errors of the additions are summed up too, which makes
    /// the sum as accurate as one in twice the precision.
    Compensated,
}

impl Acc {
    /// The accumulator of `O`, or `None` if it is not a floating-point number.
    fn of<O: Operation>() -> Option<Self> {
        let is = |ty| ty == TypeId::of::<O::Accumulator>();
        let compensated = [TypeId::of::<Compensated<f32>>(), TypeId::of::<Compensated<f64>>()];
        match () {
            () if is(TypeId::of::<f32>()) => Some(Self::F32),
            () if is(TypeId::of::<f64>()) => Some(Self::F64),
            () if compensated.into_iter().any(is) => Some(Self::Compensated),
            () => None,
        }
    }
}

/// The accumulators of commands that have no compensated ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlainAcc {
    F32,
    F64,
}

impl From<PlainAcc> for Acc {
    fn from(acc: PlainAcc) -> Self {
        match acc {
            PlainAcc::F32 => Self::F32,
            PlainAcc::F64 => Self::F64,
        }
    }
}

/// An operation on elements of one type, and the function of a command that runs it.
struct Line<F> {
    op: &'static str,
    element: Dtype,
    acc: Option<Acc>,
    run: F,
}

/// All operations of a command.
pub(super) struct Lines<F>(Vec<Line<F>>);

impl<F: Copy> Lines<F> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the operation `O`, which is run by `run`.
    pub(super) fn add<O>(&mut self, op: &'static str, run: F)
    where
        O: Operation<Element: data::Scalar>,
    {
        self.0.push(Line {
            op,
            element: <O::Element as data::Scalar>::DTYPE,
            acc: Acc::of::<O>(),
            run,
        });
    }

    /// The names of the operations, in the order of the catalogue.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for line in &self.0 {
            if !names.contains(&line.op) {
                names.push(line.op);
            }
        }
        names
    }

    /// The element types that `op` accepts, in the order of [`Dtype::ALL`].
    pub(super) fn types_of(&self, op: &str) -> Vec<Dtype> {
        let takes = |&dtype: &Dtype| self.find(op, dtype, None).is_some();
        Dtype::ALL.into_iter().filter(takes).collect()
    }

    /// The function that runs `op` on elements of `dtype` with the accumulator `acc`, or with the
    /// default one if `acc` is `None`.
    pub(super) fn find(&self, op: &str, dtype: Dtype, acc: Option<Acc>) -> Option<F> {
        let is_asked_for = |line: &&Line<F>| {
            line.op == op && line.element == dtype && (acc.is_none() || line.acc == acc)
        };
        self.0.iter().find(is_asked_for).map(|line| line.run)
    }
}

/// A list of types as text: `f32 f64 i32`.
pub(super) fn listed(types: &[Dtype]) -> String {
    let names: Vec<_> = types.iter().map(|dtype| dtype.name()).collect();
    names.join(" ")
}
