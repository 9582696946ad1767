//! Conjugate gradients for Poisson's equation on a square (Hestenes and Stiefel, 1952), as a graph
//! with six nodes per step.
//!
//! A node's body depends only on which part of the node it is. So it can be a separate grid
//! ([`cg_node`]), or tasks of a grid that runs all nodes ([`cg_tasks`]).

use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::tasks::Tasks;
use gridsync_kernels::op::Sum;

/// `q = A·p`, and the sums of `p·q`.
pub const PRODUCT: u32 = 0;
/// The step length, from the sums of `p·q`.
pub const LENGTH: u32 = 1;
/// The solution, advanced along `p`.
pub const SOLUTION: u32 = 2;
/// The residual `r` of the solution, and the sums of `r·r`.
pub const RESIDUAL: u32 = 3;
/// The share of the old direction that is kept, from the sums of `r·r`.
pub const SHARE: u32 = 4;
/// The next direction `p`.
pub const DIRECTION: u32 = 5;

/// The index of the scalar that is `r·r`.
pub const SQUARE: usize = 0;
/// The index of the result of [`LENGTH`].
pub const BY_LENGTH: usize = 1;
/// The index of the result of [`SHARE`].
pub const BY_SHARE: usize = 2;
/// The number of scalars.
pub const SCALARS: usize = 3;

/// The memory that all nodes use.
#[derive(Clone, Copy)]
struct Memory {
    /// The solution, the residual, the direction, and A times the direction, concatenated.
    vectors: Global<f32>,
    /// One sum per part of a node.
    sums: Global<f32>,
    scalars: Global<f32>,
    side: u32,
}

/// Runs part `part` of `parts` of a node. Called by every thread of a block.
#[device]
fn run(node: u32, part: usize, parts: usize, memory: Memory) {
    let Memory { vectors, sums, scalars, side } = memory;
    let cells = vectors.len() / 4;
    let [x, r, p, q] = [0, 1, 2, 3].map(|at| vectors.part(at * cells, cells));
    let (thread, threads) = (thread::index_in_block(), thread::threads_per_block());
    let share = cells.div_ceil(parts);
    let own = || (part * share + thread..cells.min((part + 1) * share)).step_by(threads);
    let mut sum = 0.0;
    match node {
        PRODUCT => {
            for i in own() {
                let product = times_a(p, i, side);
                q.write(i, product);
                sum += p.read(i) * product;
            }
        }
        SOLUTION => own().for_each(|i| x.write(i, x.read(i) + scalars.read(BY_LENGTH) * p.read(i))),
        RESIDUAL => {
            for i in own() {
                let new = r.read(i) - scalars.read(BY_LENGTH) * q.read(i);
                r.write(i, new);
                sum += new * new;
            }
        }
        DIRECTION => own().for_each(|i| p.write(i, r.read(i) + scalars.read(BY_SHARE) * p.read(i))),
        _ => (thread..sums.len()).step_by(threads).for_each(|i| sum += sums.read(i)),
    }
    let sum = block::reduce(Sum::<f32>::new(), sum);
    if thread == 0 {
        match node {
            PRODUCT | RESIDUAL => sums.write(part, sum),
            LENGTH => scalars.write(BY_LENGTH, scalars.read(SQUARE) / sum),
            SHARE => {
                scalars.write(BY_SHARE, sum / scalars.read(SQUARE));
                scalars.write(SQUARE, sum);
            }
            _ => {}
        }
    }
}

/// Element `i` of A·p: four times a cell of the square, minus its neighbours, which are 0 beyond
/// the border.
#[device]
fn times_a(p: Global<f32>, i: usize, side: u32) -> f32 {
    let (row, column) = (i as u32 / side, i as u32 % side);
    let near = |there: bool, at: usize| if there { p.read(at) } else { 0.0 };
    let across = near(column > 0, i.wrapping_sub(1)) + near(column + 1 < side, i + 1);
    let along =
        near(row > 0, i.wrapping_sub(side as usize)) + near(row + 1 < side, i + side as usize);
    4.0 * p.read(i) - (across + along)
}

/// One node: each block is a part.
///
/// # Safety
///
/// `vectors` has four vectors of `side`² elements, `sums` one element per part of the large nodes,
/// `scalars` has [`SCALARS`]. No other grid uses the memory of this node at the same time. Blocks
/// are a multiple of 32 threads, and [`LENGTH`] and [`SHARE`] have one block.
#[kernel]
pub unsafe fn cg_node(
    vectors: Global<f32>,
    sums: Global<f32>,
    scalars: Global<f32>,
    side: u32,
    node: u32,
) {
    run(
        node,
        thread::block_index(),
        thread::block_count(),
        Memory { vectors, sums, scalars, side },
    );
}

/// All nodes of several steps. The arguments of a task are its node, its part, and the number of
/// parts.
///
/// # Safety
///
/// As for [`cg_node`]; `plan` and `state` are those of one plan for this grid.
#[kernel(cooperative)]
pub unsafe fn cg_tasks(
    plan: Global<u64>,
    state: Global<u64>,
    vectors: Global<f32>,
    sums: Global<f32>,
    scalars: Global<f32>,
    side: u32,
) {
    let memory = Memory { vectors, sums, scalars, side };
    let mut tasks = Tasks::attach(plan, state);
    while let Some(task) = tasks.next() {
        let (part, parts) = (task.argument(1) as usize, task.argument(2) as usize);
        run(task.argument(0), part, parts, memory);
        task.finish(0);
    }
}
