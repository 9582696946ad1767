//! Every kernel on every kind of input, size and device, compared with what is right.
//!
//! To add a test, write a function that panics if its claim does not hold, in the module that it belongs
//! to, and list it in that module's `trials()`: as `test: the_claim;`, or if it takes a `&Device` as
//! `on_each_backend: the_claim;`. The compiler complains of one that is not listed. The matrices follow
//! the tables of [`gridsync::verify`]: a new operation is a line there.
//!
//! `--list`, `--exact`, `--skip` and filters work as usual; `--slowest 20` prints what took longest. What
//! a change does not need is listed under `thorough:`, or has that [`Budget`], and is ignored unless
//! `GRIDSYNC_THOROUGH=1`. A test that found no GPU says SKIPPED, and counts as ignored.
//!
//! [`Budget`]: gridsync_tests::trials::Budget
//!
//! | module | what it tries |
//! |---|---|
//! | `reduce` | every reduction × size × backend, and every schedule of the emulator |
//! | `rows` | every reduction of rows × shape × backend, from any start, under every schedule |
//! | `scan` | every scan × size × backend × schedule, starts, in place, order, stamps |
//! | `select` | every selection × size × backend × schedule, starts, stamps, NaN |
//! | `warp_rows` | eight rows of a warp at once: order, bits, schedules |
//! | `range_sum` | every range sum × size × backend, and queries that are no ranges |
//! | `kendall` | every rank correlation × size × ties × method × backend × schedule |
//! | `parts` | arrays of the host that go through the device part by part |
//! | `alignment` | views that start 0 to 8 elements past an aligned address |
//! | `special` | NaN, infinities and zeros of either sign, wherever they stand |
//! | `arguments` | argmin and argmax: NaN, zeros, equal ones, wherever they stand |
//! | `residues` | products modulo numbers of every kind |
//! | `compensation` | what compensated sums keep, and what they do with NaN and infinities |
//! | `repeat` | the same bits again; one workspace, many lengths |
//! | `huge` | more than 2^31 and 2^32 elements |
//! | `barrier` | every grid barrier: rounds, reuse, shapes, schedules, refusals |
//! | `barrier_parts` | the grid barrier in two phases, and over some of the blocks |
//! | `bounded` | the barrier that gives up: that it ends, and whom it names |
//! | `exchange` | the barrier that carries data: results, reuse, shapes, schedules |
//! | `xpx` | X→P→X: right with the grid barrier, wrong as predicted without |
//! | `spin` | waiting for a word: the forms that load anew end, whatever the schedule |
//! | `ladder` | every rung of the ladders of sums and of scans: lengths, types, schedules |
//! | `fences` | the kernels that measure fences: what they repeat, and what they leave |
//! | `broken` | kernels that are wrong by design, which the harness has to catch |
//! | `coverage` | that nothing in the PTX is left out of all this |
//! | `matrix` | no tests: what the matrices have in common |
//! | `fresh` | that the PTX is made from the sources beside it |

use gridsync_tests::trials::Trials;
use std::process::ExitCode;

mod alignment;
mod arguments;
mod barrier;
mod barrier_parts;
mod bits;
mod bounded;
mod broken;
mod compensation;
mod coverage;
mod exchange;
mod fences;
mod fresh;
mod huge;
mod kendall;
mod ladder;
mod matrix;
mod mean;
mod parts;
mod range_sum;
mod reduce;
mod repeat;
mod residues;
mod rows;
mod scan;
mod select;
mod special;
mod spin;
mod warp_rows;
mod xpx;

fn main() -> ExitCode {
    let modules = [
        alignment::trials(),
        arguments::trials(),
        barrier::trials(),
        barrier_parts::trials(),
        bits::trials(),
        bounded::trials(),
        broken::trials(),
        compensation::trials(),
        coverage::trials(),
        exchange::trials(),
        fences::trials(),
        fresh::trials(),
        huge::trials(),
        kendall::trials(),
        ladder::trials(),
        mean::trials(),
        parts::trials(),
        range_sum::trials(),
        reduce::trials(),
        repeat::trials(),
        residues::trials(),
        rows::trials(),
        scan::trials(),
        select::trials(),
        special::trials(),
        spin::trials(),
        warp_rows::trials(),
        xpx::trials(),
    ];
    Trials::of(module_path!()).with(modules).run()
}
