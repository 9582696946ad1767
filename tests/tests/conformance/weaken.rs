//! Every ordering in a protocol is needed, or this file states why it exists.

use gridsync::check::{Check, Weakened};
use gridsync_lab::protocols::{Protocol, protocols};
use gridsync_tests::program::workspace;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use std::collections::BTreeMap;
use std::fs;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            no_order_of_a_short_protocol_is_stronger_than_needed_without_a_reason;
        thorough:
            no_order_is_stronger_than_needed_without_a_reason,
            no_protocol_fails_in_thousands_of_schedules;
    }
}

/// A part of a protocol that no run needs, and the reason why it exists.
struct Needless {
    /// The end of the file's path.
    file: &'static str,
    /// Part of the line; or part of the one before it, a line break, and part of the line.
    line: &'static str,
    /// The changes that do no harm.
    changes: &'static [&'static str],
    reason: &'static str,
}

const ANY_ORDER: &[&str] = &["block scope", "weak"];

const NEEDLESS: &[Needless] = &[
    Needless {
        file: "barrier/split.rs",
        line: "sync_warp(lanes)",
        changes: &["out"],
        reason: "speed: no lane spins before the first has arrived",
    },
    Needless {
        file: "barrier/split.rs",
        line: "clock().wrapping_sub(self.arrived)",
        changes: &["out"],
        reason: "speed: nobody looks before the others can have arrived",
    },
    Needless {
        file: "exchange/row.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: no lane spins before the first has sent",
    },
    Needless {
        file: "exchange/row.rs",
        line: "clock().wrapping_sub(began)",
        changes: &["out"],
        reason: "speed: nobody looks before the others can have sent",
    },
    Needless {
        file: "tiles/prefix.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: no lane spins before the first has sent",
    },
    Needless {
        file: "scans/s09_look_back.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: no lane waits before the first has published",
    },
    Needless {
        file: "bulk/look.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: the lanes of a warp go on together",
    },
    Needless {
        file: "bulk/mod.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: the lanes of a warp go on together",
    },
    Needless {
        file: "bulk/ring.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: the lanes of a warp go on together",
    },
    Needless {
        file: "bulk/strips.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: the lanes of a warp go on together",
    },
    Needless {
        file: "bulk/mod.rs",
        line: "thread::sync_threads()",
        changes: &["out"],
        reason: "for the one launch in 2^32 after which the stamps begin anew",
    },
    Needless {
        file: "exchange/collectives.rs",
        line: "thread::sync_threads_",
        changes: &["unordered"],
        reason: "only the votes are asked for",
    },
    Needless {
        file: "system/exchange.rs",
        line: "thread::sync_threads_",
        changes: &["unordered"],
        reason: "only the votes are asked for",
    },
    Needless {
        file: "system/exchange.rs",
        line: "sync_warp(FULL_MASK)",
        changes: &["out"],
        reason: "speed: no lane spins before the first ones have sent",
    },
    Needless {
        file: "barrier/generation.rs",
        line: "thread::device_fence()",
        changes: &["block scope", "acq_rel", "out"],
        reason: "as published: fences before and after the barrier of the block stand in for each other, \
                 and so do those before and after the counter",
    },
    Needless {
        file: "barrier/generation.rs",
        line: "state.read_volatile(GENERATION) } else",
        changes: &["weak"],
        reason: "nobody writes the word until this block has arrived",
    },
    Needless {
        file: "barrier/release.rs",
        line: "state.load(RELEASED, Ordering::Relaxed",
        changes: ANY_ORDER,
        reason: "nobody writes the word until this block has arrived",
    },
    Needless {
        file: "barrier/tree.rs",
        line: "state.load(RELEASED, Ordering::Relaxed",
        changes: ANY_ORDER,
        reason: "nobody writes the word until this block has arrived",
    },
    Needless {
        file: "barrier/lock_free.rs",
        line: "ROUND, Ordering::Relaxed",
        changes: ANY_ORDER,
        reason: "nobody writes the word until this block has arrived",
    },
    Needless {
        file: "barrier/lock_free.rs",
        line: "state.store(ROUND, round",
        changes: ANY_ORDER,
        reason: "all blocks have arrived, and nobody attaches until they are let go",
    },
    Needless {
        file: "barrier/lock_free.rs",
        line: "thread::sync_threads()",
        changes: &["out"],
        reason: "the second one is for blocks that attach again in the same launch",
    },
    Needless {
        file: "barrier/cluster.rs",
        line: "thread::fence(Ordering::AcqRel, Scope::Device)",
        changes: &["cluster scope"],
        reason: "the release of the first block of the cluster reaches further; no fence here has cluster scope",
    },
    Needless {
        file: "sort/state.rs",
        line: "self.carries.load(at, Ordering::Relaxed, Scope::Device)",
        changes: ANY_ORDER,
        reason: "speed: a carry that is not there yet is polled later",
    },
    Needless {
        file: "histogram/mod.rs",
        line: "each_bin(binning, input.part(start, len)\nthread::sync_threads()",
        changes: &["out"],
        reason: "a half word overflows only if others add to it 2^15 times between two instructions of \
                 a thread, which no schedule draws",
    },
    Needless {
        file: "lock/queue.rs",
        line: "(me), ",
        changes: ANY_ORDER,
        reason: "nobody else knows the node until its thread has exchanged the tail",
    },
];

