//! The greeting that a rank sends when it joins, and what all ranks of a job must share.

use super::error::{Difference, RanksError};
use super::frame::{joined, parts, printable, take};
use super::hash::fnv;
use super::{Environment, Task};
use cuda_std::f16;
use gridsync_kernels::grid::reduce::Shape;
use std::io;

/// The first frame of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) rank: u32,
    pub(super) size: u32,
    /// The [fingerprint](tree) of its reduction tree.
    pub(super) tree: u64,
    /// The launcher's name for the job; empty if there is none.
    pub(super) job: String,
    /// The version of gridsync.
    pub(super) version: String,
    /// The call, in words.
    pub(super) call: String,
    /// The input that all ranks read; empty if they read different inputs.
    pub(super) input: String,
}

impl Greeting {
    pub(super) fn new(environment: &Environment, task: Task) -> Self {
        Self {
            rank: environment.rank,
            size: environment.size,
            tree: tree(),
            job: environment.job.clone().unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").into(),
            call: task.call,
            input: task.input.unwrap_or_default(),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let numbers = [&self.rank.to_le_bytes()[..], &self.size.to_le_bytes()].concat();
        let texts = [&self.job, &self.version, &self.call, &self.input];
        let texts = texts.map(|text| text.clone().into_bytes());
        [numbers, self.tree.to_le_bytes().into(), joined(&texts)].concat()
    }

    pub(super) fn from_bytes(body: &mut &[u8]) -> io::Result<Self> {
        let (rank, size) = (u32::from_le_bytes(take(body)?), u32::from_le_bytes(take(body)?));
        let tree = u64::from_le_bytes(take(body)?);
        let mut texts = parts(body)?.into_iter();
        let mut text = || String::from_utf8_lossy(&texts.next().unwrap_or_default()).into_owned();
        let (job, version, call, input) = (text(), text(), text(), text());
        Ok(Self { rank, size, tree, job, version, call, input })
    }

    /// Rejects a rank that differs from rank 0. Compares the job first, because a rank of another
    /// job may differ in everything else.
    pub(super) fn fits(&self, leader: &Self) -> Result<(), RanksError> {
        let differs = |difference, theirs: String, ours: String| {
            if theirs == ours {
                return Ok(());
            }
            let (theirs, ours) = (printable(&theirs), printable(&ours));
            Err(RanksError::Differs { rank: self.rank, difference, theirs, ours })
        };
        let texts = |difference, text: fn(&Self) -> &String| {
            differs(difference, format!("\"{}\"", text(self)), format!("\"{}\"", text(leader)))
        };
        let numbers = |difference, number: fn(&Self) -> String| {
            differs(difference, number(self), number(leader))
        };
        texts(Difference::Job, |greeting| &greeting.job)?;
        texts(Difference::Version, |greeting| &greeting.version)?;
        numbers(Difference::Tree, |greeting| format!("{:016x}", greeting.tree))?;
        numbers(Difference::Size, |greeting| greeting.size.to_string())?;
        texts(Difference::Call, |greeting| &greeting.call)?;
        // A rank that cannot open its input has nothing to compare. It reports this once all ranks
        // have joined.
        if self.input.is_empty() || leader.input.is_empty() {
            return Ok(());
        }
        texts(Difference::Input, |greeting| &greeting.input)
    }
}

/// A fingerprint of the reduction tree: of its shapes for arrays of all orders of magnitude.
fn tree() -> u64 {
    let lens = (0..48).map(|log2| (1usize << log2) + (1 << log2) / 3);
    let shapes =
        lens.flat_map(|len| [Shape::of::<f16>(len), Shape::of::<u32>(len), Shape::of::<u64>(len)]);
    fnv(shapes
        .flat_map(|shape| [shape.warps, shape.runs, shape.tiles, shape.leaves()])
        .flat_map(u32::to_le_bytes))
}
