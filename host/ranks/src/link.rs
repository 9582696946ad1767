//! The connections of a rank during its job, and how it detects failures of other ranks.
//!
//! Rank 0 is connected to every other rank, and every other rank only to rank 0. Each connection
//! has a reader thread. Another thread sends a heartbeat to all peers every second, even while the
//! rank computes. So both sides notice when a process dies, because its connection closes, and when
//! a machine dies, because it falls silent. Rank 0 reports lost ranks to all others.
//!
//! Data from other ranks is not trusted. A frame may be at most as long as a collective needs
//! ([`MOST_BYTES`](super::MOST_BYTES)). A rank gets an answer to each frame before it sends the
//! next one, so at most one frame per rank must be kept, and a second one ends the job. A rank may
//! report its own failure, but only rank 0 may report the loss of another.

use super::frame::Frame;
use super::peers::{Act, Loss, Peers, State, lock};
use super::{RanksError, Waiting};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a rank that is done or has failed waits for the others to be notified.
const FAREWELL: Duration = Duration::from_secs(2);

/// Called when a wait takes long.
type Report = Box<dyn FnMut(&Waiting) + Send>;

/// The connections of this rank.
pub(super) struct Link {
    peers: Arc<Peers>,
    report: Option<Report>,
    /// Dropped to stop the heartbeats.
    stop: Option<Sender<()>>,
}

