//! The sixteen barriers of a block, each for some of its warps (PTX ISA, `barrier`). A warp arrives
//! with its last lane. Threads that only arrive do not wait.

use crate::block::Block;
use crate::dim::{Position, Spot, WARP_LANES};
use crate::fault::{Fault, WaitingFor};
use crate::fiber::{Reply, Request};
use crate::here::{Here, with};
use crate::machine::Machine;
use crate::replay::Done;
use crate::thread::BarrierVotes;
use crate::warp::{Aligned, Wait};
use crate::weaken::Orders;

/// Barriers of a block.
const BARRIERS: u32 = 16;

/// Action of a thread at a barrier of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// It arrives and continues (`bar.arrive`).
    Arrive,
    /// It arrives and waits (`bar.sync`).
    Wait,
    /// It arrives with a predicate, waits, and gets the votes of all threads (`bar.red`).
    Vote(bool),
}

/// A thread's call of a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) number: u32,
    pub(crate) threads: u32,
    pub(crate) meet: Meet,
    pub(crate) orders: bool,
    pub(crate) aligned: bool,
}

/// A barrier of some warps.
#[derive(Debug, Default)]
pub(crate) struct NamedBarrier {
    /// Threads of the current phase, set by the first one that comes.
    threads: u32,
    /// Threads of the warps that have come.
    arrived: u32,
    /// Whether the phase is one of votes.
    votes: bool,
    /// Whether all arrivals so far order accesses.
    unordered: bool,
    warps: Vec<Party>,
}

/// The lanes of a warp at a barrier.
#[derive(Clone, Debug, Default)]
struct Party {
    came: u32,
    voted: u32,
    /// How often it has come as a whole, and its first call since.
    passed: u64,
    first: Option<Aligned>,
}

impl NamedBarrier {
    /// The barrier, as an entry of a deadlock report.
    pub(crate) fn waiting(&self, number: u32) -> WaitingFor {
        WaitingFor::NamedBarrier { number, arrived: self.arrived, threads: self.threads }
    }
}

/// A barrier of `threads` threads of the block, or of all (`bar` and `barrier` with a number and a
/// count). Each warp counts as 32 threads, and comes with its last lane. With `aligned`, all lanes of
/// a warp must make the same call. Barrier 0 of all threads is that of [`block_barrier`].
///
/// Waiting threads acquire what all that arrived have released, even those that did not wait.
///
/// [`Fault::Trap`]: a number above 15; a count that is not a multiple of 32, or more than the block
/// has; threads with different counts in one phase, or with and without votes; a thread that arrives
/// twice in a phase; a lane that exits, or has exited, while others of its warp come to a barrier.
///
/// # Panics
/// Outside an emulated thread.
///
/// [`block_barrier`]: crate::block_barrier
#[track_caller]
pub fn named_barrier(number: u32, threads: Option<u32>, meet: Meet, aligned: bool) -> BarrierVotes {
    with("named_barrier", |here, spot| {
        let all = all_threads(&here.position);
        let threads = threads.unwrap_or(all);
        if let Some(why) = refusal(number, threads, all) {
            here.fail(Fault::Trap { site: here.site(spot), message: why });
        }
        here.tell(Done::BlockBarrier, spot);
        let orders = here.meet(Orders::BlockVote, spot).is_none();
        here.meet_at(Meeting { number, threads, meet, orders, aligned }, all, spot)
    })
}

/// The threads of a block, in whole warps.
fn all_threads(position: &Position) -> u32 {
    position.block_dim.count().next_multiple_of(WARP_LANES.into()) as u32
}

/// Why there is no such barrier.
fn refusal(number: u32, threads: u32, all: u32) -> Option<String> {
    if number >= BARRIERS {
        return Some(format!("barrier {number}: a block has {BARRIERS} barriers, from 0"));
    }
    if threads == 0 || !threads.is_multiple_of(WARP_LANES) {
        return Some(format!(
            "barrier {number} of {threads} threads: the count must be a multiple of {WARP_LANES}"
        ));
    }
    (threads > all).then(|| {
        format!("barrier {number} of {threads} threads, but the block has only {all} in its warps")
    })
}

impl Here<'_> {
    fn meet_at(&self, meeting: Meeting, all: u32, spot: Spot) -> BarrierVotes {
        let Meeting { number, threads, meet, orders, aligned } = meeting;
        let request = match meet {
            Meet::Wait if number == 0 && threads == all => {
                Request::Barrier { vote: false, orders, aligned }
            }
            Meet::Vote(vote) if number == 0 && threads == all => {
                Request::Barrier { vote, orders, aligned }
            }
            _ => Request::Meet(meeting),
        };
        match self.stop(request, spot) {
            Some(Reply::Votes(votes)) => votes,
            _ => BarrierVotes::default(),
        }
    }
}

