//! Graphs of kernels as data: nodes, the memory they access, and their dependencies.
//!
//! A [`Dag`] does not determine how it is run. [`Dag::check`] proves that it has no cycle, and that
//! any two nodes that access the same memory, at least one of them to write, are ordered. It can
//! then be run in two ways:
//!
//! * One launch per node: [`Checked::assemble`] submits them to one stream, to several with events,
//!   or as a driver graph.
//! * One launch for all nodes: a [`Plan`] assigns them to the blocks of one grid, which wait for
//!   each other node by node ([`grid::tasks`](gridsync_kernels::grid::tasks)) or level by level.
//!   [`Plan::validate`] proves that it cannot deadlock and that it keeps all orderings of the
//!   graph.
//!
//! ```
//! use gridsync::dag::{Dag, Node, Plan};
//!
//! let mut dag = Dag::new();
//! let a = dag.add(Node::new("A").writes(0..400));
//! let b = dag.add(Node::new("B").writes(400..800));
//! let c = dag.add(Node::new("C").after(&[a, b]).reads(0..800).writes(800..1200));
//! let dag = dag.check()?;
//! assert_eq!(dag.levels(), [vec![a, b], vec![c]]);
//!
//! let plan = Plan::by_edges(&dag, 2);
//! assert!(plan.validate(&dag, 132).is_ok());
//! # Ok::<(), gridsync::dag::DagError>(())
//! ```

mod closure;
mod error;
mod graph;
mod launches;
mod plan;

pub use error::{DagError, PlanError};
pub use graph::{Checked, Dag, Node, NodeId};
pub use plan::{Input, Item, Plan, Signal, Tasks, Valid};
