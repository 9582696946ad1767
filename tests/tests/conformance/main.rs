//! Every kernel on every kind of input, size and device, compared with the right results.
//!
//! To add a test, write a function that panics if its claim does not hold. Put it into the right
//! module, and list it in that module's `trials()`: as `test: the_claim;`, or as `on_each_backend:
//! the_claim;` if it has a `&Device` parameter. The compiler reports an unlisted function. The
//! matrices follow the tables of [`gridsync_verify`]: a new operation is a line there.
//!
//! `--list`, `--exact`, `--skip` and filters work as usual; `--slowest 20` prints the times of the
//! 20 slowest tests. Long tests are listed under `thorough:` or have that [`Budget`], and run only
//! with `--include-ignored`. A test that finds no GPU prints SKIPPED, and counts as ignored.
//!
//! [`Budget`]: gridsync_tests::trials::Budget
//!
//! | module | what it tests |
//! |---|---|
//! | `reduce` | every reduction × size × backend, and every schedule of the emulator |
//! | `rows` | every reduction of rows × shape × backend, from any start, under every schedule |
//! | `scan` | every scan × size × backend × schedule, starts, in place, order, stamps |
//! | `select` | every selection × size × backend × schedule, starts, stamps, NaN |
//! | `sort` | every sort × order × length × input × backend, pairs, indices, in place |
//! | `histogram` | every histogram × bins × length × backend, and every schedule |
//! | `rank` | every selection by rank × order × length × input × backend, misses, ties, quantiles |
//! | `warp_rows` | eight rows of a warp at once: order, bits, schedules |
//! | `counted` | arrays whose length only the device knows, and graphs of them |
//! | `range_sum` | every range sum × size × backend, and queries that are not ranges |
//! | `search` | searches in sorted arrays: every type × order × side × length × backend × schedule |
//! | `segments` | every reduction of segments and of runs × lengths × backend × schedule |
//! | `dot` | every dot product × size × backend × schedule, NaN and infinities |
//! | `softmax` | softmax of rows: every type × shape × backend × schedule |
//! | `kendall` | every rank correlation × size × ties × method × backend × schedule |
//! | `parts` | host arrays that go through the device part by part |
//! | `spread` | arrays that are spread over several GPUs: every scan × stripes × backend, and
//! reductions |
//! | `shared` | host arrays that several GPUs share: every reduction, and the other primitives |
//! | `shipped` | the PTX of the images in the emulator: every primitive and protocol |
//! | `mean` | means of every type, of arrays and of rows, against exact division |
//! | `statistics` | variances, norms and ranges of arrays and of rows, also with large means |
//! | `describe` | several statistics in one read, and that a check finds any wrong one |
//! | `bits` | reductions: the same bits as on the CPU, for any order, NaN and stamp |
//! | `alignment` | views that start 0 to 8 elements past an aligned address |
//! | `special` | NaN, infinities and zeros of either sign, at any position |
//! | `arguments` | argmin and argmax: NaN, zeros, equal elements, at any position |
//! | `residues` | products modulo numbers of every kind |
//! | `compensation` | the precision of compensated sums; NaN and infinities in them |
//! | `repeat` | the same bits in repeated runs; one workspace, many lengths |
//! | `repeat_sorted` | the same bits in repeated sorts, selections by rank and histograms |
//! | `huge` | more than 2^31 and 2^32 elements |
//! | `barrier` | every grid barrier: rounds, reuse, shapes, schedules, refusals |
//! | `barrier_parts` | the grid barrier in two phases, and over some of the blocks |
//! | `bounded` | the barrier with a time limit: it ends, and reports the missing blocks |
//! | `collectives` | scans, gathers, votes and broadcasts of the exchange, several at once |
//! | `exchange` | the barrier that carries data: results, reuse, shapes, schedules |
//! | `examples` | the kernels of the examples: results, shapes, schedules |
//! | `weaken` | each ordering of each protocol, weakened: caught, or present for a stated reason |
//! | `xpx` | X→P→X: right with a grid barrier; without one, wrong in whole warps or blocks |
//! | `system` | the barrier and the exchange over several GPUs: rounds, results, refusals, faults |
//! | `spin` | waiting for a word: the forms that load it again end under every schedule |
//! | `streams` | reductions in a second stream of a device, and in a cust stream |
//! | `ladder` | every rung of the ladders of sums, of scans and of sorts: lengths, types, schedules |
//! | `device_launch` | kernels that launch kernels: results, orders, values, refusals |
//! | `fences` | the kernels that measure fences: the operation in their loop, and their results |
//! | `limits` | kernels that hold many values: their results |
//! | `memory` | the kernels that measure memory: the load in their loop, and their results |
//! | `broken` | kernels that are wrong on purpose: the harness must reject them |
//! | `coverage` | that these tests cover every kernel in the PTX |
//! | `matrix` | shared code of the matrices, no tests |
//! | `fresh` | that the PTX was made from the sources next to it |

use gridsync_tests::trials::Trials;
use std::process::ExitCode;

mod alignment;
mod arguments;
mod barrier;
mod barrier_parts;
mod bits;
mod bounded;
mod broken;
mod collectives;
mod compensation;
mod counted;
mod coverage;
mod dag;
mod describe;
mod device_launch;
mod dot;
mod examples;
mod exchange;
mod fences;
mod finished;
mod fresh;
mod histogram;
mod huge;
mod kendall;
mod ladder;
mod limits;
mod matrix;
mod mean;
mod memory;
mod parts;
mod range_sum;
mod rank;
mod reduce;
mod repeat;
mod repeat_sorted;
mod residues;
mod rows;
mod scan;
mod search;
mod segments;
mod select;
mod shared;
mod shipped;
mod softmax;
mod sort;
mod special;
mod spin;
mod spread;
mod statistics;
mod streams;
mod system;
mod warp_rows;
mod weaken;
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
        collectives::trials(),
        compensation::trials(),
        counted::trials(),
        coverage::trials(),
        dag::trials(),
        device_launch::trials(),
        examples::trials(),
        exchange::trials(),
        fences::trials(),
        finished::trials(),
        fresh::trials(),
        histogram::trials(),
        huge::trials(),
        kendall::trials(),
        ladder::trials(),
        limits::trials(),
        mean::trials(),
        memory::trials(),
        parts::trials(),
        range_sum::trials(),
        rank::trials(),
        reduce::trials(),
        repeat::trials(),
        repeat_sorted::trials(),
        residues::trials(),
        rows::trials(),
        scan::trials(),
        search::trials(),
        segments::trials(),
        select::trials(),
        shared::trials(),
        shipped::trials(),
        softmax::trials(),
        sort::trials(),
        special::trials(),
        spin::trials(),
        spread::trials(),
        statistics::trials(),
        describe::trials(),
        dot::trials(),
        streams::trials(),
        system::trials(),
        warp_rows::trials(),
        weaken::trials(),
        xpx::trials(),
    ];
    Trials::of(module_path!()).with(modules).run()
}
