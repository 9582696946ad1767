//! Several processes, on one machine or on several, that compute one result together.
//!
//! A launcher (torchrun, mpirun, srun) starts the processes, the **ranks**, and gives each its number
//! ([`Environment`]). They meet over TCP at rank 0 ([`Ranks::join`]), and then do the same steps in
//! the same order: each step is a collective, such as [`Ranks::all_gather`].
//!
//! A rank greets rank 0 with the name of its job, the version of gridsync, the shape of the reduction
//! tree, and its [`Task`]. Ranks that differ in any of these are refused, so that no result mixes two
//! jobs or two inputs.
//!
//! What the ranks send each other goes through rank 0 over TCP. Results may also go from GPU to GPU
//! through NCCL ([`Ranks::choose`]): if all ranks can, or none.
//!
//! No rank waits for one that is gone. The connections stay open, a rank sends a sign of life every
//! second, and each wait ends with an error as soon as a rank is lost or has failed. A rank that
//! fails by itself says why, before it ends ([`Ranks::fail`]). A rank that gives signs of life may
//! compute for as long as it needs: a wait for it has no end, and is reported
//! ([`Ranks::report_waiting`]).
//!
//! [`reduce`](fn@reduce) is the reduction of an array whose parts are with the ranks:
//!
//! ```
//! use gridsync::primitives::parts::{Cut, Leaves};
//! use gridsync_ranks::{self, Environment, Ranks};
//! use gridsync_kernels::op::Sum;
//! use std::time::Duration;
//!
//! // Environment::of_process() under a launcher. This is a job of one rank:
//! let variable = |name: &str| ["RANK 0", "WORLD_SIZE 1"].iter().find_map(|set| {
//!     set.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned)
//! });
//! let environment = Environment::from(&variable)?;
//!
//! let data = [1.5f32, 2.5, 3.0];
//! let op = Sum::<f32>::new();
//! let mut ranks = Ranks::join(&environment, "the sum of three numbers", Duration::from_secs(60))?;
//! let run = Cut::of::<Sum<f32>>(data.len()).run(ranks.rank() as usize, ranks.size() as usize);
//! let mut leaves = Leaves::on_cpu(op, data.len(), run.clone(), run.len());
//! leaves.next(&data[run.clone()])?;
//! assert_eq!(ranks::reduce(&mut ranks, leaves)?, 7.0);
//! ranks.leave();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod borders;
mod collectives;
mod environment;
mod error;
mod frame;
mod greeting;
mod hash;
mod job;
mod link;
#[cfg(feature = "cuda")]
mod nccl;
mod node_list;
mod peers;
mod reduce;
mod rendezvous;
mod task;
#[cfg(test)]
mod tests;
mod transport;

pub use borders::Borders;
pub use collectives::MOST_BYTES;
pub use environment::{DEFAULT_PORT, Environment, EnvironmentError, MOST_RANKS, PORT_VARIABLE};
pub use error::{Difference, RanksError};
pub use job::{JOB_PORTS, JOB_VARIABLE};
pub use reduce::reduce;
pub use task::{Task, Waiting};
pub use transport::Transport;

use gridsync::device::Device;
use link::Link;
use rendezvous::Party;
use std::fmt;
use std::net::TcpStream;
use std::time::Duration;

/// The ranks of a job, as one of them sees them.
///
/// All ranks have to make the same calls in the same order. A call that fails on one rank ends the
/// job: report it to the others by [`fail`](Self::fail).
pub struct Ranks {
    // Fields drop in order: NCCL before the connections.
    #[cfg(feature = "cuda")]
    nccl: Option<nccl::Communicator>,
    link: Link,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ranks(rank {} of {})", self.rank(), self.size())
    }
}

