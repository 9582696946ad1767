//! The barrier of a cluster, with separate arrive and wait (PTX ISA, `barrier.cluster`).
//!
//! As on hardware, it does not wait for exited threads, whether they had arrived or not.

use crate::access::Order;
use crate::block::Block;
use crate::fault::{Fault, WaitingFor};
use crate::fiber::Reply;
use crate::machine::Machine;
use crate::place::Place;
use crate::warp::{Aligned, Wait};
use crate::world::World;

/// The barrier shared by all threads of a cluster.
#[derive(Debug)]
pub(crate) struct ClusterBarrier {
    /// Threads of the cluster that have not exited, including those that have not started.
    live: u64,
    /// Live threads that have arrived since the barrier last opened.
    arrived: u64,
    /// How often it has opened.
    phase: u64,
}

/// An arrival that its thread has not waited for yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// The phase of the arrival.
    phase: u64,
    place: Place,
}

impl ClusterBarrier {
    /// The barrier of a cluster of `threads` threads.
    pub(crate) fn new(threads: u64) -> Self {
        Self { live: threads, arrived: 0, phase: 0 }
    }

    /// A thread exits. Returns whether the barrier opens for the others.
    pub(crate) fn exit(&mut self, ticket: Option<Ticket>) -> bool {
        self.live -= 1;
        self.arrived -= u64::from(ticket.is_some_and(|ticket| self.awaits(ticket)));
        self.open_if_complete()
    }

    /// Whether the barrier has not opened since this arrival.
    fn awaits(&self, ticket: Ticket) -> bool {
        ticket.phase == self.phase
    }

    fn open_if_complete(&mut self) -> bool {
        let complete = self.arrived > 0 && self.arrived == self.live;
        if complete {
            self.arrived = 0;
            self.phase += 1;
        }
        complete
    }
}

impl<'a> Block<'a> {
    /// A thread arrives at the cluster barrier without waiting. Returns whether the barrier opens.
    pub(crate) fn cluster_arrive(
        &mut self,
        (warp, lane, aligned): (usize, u32, bool),
        order: Order,
        barrier: &mut ClusterBarrier,
        world: &World<'_>,
    ) -> Result<bool, Fault> {
        let number = self.warps[warp].first + lane as usize;
        let site = self.site(number);
        let (phase, spot) = (barrier.phase, self.threads[number].spot);
        let now = Aligned { phase, lane, spot };
        let ticket = Ticket { phase, place: site.place };
        if let Some(before) = self.threads[number].ticket.replace(ticket) {
            let first = before.place;
            return Err(Fault::ClusterArrivedTwice { site, first });
        }
        if aligned && let Some(other) = Aligned::come(&mut self.warps[warp].cluster_arrival, now) {
            return Err(self.diverged(WaitingFor::ClusterBarrier, warp, [lane, other]));
        }
        barrier.arrived += 1;
        let opens = barrier.open_if_complete();
        if let Some(races) = &world.races {
            let thread = self.number_of(number);
            races.cluster_arrive(thread, order);
            if opens {
                races.cluster_opened(thread);
            }
        }
        Ok(opens)
    }

    /// A thread waits at the cluster barrier, unless it has opened since the thread arrived.
    pub(crate) fn cluster_wait(
        &mut self,
        (warp, lane, aligned): (usize, u32, bool),
        barrier: &ClusterBarrier,
        machine: &mut Machine<'a>,
    ) -> Result<(), Fault> {
        let number = self.warps[warp].first + lane as usize;
        let Some(ticket) = self.threads[number].ticket.take() else {
            let site = self.site(number);
            return Err(Fault::ClusterNotArrived { site });
        };
        let (phase, spot) = (ticket.phase, self.threads[number].spot);
        let now = Aligned { phase, lane, spot };
        if aligned && let Some(other) = Aligned::come(&mut self.warps[warp].cluster_wait, now) {
            return Err(self.diverged(WaitingFor::ClusterBarrier, warp, [lane, other]));
        }
        if barrier.awaits(ticket) {
            self.stand(warp, lane, Wait::ClusterBarrier, machine);
        } else if let Some(races) = &machine.world.races {
            races.cluster_pass(self.number_of(number));
        }
        Ok(())
    }

    /// The cluster barrier has opened: releases the threads of this block that wait at it.
    pub(crate) fn pass_cluster_barrier(&mut self, machine: &mut Machine<'a>) {
        let waits = |wait: &Wait| matches!(wait, Wait::ClusterBarrier);
        if let Some(races) = &machine.world.races {
            let threads = self.threads.iter().enumerate();
            for (number, _) in threads.filter(|(_, thread)| waits(&thread.wait)) {
                races.cluster_pass(self.number_of(number));
            }
        }
        self.release(waits, &Reply::Go, machine);
    }
}
