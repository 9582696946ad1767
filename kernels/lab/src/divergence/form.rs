//! The forms in which a kernel is compiled: they differ in how branches and arms are compiled.

use super::STEPS;
use crate::threads::lanes_of_warp;
use cuda_std::prelude::*;
use cuda_std::warp::{lane_id, warp_vote_ballot};

/// Code of a thread at its branches and in their arms.
pub(super) trait Form {
    /// Starts a thread. `rounds` and `zero` are those of the kernel.
    fn new(rounds: u32, zero: u32) -> Self;

    /// Marks `condition` as that of a branch, and returns it. Called by all lanes of the warp.
    fn branch(&mut self, condition: bool) -> bool;

    /// The work of an arm: computes `value`.
    fn arm(&self, value: f32) -> f32;

    /// The value of `tid`.
    fn same(&self, tid: u32) -> u32;

    /// Ends the thread.
    fn finish(self, counts: Global<u32>);
}

/// An arm is only its value.
pub(super) struct Written;

/// An arm is a loop.
pub(super) struct Looped {
    rounds: u32,
    /// 0, unknown to the compiler.
    zero: u32,
}

/// An arm is a loop, and each warp counts its branches.
pub(super) struct Counted {
    arms: Looped,
    lanes: u32,
    branches: u32,
    diverged: u32,
}

impl Form for Written {
    #[device]
    fn new(_rounds: u32, _zero: u32) -> Self {
        Self
    }

    #[device]
    fn branch(&mut self, condition: bool) -> bool {
        thread::branch(condition)
    }

    #[device]
    fn arm(&self, value: f32) -> f32 {
        value
    }

    #[device]
    fn same(&self, tid: u32) -> u32 {
        tid
    }

    #[device]
    fn finish(self, _counts: Global<u32>) {}
}

impl Form for Looped {
    #[device]
    fn new(rounds: u32, zero: u32) -> Self {
        Self { rounds, zero }
    }

    #[device]
    fn branch(&mut self, condition: bool) -> bool {
        thread::branch(condition)
    }

    /// Each step halves the distance to `value`. The compiler would evaluate a loop that started at
    /// a known number, and unroll one with a known number of rounds.
    #[device]
    fn arm(&self, value: f32) -> f32 {
        let (mut x, mut round) = (self.zero as f32, 0);
        loop {
            for _ in 0..STEPS {
                x = x.mul_add(0.5, 0.5 * value);
            }
            round += 1 + self.zero;
            if round >= self.rounds {
                return x;
            }
        }
    }

    /// Adds a 0 that is unknown to the compiler. If the compiler saw that a second condition is the
    /// opposite of the first, it would merge both into one branch.
    #[device]
    fn same(&self, tid: u32) -> u32 {
        tid + self.zero
    }

    #[device]
    fn finish(self, _counts: Global<u32>) {}
}

impl Form for Counted {
    #[device]
    fn new(rounds: u32, zero: u32) -> Self {
        Self { arms: Looped::new(rounds, zero), lanes: lanes_of_warp(), branches: 0, diverged: 0 }
    }

    #[device]
    fn branch(&mut self, condition: bool) -> bool {
        let taken = warp_vote_ballot(self.lanes, condition);
        self.branches += 1;
        self.diverged += u32::from(taken != 0 && taken != self.lanes);
        condition
    }

    #[device]
    fn arm(&self, value: f32) -> f32 {
        self.arms.arm(value)
    }

    #[device]
    fn same(&self, tid: u32) -> u32 {
        self.arms.same(tid)
    }

    /// The first lane adds the counts of the warp.
    #[device]
    fn finish(self, counts: Global<u32>) {
        if lane_id() == 0 {
            counts.add(0, self.branches, Ordering::Relaxed, Scope::Device);
            counts.add(1, self.diverged, Ordering::Relaxed, Scope::Device);
        }
    }
}
