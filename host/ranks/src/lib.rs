//! Several processes, on one or more machines, that compute one result together.
//!
//! A launcher (torchrun, mpirun, srun) starts the processes, called **ranks**, and numbers them
//! ([`Environment`]). They meet over TCP at rank 0 ([`Ranks::join`]), and then run the same steps
//! in the same order. Each step is a collective, such as [`Ranks::all_gather`].
//!
//! A rank greets rank 0 with the name of its job, the version of gridsync, the shape of the
//! reduction tree, and its [`Task`]. Ranks that differ in any of these are refused, so that a
//! result never mixes two jobs or two inputs.
//!
//! Ranks exchange data over TCP through rank 0. Results can also travel from GPU to GPU through
//! NCCL ([`Ranks::choose`]), if all ranks support it.
//!
//! No rank waits for a dead one. The connections stay open, each rank sends a heartbeat every
//! second, and each wait ends with an error as soon as a rank is lost or has failed. A rank that
//! fails on its own reports why before it exits ([`Ranks::fail`]). A rank that sends heartbeats may
//! compute for as long as it needs: a wait for it has no limit, and is reported
//! ([`Ranks::report_waiting`]).
//!
//! [`reduce`](fn@reduce) reduces an array whose parts are distributed over the ranks:
//!
//! ```
//! use gridsync::primitives::parts::{Cut, Leaves};
//! use gridsync_ranks::{Environment, Ranks, reduce};
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
//! assert_eq!(reduce(&mut ranks, leaves)?, 7.0);
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

/// A rank's handle to the ranks of its job.
///
/// All ranks must make the same calls in the same order. A call that fails on one rank ends the
/// job: report the failure to the others with [`fail`](Self::fail).
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
    /// Meets all other ranks. Returns once all have joined.
    ///
    /// Ranks with a different `task`, job, version, reduction tree or number of ranks are refused.
    /// `timeout` limits the wait for the others here, and how long another rank may be silent
    /// later. It must be at least a millisecond and at most ten years.
    ///
    /// A job with a single rank needs no network.
    ///
    /// # Errors
    /// [`RanksError`] if the ranks fail to meet, with the missing ranks or the reason.
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

    /// Creates the ranks from these connections, indexed by rank. Entries missing at the end count
    /// as `None`.
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

    /// The number of this rank, starting at 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.link.rank()
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.link.size()
    }

    /// Chooses the transport of [`all_gather`](Self::all_gather) for all later calls and returns
    /// it: NCCL or TCP, the same for all ranks. Every rank passes the transport that it wants and
    /// the device that it computes on.
    ///
    /// [`Transport::Auto`] uses NCCL if there are several ranks, each with its own CUDA GPU, and
    /// each finds the library. Otherwise it uses TCP.
    ///
    /// # Errors
    /// If ranks want different transports, if NCCL is wanted and a rank cannot use it, if NCCL does
    /// not start within the timeout, or if a rank is lost.
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

    /// Returns an error if another rank is known to be lost or to have failed. Does not wait: call
    /// it regularly during long work.
    ///
    /// # Errors
    /// [`RanksError::Lost`] and [`RanksError::Failed`].
    pub fn check(&mut self) -> Result<(), RanksError> {
        self.link.check()
    }

    /// Sets a callback for when another rank is lost or has failed. It runs on another thread,
    /// until this rank [leaves](Self::leave). Use it if this rank may block where it cannot
    /// [check](Self::check), such as while it reads from a pipe that receives no data.
    pub fn when_lost(&self, act: impl FnOnce(RanksError) + Send + 'static) {
        self.link.when_lost(Box::new(act));
    }

    /// Sets a callback for when this rank has waited for others for the whole timeout, and again
    /// each time the timeout elapses. By default nothing happens. The others send heartbeats, and
    /// may still be computing.
    pub fn report_waiting(&mut self, report: impl FnMut(&Waiting) + Send + 'static) {
        self.link.report_waiting(Box::new(report));
    }

    /// Ends this rank because it failed. All others end with `message` and the number of this rank.
    /// Waits up to two seconds for them.
    pub fn fail(self, message: &str) {
        self.link.fail(message);
        #[cfg(feature = "cuda")]
        if let Some(nccl) = self.nccl {
            nccl.abort();
        }
    }

    /// Notifies the others that this rank needs nothing more from them. A drop after this waits up
    /// to two seconds for the others, so that the data sent to them arrives.
    pub fn leave(&mut self) {
        self.link.leave();
    }
}