impl Link {
    /// Creates the link from the connections, indexed by rank. A rank that sends nothing for
    /// `timeout` is lost.
    ///
    /// # Errors
    /// If the operating system cannot set up a connection or its thread.
    pub(super) fn new(
        rank: u32,
        size: u32,
        timeout: Duration,
        streams: Vec<Option<TcpStream>>,
    ) -> io::Result<Self> {
        let mut from = Vec::new();
        for (other, stream) in (0..size).zip(&streams) {
            let Some(stream) = stream else { continue };
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.set_write_timeout(Some(timeout))?;
            from.push((other, stream.try_clone()?));
        }
        let state = State {
            waiting: vec![None; size as usize],
            is_done: vec![false; size as usize],
            readers: from.len(),
            ..State::default()
        };
        let peers = Arc::new(Peers {
            rank,
            size,
            timeout,
            to: streams.into_iter().map(|stream| stream.map(Mutex::new)).collect(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        for (other, stream) in from {
            let peers = peers.clone();
            thread::Builder::new().spawn(move || peers.hear(other, stream))?;
        }
        let (stop, stopped) = mpsc::channel();
        let beating = peers.clone();
        thread::Builder::new().spawn(move || beating.beat(&stopped))?;
        Ok(Self { peers, report: None, stop: Some(stop) })
    }

    pub(super) fn rank(&self) -> u32 {
        self.peers.rank
    }

    pub(super) fn size(&self) -> u32 {
        self.peers.size
    }

    #[cfg(feature = "cuda")]
    pub(super) fn timeout(&self) -> Duration {
        self.peers.timeout
    }

    /// Sends a frame to `rank`.
    pub(super) fn send(&mut self, rank: u32, frame: &Frame) -> Result<(), RanksError> {
        let Err(error) = self.peers.send(rank, frame) else {
            return Ok(());
        };
        // The reader thread also sees the connection end, and before that the reason, if one was
        // sent.
        let is_unknown = |state: &mut State| state.loss().is_none();
        let state = lock(&self.peers.state);
        let (state, _) = self
            .peers
            .changed
            .wait_timeout_while(state, FAREWELL, is_unknown)
            .unwrap_or_else(PoisonError::into_inner);
        let loss = state.loss();
        let loss = loss.unwrap_or_else(|| Loss::lost(rank, self.peers.noticed(&error)));
        Err(loss.error(self.size()))
    }

    /// Waits for the next frame of `rank`. A wait for a rank that sends heartbeats has no limit,
    /// and is reported each time the timeout elapses.
    pub(super) fn next(&mut self, rank: u32) -> Result<Frame, RanksError> {
        let (peers, start) = (&self.peers, Instant::now());
        let mut report_at = peers.timeout;
        let mut state = lock(&peers.state);
        loop {
            if let Some(frame) = state.waiting[rank as usize].take() {
                return Ok(frame);
            }
            if let Some(loss) = state.loss() {
                return Err(loss.error(peers.size));
            }
            if state.is_done[rank as usize] {
                let loss = Loss::lost(rank, "it ended before the others were done");
                return Err(loss.error(peers.size));
            }
            let left = report_at.saturating_sub(start.elapsed());
            if !left.is_zero() {
                let waited = peers.changed.wait_timeout(state, left);
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            report_at += peers.timeout;
            let is_late = |&other: &u32| other >= rank && state.waiting[other as usize].is_none();
            let ranks = peers.others().filter(is_late).collect();
            drop(state);
            let waiting = Waiting { ranks, size: peers.size, elapsed: start.elapsed() };
            if let Some(report) = &mut self.report {
                report(&waiting);
            }
            state = lock(&peers.state);
        }
    }

    /// Returns an error if a rank is known to be lost. Does not wait.
    pub(super) fn check(&self) -> Result<(), RanksError> {
        match lock(&self.peers.state).loss() {
            Some(loss) => Err(loss.error(self.size())),
            None => Ok(()),
        }
    }

    /// Sets the callback for long waits.
    pub(super) fn report_waiting(&mut self, report: Report) {
        self.report = Some(report);
    }

    /// Notifies all others that this rank failed, and why.
    pub(super) fn fail(&self, message: &str) {
        self.peers.end();
        let rank = self.rank();
        match rank {
            0 => self.peers.report(&Loss::failed(rank, message.into())),
            _ => {
                // If rank 0 cannot be reached, it sees the connection close.
                let _sent = self.peers.send(0, &Frame::Failed(message.into()));
            }
        }
    }

    /// Closes all connections without sending anything, as if the process were killed. Pauses after
    /// each connection, which gives each rank time to react wrongly.
    #[cfg(test)]
    pub(super) fn cut(&self) {
        self.peers.end();
        for stream in self.peers.to.iter().flatten() {
            lock(stream).shutdown(Shutdown::Both).expect("it is open");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the heartbeats, as if the machine had stopped.
    #[cfg(test)]
    pub(super) fn fall_silent(&mut self) {
        self.stop = None;
    }

    /// Sets the callback for the first loss, which runs on another thread; immediately if a rank
    /// was already lost.
    pub(super) fn when_lost(&self, act: Act) {
        let mut state = lock(&self.peers.state);
        state.when_lost = Some(act);
        if state.first.is_some() {
            drop(state);
            let peers = self.peers.clone();
            if thread::Builder::new().spawn(move || peers.act()).is_err() {
                self.peers.act();
            }
        }
    }

    /// Notifies all others that this rank is done.
    pub(super) fn leave(&self) {
        lock(&self.peers.state).when_lost = None;
        for other in self.peers.others() {
            // A rank that is gone does not need the notification.
            let _sent = self.peers.send(other, &Frame::Bye);
        }
    }
}

impl Drop for Link {
    /// Closes the connections once the others have closed theirs, or after two seconds. Closing a
    /// connection with unread heartbeats could discard the data that was sent last.
    fn drop(&mut self) {
        self.peers.end();
        self.stop = None;
        for stream in self.peers.to.iter().flatten() {
            let _closed = lock(stream).shutdown(Shutdown::Write);
        }
        let is_read = |state: &mut State| state.readers > 0;
        let waited =
            self.peers.changed.wait_timeout_while(lock(&self.peers.state), FAREWELL, is_read);
        drop(waited);
        for stream in self.peers.to.iter().flatten() {
            let _closed = lock(stream).shutdown(Shutdown::Both);
        }
    }
}