impl Ranks {
    /// Meets all other ranks. Returns when all are there.
    ///
    /// Ranks with another `task` are refused, and so are those of another job, version, reduction tree
    /// or number of ranks. `timeout` is how long to wait for the others here, and how long another rank
    /// may be silent later on: at least a millisecond and at most ten years.
    ///
    /// A job of one rank meets no other, and needs no network.
    ///
    /// # Errors
    /// [`RanksError`] if the ranks do not come together, with the ranks that are missing, or the
    /// reason.
    pub fn join(
        environment: &Environment,
        task: impl Into<Task>,
        timeout: Duration,
    ) -> Result<Self, RanksError> {
        let Environment { rank, size, ref address, port, .. } = *environment;
        let party = Party::new(environment, task.into(), timeout)?;
        if size == 1 {
            return Self::of(&party, vec![None]);
        }
        if rank == 0 {
            let listener = rendezvous::listen(address, port)?;
            return Self::of(&party, rendezvous::lead(&listener, &party)?);
        }
        let stream = rendezvous::follow(address, port, &party)?;
        Self::of(&party, vec![Some(stream)])
    }

    /// The ranks behind these connections, by rank; what is missing at the end is none.
    fn of(party: &Party, mut streams: Vec<Option<TcpStream>>) -> Result<Self, RanksError> {
        let (rank, size, timeout) = (party.rank(), party.size(), party.timeout);
        streams.resize_with(size as usize, || None);
        let link = Link::new(rank, size, timeout, streams);
        let how = |error| format!("its connection cannot be set up: {error}");
        let link = link.map_err(|error| RanksError::Lost { rank, size, how: how(error) })?;
        Ok(Self {
            #[cfg(feature = "cuda")]
            nccl: None,
            link,
        })
    }

    /// The number of this rank, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.link.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.link.size()
    }

    /// Settles how [`all_gather`](Self::all_gather) goes from here on, and returns it: NCCL or TCP,
    /// the same for all ranks. Every rank says what it wants, and which device it computes on.
    ///
    /// [`Transport::Auto`] takes NCCL if each of several ranks has its own CUDA GPU and finds
    /// the library, otherwise TCP.
    ///
    /// # Errors
    /// If ranks want different ones, if NCCL is wanted and a rank cannot use it, if NCCL fails to
    /// start within the timeout, or if a rank is lost.
    pub fn choose(
        &mut self,
        wanted: Transport,
        device: Option<&Device>,
    ) -> Result<Transport, RanksError> {
        let offers = self.tell_all(&transport::Offer::of(wanted, device).to_bytes())?;
        let chosen = transport::decide(&offers)?;
        #[cfg(feature = "cuda")]
        if let (Transport::Nccl, Some(device)) = (chosen, device) {
            let id = match self.rank() {
                0 => nccl::new_id()?.to_vec(),
                _ => Vec::new(),
            };
            let ids = self.tell_all(&id)?;
            self.nccl = Some(nccl::Communicator::new(device, &ids[0], &mut self.link)?);
        }
        Ok(chosen)
    }

    /// An error if another rank is known to be lost or to have failed. Waits for nothing: call it
    /// now and then in long work.
    ///
    /// # Errors
    /// [`RanksError::Lost`] and [`RanksError::Failed`].
    pub fn check(&mut self) -> Result<(), RanksError> {
        self.link.check()
    }

    /// Sets what to do when another rank is lost or has failed, on another thread, until this rank
    /// [leaves](Self::leave): for a rank that may be where it cannot [check](Self::check), as when it
    /// reads from a pipe to which nothing is written.
    pub fn when_lost(&self, act: impl FnOnce(RanksError) + Send + 'static) {
        self.link.when_lost(Box::new(act));
    }

    /// Sets what to do when this rank has waited for others for as long as the timeout, and again
    /// each time that as much has passed: without it, nothing is done. The others give signs of life,
    /// and may still be computing.
    pub fn report_waiting(&mut self, report: impl FnMut(&Waiting) + Send + 'static) {
        self.link.report_waiting(Box::new(report));
    }

    /// Ends this rank's part because it has failed: all others end with `message`, and with the
    /// number of this rank. Waits up to two seconds for them.
    pub fn fail(self, message: &str) {
        self.link.fail(message);
        #[cfg(feature = "cuda")]
        if let Some(nccl) = self.nccl {
            nccl.abort();
        }
    }

    /// Sends the others that this rank needs nothing more from them. When it is dropped after this, it
    /// waits up to two seconds for the others, so that what was sent to them arrives.
    pub fn leave(&mut self) {
        self.link.leave();
    }
}
