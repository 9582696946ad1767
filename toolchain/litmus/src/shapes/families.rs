//! The table of shapes.

use super::Flavour::{self, Barrier, Fence, FenceSc, Relaxed, ReleaseAcquire, WeakFenceSc};

/// A shape.
pub(super) struct Family {
    /// Its name in the literature.
    pub(super) name: &'static str,
    /// The meaning of its outcome.
    pub(super) says: &'static str,
    /// The accesses of each thread. `Wx1` writes 1 to x, `Rx` reads x, `Ax` adds 1 to x. The values
    /// that a thread reads are in r0, r1, and so on.
    pub(super) threads: &'static [&'static str],
    /// The outcome.
    pub(super) outcome: &'static str,
    /// The flavours that forbid the outcome if their scope includes all threads.
    pub(super) forbidden: &'static [Flavour],
    /// Whether program order alone forbids it.
    pub(super) always_forbidden: bool,
}

const BOTH_FENCES: &[Flavour] = &[FenceSc, WeakFenceSc, Barrier];
const ORDERED: &[Flavour] = &[ReleaseAcquire, Fence, FenceSc, WeakFenceSc, Barrier];
const STRONG: &[Flavour] = &[Relaxed, ReleaseAcquire, Fence, FenceSc];

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "CoWW",
        says: "A thread's own writes to a location are reversed.",
        threads: &["Wx1 Wx2", "Rx"],
        outcome: "x == 1",
        forbidden: &[],
        always_forbidden: true,
    },
    Family {
        name: "CoRW1",
        says: "A thread reads what it writes later.",
        threads: &["Rx Wx1", "Wx2"],
        outcome: "P0:r0 == 1",
        forbidden: &[],
        always_forbidden: true,
    },
    Family {
        name: "CoRR",
        says: "A thread reads a new value, and then an older one.",
        threads: &["Wx1", "Rx Rx"],
        outcome: "P1:r0 == 1 /\\ P1:r1 == 0",
        forbidden: STRONG,
        always_forbidden: false,
    },
    Family {
        name: "CoWR",
        says: "A thread reads a write that its own write comes after.",
        threads: &["Wx1 Rx", "Wx2"],
        outcome: "P0:r0 == 2 /\\ x == 1",
        forbidden: STRONG,
        always_forbidden: false,
    },
    Family {
        name: "CoRW2",
        says: "A thread writes before a write that it has read.",
        threads: &["Rx Wx1", "Wx2"],
        outcome: "P0:r0 == 2 /\\ x == 2",
        forbidden: STRONG,
        always_forbidden: false,
    },
    Family {
        name: "MP",
        says: "Message passing: the flag is seen, and the data is not.",
        threads: &["Wx1 Wy1", "Ry Rx"],
        outcome: "P1:r0 == 1 /\\ P1:r1 == 0",
        forbidden: ORDERED,
        always_forbidden: false,
    },
    Family {
        name: "SB",
        says: "Store buffering: neither thread sees the other's write.",
        threads: &["Wx1 Ry", "Wy1 Rx"],
        outcome: "P0:r0 == 0 /\\ P1:r0 == 0",
        forbidden: BOTH_FENCES,
        always_forbidden: false,
    },
    Family {
        name: "LB",
        says: "Load buffering: both threads read what the other writes later.",
        threads: &["Rx Wy1", "Ry Wx1"],
        outcome: "P0:r0 == 1 /\\ P1:r0 == 1",
        forbidden: ORDERED,
        always_forbidden: false,
    },
    Family {
        name: "S",
        says: "A write comes before a write whose message its thread has seen.",
        threads: &["Wx2 Wy1", "Ry Wx1"],
        outcome: "P1:r0 == 1 /\\ x == 2",
        forbidden: ORDERED,
        always_forbidden: false,
    },
    Family {
        name: "R",
        says: "A write comes last, and its thread has not seen what precedes the other.",
        threads: &["Wx1 Wy1", "Wy2 Rx"],
        outcome: "y == 2 /\\ P1:r0 == 0",
        forbidden: BOTH_FENCES,
        always_forbidden: false,
    },
    Family {
        name: "2+2W",
        says: "Each thread's first write comes last.",
        threads: &["Wx1 Wy2", "Wy1 Wx2"],
        outcome: "x == 1 /\\ y == 1",
        forbidden: BOTH_FENCES,
        always_forbidden: false,
    },
    Family {
        name: "WRC",
        says: "Write to read causality: a message about a write that was read arrives before it.",
        threads: &["Wx1", "Rx Wy1", "Ry Rx"],
        outcome: "P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0",
        // With weak accesses, reading x observes nothing, and the fences order only what follows.
        // The barrier comes between the write of y and its read.
        forbidden: &[ReleaseAcquire, Fence, FenceSc, Barrier],
        always_forbidden: false,
    },
    Family {
        name: "RWC",
        says: "Read to write causality: two readers disagree about which write came first.",
        threads: &["Wx1", "Rx Ry", "Wy1 Rx"],
        outcome: "P1:r0 == 1 /\\ P1:r1 == 0 /\\ P2:r0 == 0",
        forbidden: &[FenceSc, Barrier],
        always_forbidden: false,
    },
    Family {
        name: "ISA2",
        says: "A message passed on by a third thread arrives before what it tells of.",
        threads: &["Wx1 Wy1", "Ry Wz1", "Rz Rx"],
        outcome: "P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0",
        forbidden: ORDERED,
        always_forbidden: false,
    },
    Family {
        name: "IRIW",
        says: "Independent reads of independent writes: two readers see them in opposite orders.",
        threads: &["Wx1", "Rx Ry", "Wy1", "Ry Rx"],
        outcome: "P1:r0 == 1 /\\ P1:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0",
        forbidden: &[FenceSc],
        always_forbidden: false,
    },
    Family {
        name: "RMW",
        says: "Two atomics read the same value.",
        threads: &["Ax", "Ax"],
        outcome: "P0:r0 == 0 /\\ P1:r0 == 0",
        forbidden: STRONG,
        always_forbidden: false,
    },
    Family {
        name: "MP+RMW",
        says: "Message passing, with an atomic of a third thread between write and read of the flag.",
        threads: &["Wx1 Wy1", "Ay", "Ry Rx"],
        outcome: "P1:r0 == 1 /\\ P2:r0 == 2 /\\ P2:r1 == 0",
        forbidden: &[ReleaseAcquire, Fence, FenceSc],
        always_forbidden: false,
    },
];
