//! Several processes, on one machine or on several, that compute one result together.
//!
//! A launcher (torchrun, mpirun, srun) starts the processes, the **ranks**, and tells each its number
//! ([`Environment`]). They meet over TCP at rank 0 ([`Ranks::join`]), and then do the same steps in
//! the same order: each step is a collective, such as [`Ranks::all_gather`].
//!
//! What the ranks tell each other goes through rank 0 over TCP. Results may also go from GPU to GPU
//! through NCCL ([`Ranks::choose`]): if all ranks can, or none.
//!
//! No rank waits for one that is gone. The connections stay open, a rank sends a sign of life every
//! second, and each wait ends with an error as soon as a rank is lost or has failed. A rank that
//! fails by itself says why, before it ends ([`Ranks::fail`]).
//!
//! [`reduce`](fn@reduce) is the reduction of an array whose parts are with the ranks:
//!
//! ```
//! use gridsync::primitives::parts::{Cut, Leaves};
//! use gridsync::ranks::{self, Environment, Ranks};
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
//! leaves.next(&data[run])?;
//! assert_eq!(ranks::reduce(&mut ranks, op, data.len(), &leaves.finish())?, 7.0);
//! ranks.leave();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod borders;
mod environment;
mod error;
mod frame;
mod link;
#[cfg(feature = "cuda")]
mod nccl;
mod node_list;
mod reduce;
mod rendezvous;
#[cfg(test)]
mod tests;
mod transport;

pub use borders::Borders;
pub use environment::{DEFAULT_PORT, Environment, EnvironmentError, PORT_VARIABLE};
pub use error::RanksError;
pub use reduce::reduce;
pub use transport::Transport;

use crate::device::Device;
use frame::Frame;
use link::Link;
use rendezvous::Party;
use std::fmt;
use std::net::TcpStream;
use std::time::Duration;

/// The ranks of a job, as one of them sees them.
///
/// All ranks have to make the same calls in the same order. A call that fails on one rank ends the
/// job: tell the others by [`fail`](Self::fail).
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
    /// `job` says in words what is done: ranks that say something else are refused. `timeout` is how
    /// long to wait for the others here, and how long another rank may be silent later on.
    ///
    /// A job of one rank meets nobody and needs no network.
    ///
    /// # Errors
    /// [`RanksError`] if the ranks do not come together, with the ranks that are missing, or the
    /// reason.
    pub fn join(
        environment: &Environment,
        job: &str,
        timeout: Duration,
    ) -> Result<Self, RanksError> {
        let Environment { rank, size, ref address, port, .. } = *environment;
        let party = Party { rank, size, job: job.into(), timeout };
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
        let &Party { rank, size, timeout, .. } = party;
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

    /// The number of this rank, from 0 on.
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
    /// [`Transport::Auto`] takes NCCL if each of several ranks has a CUDA GPU of its own and finds
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

    /// The bytes of all ranks, in the order of the ranks. They may be of different lengths. Goes
    /// through what was [chosen](Self::choose), or over TCP.
    ///
    /// # Errors
    /// If a rank is lost or has failed, and errors of NCCL.
    pub fn all_gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        #[cfg(feature = "cuda")]
        if self.nccl.is_some() {
            let lens = self.tell_all(&(own.len() as u64).to_le_bytes())?;
            let lens: Vec<usize> = lens
                .into_iter()
                .map(|len| len.try_into().map_or(0, u64::from_le_bytes) as usize)
                .collect();
            if let Some(nccl) = &mut self.nccl {
                return nccl.all_gather(own, &lens, &mut self.link);
            }
        }
        self.tell_all(own)
    }

    /// The bytes of all ranks, in the order of the ranks, over TCP in any case: for what is short.
    ///
    /// # Errors
    /// If a rank is lost or has failed.
    pub fn tell_all(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        let own = own.to_vec();
        if self.rank() > 0 {
            self.link.send(0, &Frame::Gather(vec![own]))?;
            return self.receive_gathered(0, self.size() as usize);
        }
        let mut all = vec![own];
        for rank in 1..self.size() {
            all.extend(self.receive_gathered(rank, 1)?);
        }
        let all = Frame::Gather(all);
        for rank in 1..self.size() {
            self.link.send(rank, &all)?;
        }
        match all {
            Frame::Gather(all) => Ok(all),
            _ => unreachable!("it was made as this"),
        }
    }

    fn receive_gathered(&mut self, rank: u32, count: usize) -> Result<Vec<Vec<u8>>, RanksError> {
        match self.link.next(rank)? {
            Frame::Gather(parts) if parts.len() == count => Ok(parts),
            other => Err(out_of_step(rank, &other, "bytes for all")),
        }
    }

    /// Sends each rank the bytes that are at its number in `to`, and returns what each rank has sent
    /// to this one, in the order of the ranks. Over TCP, through rank 0.
    ///
    /// # Errors
    /// If a rank is lost or has failed.
    ///
    /// # Panics
    /// If there are not as many as ranks.
    pub fn exchange(&mut self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RanksError> {
        let size = self.size() as usize;
        assert_eq!(to.len(), size, "bytes for each rank");
        if self.rank() > 0 {
            self.link.send(0, &Frame::Exchange(to))?;
            return self.receive_exchanged(0);
        }
        let mut from = vec![to];
        for rank in 1..self.size() {
            from.push(self.receive_exchanged(rank)?);
        }
        let mut to_each: Vec<Vec<Vec<u8>>> = vec![Vec::new(); size];
        for parts in from {
            to_each.iter_mut().zip(parts).for_each(|(to, part)| to.push(part));
        }
        let mut to_each = to_each.into_iter();
        let own = to_each.next().unwrap_or_default();
        for (rank, parts) in (1..).zip(to_each) {
            self.link.send(rank, &Frame::Exchange(parts))?;
        }
        Ok(own)
    }

    fn receive_exchanged(&mut self, rank: u32) -> Result<Vec<Vec<u8>>, RanksError> {
        match self.link.next(rank)? {
            Frame::Exchange(parts) if parts.len() == self.size() as usize => Ok(parts),
            other => Err(out_of_step(rank, &other, "bytes for each")),
        }
    }

    /// An error if another rank is known to be lost or to have failed. Waits for nothing: call it
    /// now and then in long work.
    ///
    /// # Errors
    /// [`RanksError::Lost`] and [`RanksError::Failed`].
    pub fn check(&mut self) -> Result<(), RanksError> {
        self.link.check()
    }

    /// Sets what to do when another rank is lost or has failed, on a thread of its own, until this rank
    /// [leaves](Self::leave): for a rank that may be where it cannot [check](Self::check), as when it
    /// reads from a pipe that nobody writes to.
    pub fn when_lost(&self, act: impl FnOnce(RanksError) + Send + 'static) {
        self.link.when_lost(Box::new(act));
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

    /// Tells the others that this rank needs nothing more from them. When it is dropped after this, it
    /// waits up to two seconds for the others, so that what was sent to them arrives.
    pub fn leave(&mut self) {
        self.link.leave();
    }
}

fn out_of_step(rank: u32, other: &Frame, expected: &'static str) -> RanksError {
    RanksError::OutOfStep { rank, sent: other.name().into(), expected }
}
