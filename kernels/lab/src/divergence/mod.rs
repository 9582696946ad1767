//! Branches on which the lanes of a warp may diverge: short kernels that write 100 or 200.
//!
//! Each kernel comes in three forms. As **written**, its arms are so short that the compiler needs
//! no branch: it selects one of two values. With **loops** in its arms the branch remains. The
//! **counted** form has the same loops, and counts the branches of its warps.
//!
//! [`ways`] has the kernel whose lanes take up to 32 different paths.

#![allow(clippy::manual_is_multiple_of, reason = "the conditions are to look as in CUDA C")]

mod form;
pub mod ways;

use cuda_std::prelude::*;
use form::{Counted, Form, Looped, Written};

/// The two numbers in `counts`: branches of a warp, and those on which its lanes diverged.
pub const COUNTS: usize = 2;

/// Dependent multiply-adds in a round of a loop.
pub const STEPS: u32 = 8;

/// Rounds of a loop after which an arm has computed its value exactly. It starts at 0, and each of
/// the [`STEPS`] halves the distance to at most 200. After 32 steps the distance is far below half
/// of the last bit of an f32.
pub const ROUNDS: u32 = 32 / STEPS;

macro_rules! kernels {
    ($($body:ident: $written:ident $looped:ident $counted:ident;)*) => {$(
        kernels!(@ $body Written $written, "as it is written");
        kernels!(@ $body Looped $looped, "with loops in its arms");
        kernels!(@ $body Counted $counted, "with loops in its arms, counting its branches");
    )*};
    (@ $body:ident $form:ident $name:ident, $how:literal) => {
        #[doc = concat!("Runs `", stringify!($body), "`, ", $how, ".")]
        ///
        /// Each thread writes its element of `c`. The counted form adds the counts of its warps to
        /// `counts`. The other forms leave it unchanged.
        ///
        /// # Safety
        ///
        /// Blocks and grid have one dimension; `c` has one element per thread; `counts` has
        /// [`COUNTS`] elements; `rounds` is at least [`ROUNDS`]; `zero` is 0.
        #[kernel]
        pub unsafe fn $name(c: Global<f32>, counts: Global<u32>, rounds: u32, zero: u32) {
            let tid = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
            let mut form = <$form as Form>::new(rounds, zero);
            c.write(tid as usize, $body(tid, &mut form));
            form.finish(counts);
        }
    };
}
kernels! {
    math1: divergence_math1 divergence_math1_looped divergence_math1_counted;
    math2: divergence_math2 divergence_math2_looped divergence_math2_counted;
    math3: divergence_math3 divergence_math3_looped divergence_math3_counted;
    math3_ifs: divergence_math3_ifs divergence_math3_ifs_looped divergence_math3_ifs_counted;
    math4: divergence_math4 divergence_math4_looped divergence_math4_counted;
    math4_fault: divergence_math4_fault divergence_math4_fault_looped divergence_math4_fault_counted;
}
kernels!(@ math2 Written divergence_warm_up, "as it is written, to be launched before the others");

/// Even threads get 100, odd ones 200: the lanes of each warp diverge.
#[device]
fn math1(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    if form.branch(tid % 2 == 0) {
        a = form.arm(100.0);
    } else {
        b = form.arm(200.0);
    }
    a + b
}

/// Even warps get 100, odd ones 200: no warp diverges if blocks consist of whole warps.
#[device]
fn math2(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    if form.branch((tid / 32) % 2 == 0) {
        a = form.arm(100.0);
    } else {
        b = form.arm(200.0);
    }
    a + b
}

/// Like [`math1`], with the condition in a variable.
#[device]
fn math3(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    let even = tid % 2 == 0;
    if form.branch(even) {
        a = form.arm(100.0);
    } else {
        b = form.arm(200.0);
    }
    a + b
}

/// Like [`math3`], with a second `if` in place of the `else`: each warp diverges twice.
#[device]
fn math3_ifs(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    let even = tid % 2 == 0;
    if form.branch(even) {
        a = form.arm(100.0);
    }
    let odd = form.same(tid) % 2 != 0;
    if form.branch(odd) {
        b = form.arm(200.0);
    }
    a + b
}

/// Like [`math2`], with a shift and a mask.
///
/// Rust does not need the inner parentheses of `((tid >> 5) & 1) == 0`: `==` binds weaker than `&`.
#[device]
fn math4(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    if form.branch((tid >> 5) & 1 == 0) {
        a = form.arm(100.0);
    } else {
        b = form.arm(200.0);
    }
    a + b
}

/// How C parses `tid >> 5 & 1 == 0`: **wrong**, on purpose. In C `==` binds tighter than `&`. So
/// the condition is `(tid >> 5) & (1 == 0)`, which is always false, and every thread gets 200.
#[device]
fn math4_fault(tid: u32, form: &mut impl Form) -> f32 {
    let (mut a, mut b) = (0.0, 0.0);
    if form.branch((tid >> 5) & u32::from(1 == 0) != 0) {
        a = form.arm(100.0);
    } else {
        b = form.arm(200.0);
    }
    a + b
}
