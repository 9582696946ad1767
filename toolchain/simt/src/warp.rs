//! One warp: which of its lanes can run, and which wait for each other.

use std::rc::Rc;

use crate::cluster::Ticket;
use crate::dim::{Spot, WARP_LANES};
use crate::fiber::{Call, Fiber, Reply};
use crate::place::Place;
use crate::thread::WarpValues;

/// Reason why a live lane waits between its turns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// It can run.
    Nothing,
    /// It waits at the block barrier.
    Barrier,
    /// It waits at the barrier of some warps with this number.
    Named(u32),
    /// It waits at the cluster barrier.
    ClusterBarrier,
    /// It waits for the end of the grids that its own overlaps.
    Grids,
    /// It waits at a warp collective.
    Collective(Call),
    /// It has exited.
    Exited,
}

/// One thread as seen by the scheduler.
pub(crate) struct Lane<'a> {
    /// `None` once the thread has exited.
    pub(crate) fiber: Option<Fiber<'a>>,
    /// The reply for its next turn.
    pub(crate) reply: Reply,
    pub(crate) wait: Wait,
    /// The scheduling point it is at.
    pub(crate) spot: Spot,
    /// Location of its last spin.
    pub(crate) spun_at: Place,
    /// The clock at its last step or, if that step was a sleep, at the end of the sleep. A sleep
    /// counts from this time, so sleeps of many threads overlap.
    pub(crate) stepped_at: u64,
    /// See [`crate::quiet::Quiet::spun`].
    pub(crate) seen: u64,
    /// Its arrival at the cluster barrier, until it waits.
    pub(crate) ticket: Option<Ticket>,
}

/// The first call by which a lane of a warp reached a barrier.
///
/// The instructions are the `.aligned` ones: all lanes of a warp execute the same one together (PTX
/// ISA, `barrier`, `barrier.cluster`). A different call is a different instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aligned {
    /// How often the barrier had opened.
    pub(crate) phase: u64,
    pub(crate) lane: u32,
    pub(crate) spot: Spot,
}

impl Aligned {
    /// A lane reaches the barrier. `first` is the first call of its warp. Returns the lane that
    /// reached the same phase by a different call, if there is one.
    pub(crate) fn come(first: &mut Option<Self>, now: Self) -> Option<u32> {
        match first {
            Some(first) if first.phase == now.phase => {
                (first.spot != now.spot).then_some(first.lane)
            }
            _ => {
                *first = Some(now);
                None
            }
        }
    }
}

/// The lanes of a warp, as bit masks.
#[derive(Debug)]
pub(crate) struct Warp {
    /// Number of the first lane's thread in its block.
    pub(crate) first: usize,
    /// Lanes that exist.
    pub(crate) lanes: u32,
    /// Lanes that can run.
    pub(crate) ready: u32,
    /// Lanes that have exited.
    pub(crate) exited: u32,
    /// Lanes at a warp collective.
    pub(crate) pending: u32,
    /// Those of them that made the same call as the last one.
    together: u32,
    /// Lanes that requested the active mask in this step.
    pub(crate) asking: u32,
    /// How its lanes last reached the block barrier, arrived at the cluster barrier, and waited
    /// there.
    pub(crate) barrier: Option<Aligned>,
    pub(crate) cluster_arrival: Option<Aligned>,
    pub(crate) cluster_wait: Option<Aligned>,
}

/// Reason why a collective is impossible.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallError {
    NotInMask,
    /// This named lane has exited.
    Exited(u32),
    /// This lane waits at another collective. The two lanes name each other.
    Mismatch(u32),
}

/// Lanes of a mask, lowest first.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = u32> + Clone {
    core::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < WARP_LANES).then_some(lane)
    })
}

impl Warp {
    /// The warp of `count` threads, 1 to 32, starting at number `first`.
    pub(crate) fn new(first: usize, count: u32) -> Self {
        let lanes = u32::MAX >> (WARP_LANES - count);
        Self {
            first,
            lanes,
            ready: lanes,
            exited: 0,
            pending: 0,
            together: 0,
            asking: 0,
            barrier: None,
            cluster_arrival: None,
            cluster_wait: None,
        }
    }

    /// `lane` calls a collective. `threads` are the warp's lanes. Returns the lanes that can now
    /// continue, with their replies set, or 0.
    pub(crate) fn call(
        &mut self,
        lane: u32,
        call: Call,
        threads: &mut [Lane<'_>],
    ) -> Result<u32, CallError> {
        let named = call.mask & self.lanes;
        if named >> lane & 1 == 0 {
            return Err(CallError::NotInMask);
        }
        if named & self.exited != 0 {
            return Err(CallError::Exited((named & self.exited).trailing_zeros()));
        }
        let mut agreed = 1u32 << lane;
        let mut others = named & self.pending;
        // Lanes of one call are compared with it once.
        while others != 0 {
            let other = others.trailing_zeros();
            let same = if self.together >> other & 1 == 1 { self.together } else { 1 << other };
            others &= !same;
            let Wait::Collective(theirs) = threads[other as usize].wait else {
                continue;
            };
            if theirs.mask == call.mask && theirs.kind == call.kind {
                agreed |= same;
            } else if theirs.mask >> lane & 1 == 1 {
                // Each waits for the other to make a matching call, which never happens.
                return Err(CallError::Mismatch(other));
            }
        }
        threads[lane as usize].wait = Wait::Collective(call);
        self.pending |= 1 << lane;
        self.together = agreed;
        self.ready &= !(1 << lane);
        if agreed != named {
            return Ok(0);
        }
        let mut values = WarpValues::none();
        for lane in lanes(named) {
            if let Wait::Collective(call) = threads[lane as usize].wait {
                values.add(lane, call.value);
            }
        }
        let values = Rc::new(values);
        for lane in lanes(named) {
            let thread = &mut threads[lane as usize];
            thread.wait = Wait::Nothing;
            thread.reply = Reply::Values(Rc::clone(&values));
        }
        self.pending &= !named;
        self.together = 0;
        self.ready |= named;
        Ok(named)
    }

    /// `lane` exits. Returns a lane that waits for it at a collective, if there is one.
    pub(crate) fn exit(&mut self, lane: u32, threads: &[Lane<'_>]) -> Option<(u32, Call)> {
        self.exited |= 1 << lane;
        self.ready &= !(1 << lane);
        lanes(self.pending).find_map(|other| match threads[other as usize].wait {
            Wait::Collective(call) if call.mask >> lane & 1 == 1 => Some((other, call)),
            _ => None,
        })
    }

    /// Ends a step: lanes that requested the active mask receive the lanes that requested it at the
    /// same location.
    pub(crate) fn answer_active_masks(&mut self, threads: &mut [Lane<'_>]) {
        let mut rest = core::mem::take(&mut self.asking);
        while rest != 0 {
            let spot = threads[rest.trailing_zeros() as usize].spot;
            let together = lanes(rest)
                .filter(|&lane| threads[lane as usize].spot == spot)
                .fold(0, |mask, lane| mask | 1 << lane);
            for lane in lanes(together) {
                threads[lane as usize].reply = Reply::Mask(together);
            }
            rest &= !together;
        }
    }
}
