//! Graphs of kernels as data: nodes, what they touch, and what depends on what.
//!
//! A [`Dag`] says nothing about how it is run. [`Dag::check`] proves that it has no cycle, and that
//! two nodes that touch the same memory, one of them to write, are in an order. Then there are two
//! ways to run it:
//!
//! * A launch for each node: [`Checked::assemble`] puts them into one stream, into several with
//!   events, or into a graph of the driver.
//! * One launch for all nodes: a [`Plan`] deals them to the blocks of one grid, which wait for each
//!   other node by node ([`grid::tasks`](gridsync_kernels::grid::tasks)) or level by level.
//!   [`Plan::validate`] proves that it cannot lock up and that no order of the graph is lost.
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
