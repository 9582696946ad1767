//! Deadlock detection: determines when nothing can change any more.
//!
//! Time is divided into rounds. A round ends when every live thread has spun in it or is blocked,
//! so each spinning thread has read memory at least once. A change of memory or a thread's exit
//! restarts the count. After `patience` rounds in a row without either, or at once if no thread
//! even spins, the launch is deadlocked. A thread that neither spins nor blocks keeps the round
//! open, so a long computation is never mistaken for a deadlock.

/// Counts of threads, and of rounds without change.
#[derive(Debug)]
pub(crate) struct Quiet {
    /// Number of the current round; 0 is never current.
    round: u64,
    /// Live threads that neither spun in this round nor are blocked.
    open: u64,
    /// Live threads that are not blocked.
    runnable: u64,
    /// Rounds in a row without change.
    passes: u32,
    patience: u32,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The round continues.
    Open,
    /// A round ended without change, the n-th in a row.
    Pass(u32),
    /// Nothing can change.
    Deadlock,
}

impl Quiet {
    pub(crate) fn new(patience: u32) -> Self {
        Self { round: 1, open: 0, runnable: 0, passes: 0, patience }
    }

    /// New threads that can run.
    pub(crate) fn started(&mut self, threads: u64) {
        self.runnable += threads;
        self.open += threads;
    }

    /// A thread spun; `seen` is the round in which it was last counted as spinning or blocked.
    pub(crate) fn spun(&mut self, seen: &mut u64) {
        if *seen != self.round {
            *seen = self.round;
            self.open -= 1;
        }
    }

    /// A runnable thread blocks.
    pub(crate) fn blocked(&mut self, seen: &mut u64) {
        self.spun(seen);
        self.runnable -= 1;
    }

    /// A blocked thread becomes runnable.
    pub(crate) fn released(&mut self, seen: &mut u64) {
        *seen = 0;
        self.runnable += 1;
        self.open += 1;
    }

    /// A runnable thread exits.
    pub(crate) fn exited(&mut self, seen: &mut u64) {
        self.blocked(seen);
        self.changed();
    }

    /// Memory changed.
    pub(crate) fn changed(&mut self) {
        self.passes = 0;
        self.next_round();
    }

    fn next_round(&mut self) {
        self.round += 1;
        self.open = self.runnable;
    }

    /// Called after each step, while threads live.
    pub(crate) fn verdict(&mut self) -> Verdict {
        if self.open > 0 {
            return Verdict::Open;
        }
        self.passes += 1;
        self.next_round();
        if self.runnable == 0 || self.passes >= self.patience {
            Verdict::Deadlock
        } else {
            Verdict::Pass(self.passes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_waits_for_every_thread_and_a_change_restarts_the_count() {
        let mut quiet = Quiet::new(2);
        quiet.started(2);
        let (mut one, mut two) = (0, 0);
        quiet.spun(&mut one);
        quiet.spun(&mut one);
        assert_eq!(quiet.verdict(), Verdict::Open);
        quiet.spun(&mut two);
        assert_eq!(quiet.verdict(), Verdict::Pass(1));
        quiet.changed();
        quiet.spun(&mut one);
        quiet.blocked(&mut two);
        assert_eq!(quiet.verdict(), Verdict::Pass(1));
        quiet.spun(&mut one);
        assert_eq!(quiet.verdict(), Verdict::Deadlock);
    }

    #[test]
    fn all_blocked_is_a_deadlock_at_once() {
        let mut quiet = Quiet::new(100);
        quiet.started(2);
        let (mut one, mut two) = (0, 0);
        quiet.blocked(&mut one);
        assert_eq!(quiet.verdict(), Verdict::Open);
        quiet.blocked(&mut two);
        assert_eq!(quiet.verdict(), Verdict::Deadlock);
    }

    #[test]
    fn a_released_thread_counts_again() {
        let mut quiet = Quiet::new(100);
        quiet.started(1);
        let mut one = 0;
        quiet.blocked(&mut one);
        quiet.released(&mut one);
        assert_eq!(quiet.verdict(), Verdict::Open);
        quiet.exited(&mut one);
        assert_eq!(quiet.verdict(), Verdict::Deadlock);
    }
}