impl<'a> Block<'a> {
    /// A thread comes to a barrier of some warps. Returns whether the barrier opens.
    pub(crate) fn meet(
        &mut self,
        warp: usize,
        lane: u32,
        meeting: Meeting,
        machine: &mut Machine<'a>,
    ) -> Result<bool, Fault> {
        let Meeting { number, threads, meet, orders, aligned } = meeting;
        let thread = self.warps[warp].first + lane as usize;
        if let Some(message) = self.mismatch(warp, lane, &meeting) {
            return Err(Fault::Trap { site: self.site(thread), message });
        }
        let spot = self.threads[thread].spot;
        let barrier = &mut self.named[number as usize];
        barrier.threads = threads;
        barrier.votes = matches!(meet, Meet::Vote(_));
        barrier.unordered |= !orders;
        let party = &mut barrier.warps[warp];
        let now = Aligned { phase: party.passed, lane, spot };
        if aligned && let Some(other) = Aligned::come(&mut party.first, now) {
            let waiting = barrier.waiting(number);
            return Err(self.diverged(waiting, warp, [lane, other]));
        }
        party.came |= 1 << lane;
        party.voted |= u32::from(meet == Meet::Vote(true)) << lane;
        let is_whole = party.came == self.warps[warp].lanes;
        barrier.arrived += if is_whole { WARP_LANES } else { 0 };
        if let Some(races) = &machine.world.races {
            let first = self.number_of(self.warps[warp].first);
            races.barrier_arrive(self.number_of(thread), (first, number));
        }
        if meet != Meet::Arrive {
            self.stand(warp, lane, Wait::Named(number), machine);
        }
        let opens = self.named[number as usize].arrived == threads;
        if opens {
            self.open(number, machine);
        }
        Ok(opens)
    }

    /// Why a thread cannot come to a barrier now. Creates the barriers.
    fn mismatch(&mut self, warp: usize, lane: u32, meeting: &Meeting) -> Option<String> {
        let &Meeting { number, threads, meet, .. } = meeting;
        if self.named.is_empty() {
            self.named.resize_with(BARRIERS as usize, NamedBarrier::default);
        }
        let barrier = &mut self.named[number as usize];
        barrier.warps.resize(self.warps.len(), Party::default());
        let is_open = barrier.warps.iter().all(|party| party.came == 0);
        let has_votes = matches!(meet, Meet::Vote(_));
        if !is_open && barrier.threads != threads {
            let first = barrier.threads;
            return Some(format!(
                "barrier {number} of {threads} threads, but others came to it for {first}: all must \
                 give the same count"
            ));
        }
        if !is_open && barrier.votes != has_votes {
            return Some(format!("barrier {number}: some threads vote at it, and others do not"));
        }
        if barrier.warps[warp].came >> lane & 1 == 1 {
            return Some(format!(
                "arrives at barrier {number} again, before it has opened: {} of {threads} threads have \
                 arrived",
                barrier.arrived
            ));
        }
        let exited = self.warps[warp].exited & !barrier.warps[warp].came;
        (exited != 0).then(|| absent(number, exited.trailing_zeros()))
    }

    /// The fault of a lane that exits while others of its warp are at a barrier.
    pub(crate) fn missed(&self, warp: usize, lane: u32) -> Option<Fault> {
        let lanes = self.warps[warp].lanes;
        let partly = |barrier: &NamedBarrier| {
            let came = barrier.warps.get(warp).map_or(0, |party| party.came);
            (came != 0 && came != lanes && came >> lane & 1 == 0).then_some(came)
        };
        let mut barriers = self.named.iter().zip(0..);
        let (came, number) = barriers.find_map(|(it, number)| Some((partly(it)?, number)))?;
        let site = self.site(self.warps[warp].first + came.trailing_zeros() as usize);
        Some(Fault::Trap { site, message: absent(number, lane) })
    }

    /// Opens a barrier for the warps that have come as a whole. Others are in the next phase.
    fn open(&mut self, number: u32, machine: &mut Machine<'a>) {
        let lanes: Vec<u32> = self.warps.iter().map(|warp| warp.lanes).collect();
        let barrier = &mut self.named[number as usize];
        let (mut count, mut present, mut whole) = (0, 0, Vec::new());
        for (warp, party) in barrier.warps.iter_mut().enumerate() {
            if party.came == lanes[warp] {
                count += party.voted.count_ones();
                present += party.came.count_ones();
                (party.came, party.voted) = (0, 0);
                party.passed += 1;
                whole.push(warp);
            }
        }
        barrier.arrived = 0;
        let orders = !std::mem::take(&mut barrier.unordered);
        let is_here = |wait: &Wait| matches!(wait, Wait::Named(at) if *at == number);
        let votes = BarrierVotes { count, all: count == present, any: count > 0 };
        if let Some(races) = &machine.world.races {
            let firsts = whole.iter().map(|&warp| self.number_of(self.warps[warp].first));
            let waiting = whole.iter().flat_map(|&warp| {
                let first = self.warps[warp].first;
                let threads = first..first + lanes[warp].count_ones() as usize;
                threads.filter(|&thread| is_here(&self.threads[thread].wait))
            });
            let waiting = waiting.map(|thread| self.number_of(thread));
            races.barrier_open(number, firsts, waiting, orders);
        }
        for warp in whole {
            self.release_warp(warp, is_here, &Reply::Votes(votes), machine);
        }
    }
}

fn absent(number: u32, lane: u32) -> String {
    format!(
        "lanes of a warp come to barrier {number}, but lane {lane} has exited: all lanes of a warp must \
         come to it"
    )
}
