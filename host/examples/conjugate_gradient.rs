//! Conjugate gradients as a graph: six nodes per step, some of many blocks, some of one block.
//!
//! The graph is data. It lists the memory that each node accesses, and a forgotten dependency is an
//! error. The same graph then runs as a CUDA graph of kernels, and as tasks of one kernel. The
//! kernels are in kernels/examples/src/conjugate_gradient.rs.
//!
//! `cargo run --release -p gridsync --example conjugate_gradient`

mod shared;

use cuda_std::memory::Global;
use gridsync::dag::{Checked, Dag, Node, Plan, Tasks};
use gridsync::device::{Buffer, Device, DeviceError, Geometry, Launch, Way};
use gridsync::launch::resident_blocks;
use gridsync::parallel;
use gridsync_example_kernels::conjugate_gradient::{
    BY_LENGTH, BY_SHARE, LENGTH, PRODUCT, RESIDUAL, SCALARS, SHARE, SOLUTION, SQUARE, cg_node,
    cg_tasks,
};
use gridsync_kernels::grid::tasks::ARGUMENTS;
use shared::{is_gpu, noise, time};
use std::ops::Range;

/// Poisson's equation on a square, and how it is solved.
pub(crate) struct Problem {
    /// The right side.
    right: Vec<f32>,
    side: u32,
    /// Steps per launch, number of launches, parts of a wide node, and threads per block.
    pub(crate) steps: usize,
    pub(crate) launches: usize,
    pub(crate) parts: u32,
    pub(crate) threads: u32,
}

/// The memory of all nodes.
struct Memory {
    vectors: Buffer<f32>,
    sums: Buffer<f32>,
    scalars: Buffer<f32>,
}

fn main() -> Result<(), DeviceError> {
    shared::run(|device| {
        let problem = if is_gpu(device) {
            Problem { steps: 16, launches: 16, parts: 128, threads: 512, ..Problem::new(512) }
        } else {
            Problem::new(13)
        };
        let expected = problem.solve_on_cpu();
        let by_graph = problem.solve_by_graph(device)?;
        problem.expect_close(&by_graph, &expected);
        assert_eq!(problem.solve_in_one_kernel(device)?, by_graph);
        Ok(())
    })
}

impl Problem {
    /// The equation on a square of `side`² cells, with few steps.
    pub(crate) fn new(side: u32) -> Self {
        let right = (0..side * side).map(|i| noise(i) as f32 / 2f32.powi(32)).collect();
        Self { right, side, steps: 4, launches: 3, parts: 3, threads: 64 }
    }

    /// The graph of several steps. The nodes of a step have the numbers of the kernel.
    fn dag(&self, memory: &Memory) -> Checked {
        let vector = |at| part_of(&memory.vectors, at * self.right.len(), self.right.len());
        let [x, r, p, q] = [0, 1, 2, 3].map(vector);
        let sums = || part_of(&memory.sums, 0, memory.sums.len());
        let scalar = |at| part_of(&memory.scalars, at, 1);
        let mut dag = Dag::new();
        for step in 0..self.steps {
            let first = 6 * step;
            let node = |what: &str, after: &[u32]| {
                let after: Vec<_> = after.iter().map(|&node| first + node as usize).collect();
                Node::new(format!("{what} {step}")).after(&after)
            };
            let wide = |what, after: &[u32]| node(what, after).in_parts(self.parts);
            let before: Vec<_> = first.checked_sub(1).into_iter().collect();
            let product = wide("product", &[]).after(&before).reads(p.clone());
            dag.add(product.writes(q.clone()).writes(sums()));
            let length = node("length", &[PRODUCT]).reads(sums()).reads(scalar(SQUARE));
            dag.add(length.writes(scalar(BY_LENGTH)));
            let solution = wide("solution", &[LENGTH]).reads(scalar(BY_LENGTH)).reads(p.clone());
            dag.add(solution.writes(x.clone()));
            let residual = wide("residual", &[LENGTH]).reads(scalar(BY_LENGTH)).reads(q.clone());
            dag.add(residual.writes(r.clone()).writes(sums()));
            let share = node("share", &[RESIDUAL]).reads(sums());
            dag.add(share.writes(scalar(SQUARE)).writes(scalar(BY_SHARE)));
            let direction = wide("direction", &[SOLUTION, SHARE]).reads(scalar(BY_SHARE));
            dag.add(direction.reads(r.clone()).writes(p.clone()));
        }
        dag.check().expect("all nodes that touch the same memory are in an order")
    }