/// The line of the source, and the one before it.
fn lines_of(weakened: &Weakened) -> [String; 2] {
    let place = weakened.weaken.site.place;
    let text = fs::read_to_string(workspace().join(place.file())).expect("the source is there");
    let line = |number: u32| {
        let line = (number as usize).checked_sub(1).and_then(|index| text.lines().nth(index));
        line.unwrap_or_default().trim().to_owned()
    };
    [line(place.line()), line(place.line() - 1)]
}

impl Needless {
    /// Whether it is about this line, after the one before it.
    fn is_at(&self, [line, before]: &[String; 2]) -> bool {
        match self.line.split_once('\n') {
            Some((of_before, of_line)) => before.contains(of_before) && line.contains(of_line),
            None => line.contains(self.line),
        }
    }
}

/// Weakens all orderings of these protocols. Each ordering that no protocol needs must have a
/// reason.
fn all_have_a_reason(chosen: &[Protocol], schedules: fn(&Protocol) -> u64) {
    // An ordering is needed if one of the protocols needs it.
    let mut kept: BTreeMap<String, Option<Weakened>> = BTreeMap::new();
    for protocol in chosen {
        let weakened = Check::default()
            .on(protocol.config)
            .schedules(schedules(protocol))
            .weaken(|device| protocol.run(device));
        for it in weakened.unwrap_or_else(|failure| panic!("{}: {failure}", protocol.name)) {
            let site = it.weaken.site;
            let key = format!("{} {} → {}", site.place, site.does, it.weaken.change);
            let is_caught = it.caught.is_some();
            let known = kept.entry(key).or_insert(Some(it));
            if is_caught {
                *known = None;
            }
        }
    }
    assert!(kept.len() > 50, "only {} weaker forms", kept.len());
    let unexplained: Vec<String> = kept
        .into_values()
        .flatten()
        .filter_map(|it| {
            let (lines, change) = (lines_of(&it), it.weaken.change.to_string());
            let file = it.weaken.site.place.file();
            let explains = |needless: &&Needless| {
                file.ends_with(needless.file)
                    && needless.is_at(&lines)
                    && needless.changes.contains(&change.as_str())
                    && !needless.reason.is_empty()
            };
            NEEDLESS.iter().find(explains).is_none().then(|| format!("{it}\n    {}", lines[0]))
        })
        .collect();
    assert!(unexplained.is_empty(), "no run needs these:\n{}", unexplained.join("\n"));
}

fn no_order_of_a_short_protocol_is_stronger_than_needed_without_a_reason() {
    let short =
        ["phase", "flip", "growing", "release", "tree", "lock-free", "cluster-2", "bounded"];
    let is_short = |it: &Protocol| match it.name.split_once('/') {
        Some(("barrier", name)) => short.contains(&name),
        Some(("system", name)) => matches!(name, "barrier-2" | "bounded-2"),
        Some((kind, _)) => kind == "lock",
        None => false,
    };
    let chosen: Vec<Protocol> = protocols().into_iter().filter(is_short).collect();
    all_have_a_reason(&chosen, |_| 60);
}

fn no_order_is_stronger_than_needed_without_a_reason() {
    // A run of the bulk copies or a sort takes half a second, one of another rung a tenth.
    all_have_a_reason(&protocols(), |protocol| match &*protocol.name {
        "scan/by-bulk-copies" | "scan/spread-by-bulk-copies" => 8,
        "sort/tiles" | "sort/long-rows" | "rank/rows" => 8,
        name if name.starts_with("ladder/sort") => 8,
        name if name.starts_with("ladder/") => 20,
        // One of the two warps of a block has to fall behind by a whole crossing.
        name if name.contains("exchange") => 200,
        _ => 80,
    });
}

fn no_protocol_fails_in_thousands_of_schedules() {
    let all = protocols();
    let each = 100_000 / all.len() as u64;
    for protocol in &all {
        let check = Check::default().on(protocol.config).from(1000).schedules(each);
        check
            .run(|device| protocol.run(device))
            .unwrap_or_else(|failure| panic!("{}: {failure}", protocol.name));
    }
}
