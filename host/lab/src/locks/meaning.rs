//! The meaning of the numbers of `gridsync lab locks`.

use super::emulated::Checked;
use super::measured::{Lock, Point};
use crate::display::Page;

/// Explains the results of the emulator.
pub(super) fn of_checks(page: &mut Page, locks: &[Checked]) {
    if locks.iter().all(|lock| lock.wrong.is_none()) {
        page.means(
            "The counter and the list were right under every schedule, and the plain loads and \
             stores of the sections never raced: taking the lock acquires what its release \
             released.",
        );
    }
    page.means(
        "The accesses are those of the section and of all threads that wait meanwhile, if the warps \
         take turns. A GPU has to serve all of them at the one word of the lock, except those of \
         the queue, which are spread over a line for each thread. One lane for its warp leaves 31 \
         lanes that do not look at all.",
    );
}

/// Explains the rates of a GPU.
pub(super) fn of_rates(page: &mut Page, locks: &[Lock]) {
    for Lock { lock, points } in locks {
        for point in points.iter().filter(|point| point.gave_up > 0) {
            page.means(format!(
                "GAVE UP: {} of {} threads waited too long for the {lock} lock in a grid of {}, so \
                 no larger grid was tried. Either they starved, or the thread with the lock did not \
                 go on.",
                point.gave_up,
                point.contenders,
                point.grid(),
            ));
        }
    }
    let last = |lock: &Lock, form: usize| {
        lock.forms()[form].last().and_then(|point: &Point| point.million_per_s)
    };
    for (form, who) in ["one thread of each block", "whole blocks"].into_iter().enumerate() {
        let mut best: Vec<_> =
            locks.iter().filter_map(|lock| Some((last(lock, form)?, &lock.lock))).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        if let [first, .., last] = best[..] {
            page.means(format!(
                "Most threads, {who}: the {} lock is {:.1} times as fast as the {} lock.",
                first.1,
                first.0 / last.0,
                last.1
            ));
        }
    }
    page.means(
        "A lock lets one thread in at a time, so more threads do not get more done: they wait. To \
         hand a lock over takes at least a trip to the L2, and the counter that the other \
         multiprocessor has written takes another one.",
    );
    page.means(
        "Textbook: every waiting thread tries to write the word all the time, and the release \
         queues up among these attempts. Backoff: threads that sleep leave the word alone. But \
         whoever looks at the right time wins, not whoever has waited longest: compare the least \
         and the most sections of a block. Ticket and queue: in order of arrival, so every block \
         gets its share. By warp: one hand-over serves all lanes of a warp, and the lanes after \
         the first one find the counter in the L1.",
    );
}

/// Explains the deadlock of lanes in lockstep. The cured form counted `counter` lanes.
pub(super) fn of_lockstep(page: &mut Page, counter: u32) {
    page.means(format!(
        "Lockstep: before Volta the lanes of a warp shared one program counter. After the loop \
         that takes the lock, the lane that had the lock waited for the lanes that were still in \
         the loop, and they waited for the lock. The kernel of the report makes this explicit by a \
         barrier of the warp between taking the lock and the section. Since Volta each lane has \
         its own program counter, and one that waits lets the others run (CUDA C++ Programming \
         Guide, \"Independent Thread Scheduling\"). Code for any GPU keeps the section and the \
         release inside the loop. In the emulator that form has counted {counter} of 32 lanes.",
    ));
    page.means(
        "A lock that is held across a barrier deadlocks on every GPU, for the same reason: its \
         holder waits for threads that wait for the lock.",
    );
}