    /// Solves it with a CUDA graph of kernels, and returns the solution.
    pub(crate) fn solve_by_graph(&self, device: &Device) -> Result<Vec<f32>, DeviceError> {
        let mut memory = self.memory(device)?;
        let dag = self.dag(&memory);
        let node = |id: usize| {
            let geometry = Geometry::new(dag.nodes()[id].parts(), self.threads);
            let (vectors, sums, scalars) = memory.views();
            Launch::new::<cg_node>(geometry, (vectors, sums, scalars, self.side, id as u32 % 6))
        };
        let launches: Vec<_> = (0..dag.nodes().len()).map(node).collect();
        let graph = dag.assemble(device, &launches, Way::Built)?;
        // SAFETY: the memory lives until the download, and the graph lists the memory that each
        // node accesses.
        let launch = || unsafe { graph.launch() };
        time(device, "a graph of kernels", || self.start(&mut memory), || self.repeat(launch))?;
        memory.vectors.download_part(0..self.right.len())
    }

    /// Solves it with tasks of one kernel, and returns the solution.
    pub(crate) fn solve_in_one_kernel(&self, device: &Device) -> Result<Vec<f32>, DeviceError> {
        let mut memory = self.memory(device)?;
        let dag = self.dag(&memory);
        let resident = resident_blocks::<cg_tasks>(device, self.threads, 0)?;
        let blocks = resident.min(self.parts).min(device.properties().multiprocessors);
        let plan = Plan::by_edges(&dag, blocks as usize);
        let valid = plan.validate(&dag, resident.into()).expect("a plan of the graph");
        let tasks = Tasks::new(device, &valid, |id, part| {
            let mut arguments = [0; ARGUMENTS];
            arguments[..3].copy_from_slice(&[id as u32 % 6, part, dag.nodes()[id].parts()]);
            arguments
        })?;
        let geometry = Geometry::new(blocks, self.threads).cooperative();
        let (vectors, sums, scalars) = memory.views();
        let args = (tasks.plan(), tasks.state(), vectors, sums, scalars, self.side);
        // SAFETY: the memory lives until the download, the graph lists the memory that each node
        // accesses, and the plan was validated for this grid.
        let launch = || unsafe { device.launch::<cg_tasks>(&geometry, args) };
        time(device, "tasks of one kernel", || self.start(&mut memory), || self.repeat(launch))?;
        memory.vectors.download_part(0..self.right.len())
    }

    fn repeat(
        &self,
        mut launch: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        (0..self.launches).try_for_each(|_| launch())
    }

    fn memory(&self, device: &Device) -> Result<Memory, DeviceError> {
        Ok(Memory {
            vectors: device.zeroed(4 * self.right.len())?,
            sums: device.zeroed(self.parts as usize)?,
            scalars: device.zeroed(SCALARS)?,
        })
    }

    /// Starts at 0: the residual and the direction are the right side.
    fn start(&self, memory: &mut Memory) -> Result<(), DeviceError> {
        let zero = vec![0.0; self.right.len()];
        memory.vectors.copy_from(&[&zero, &self.right[..], &self.right, &zero].concat())?;
        let square = self.right.iter().map(|x| x * x).sum();
        memory.scalars.copy_from(&[square, 0.0, 0.0])
    }

    /// The solution after the same number of steps on the CPU, in doubles.
    pub(crate) fn solve_on_cpu(&self) -> Vec<f64> {
        let side = self.side as usize;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut x = vec![0.0; self.right.len()];
        let mut r: Vec<f64> = self.right.iter().copied().map(f64::from).collect();
        let (mut p, mut q, mut square) = (r.clone(), r.clone(), dot(&r, &r));
        for _ in 0..self.steps * self.launches {
            let rows = q.chunks_mut(side).enumerate();
            parallel::for_each(rows, &|_, (row, cells)| {
                for (column, cell) in cells.iter_mut().enumerate() {
                    let i = row * side + column;
                    let near = |there, at: usize| if there { p[at] } else { 0.0 };
                    let across =
                        near(column > 0, i.wrapping_sub(1)) + near(column + 1 < side, i + 1);
                    let along =
                        near(row > 0, i.wrapping_sub(side)) + near(row + 1 < side, i + side);
                    *cell = 4.0 * p[i] - (across + along);
                }
            });
            let length = square / dot(&p, &q);
            for i in 0..x.len() {
                x[i] += length * p[i];
                r[i] -= length * q[i];
            }
            let share = dot(&r, &r) / square;
            square *= share;
            for i in 0..x.len() {
                p[i] = r[i] + share * p[i];
            }
        }
        x
    }

    /// Panics unless each element equals the CPU's, up to the rounding of floats.
    pub(crate) fn expect_close(&self, found: &[f32], expected: &[f64]) {
        let greatest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let near = |(x, y): (&f32, &f64)| (f64::from(*x) - y).abs() <= 1e-3 * greatest;
        let wrong = found.iter().zip(expected).position(|pair| !near(pair));
        assert_eq!(wrong, None, "{} cells a side", self.side);
    }
}

impl Memory {
    fn views(&self) -> (Global<f32>, Global<f32>, Global<f32>) {
        (self.vectors.view(), self.sums.view(), self.scalars.view())
    }
}

/// The addresses of some elements.
fn part_of(buffer: &Buffer<f32>, first: usize, len: usize) -> Range<u64> {
    let start = buffer.address() + 4 * first as u64;
    start..start + 4 * len as u64
}
