//! State shared by the threads of a [link](super::link): the connections to the other ranks, and
//! what was received over them.

use super::frame::Frame;
use super::{MOST_BYTES, RanksError};
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// The time between two heartbeats; less if the timeout is short.
const BEAT: Duration = Duration::from_secs(1);

/// Another rank that ended too early.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    rank: u32,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    /// It reported why.
    Failed(String),
    /// How the loss was detected.
    Lost(String),
}

impl Loss {
    pub(super) fn failed(rank: u32, message: String) -> Self {
        Self { rank, how: How::Failed(message) }
    }

    pub(super) fn lost(rank: u32, how: impl Into<String>) -> Self {
        Self { rank, how: How::Lost(how.into()) }
    }

    pub(super) fn error(self, size: u32) -> RanksError {
        let rank = self.rank;
        match self.how {
            How::Failed(message) => RanksError::Failed { rank, size, message },
            How::Lost(how) => RanksError::Lost { rank, size, how },
        }
    }
}

/// Callback for a loss.
pub(super) type Act = Box<dyn FnOnce(RanksError) + Send>;

/// State received over the connections so far.
#[derive(Default)]
pub(super) struct State {
    /// The frame of each rank that has arrived and is not yet used.
    pub(super) waiting: Vec<Option<Frame>>,
    /// The ranks that ended normally.
    pub(super) is_done: Vec<bool>,
    /// The first loss, or that of this rank itself if it ends. All later losses follow from it,
    /// since a rank that is notified of it ends.
    pub(super) first: Option<Loss>,
    /// Whether the others have been notified of the first loss, so that this rank may act on it.
    pub(super) is_known: bool,
    /// Callback for the first loss.
    pub(super) when_lost: Option<Act>,
    /// Number of reader threads.
    pub(super) readers: usize,
}

impl State {
    pub(super) fn loss(&self) -> Option<Loss> {
        self.first.clone().filter(|_| self.is_known)
    }
}

/// The connections to the others, shared by several threads.
pub(super) struct Peers {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) timeout: Duration,
    /// Indexed by rank; `None` for this rank itself and for ranks that it is not connected to.
    pub(super) to: Vec<Option<Mutex<TcpStream>>>,
    pub(super) state: Mutex<State>,
    /// Notified on every change of the state.
    pub(super) changed: Condvar,
}

impl Peers {
    /// Sends a whole frame to `rank`.
    pub(super) fn send(&self, rank: u32, frame: &Frame) -> io::Result<()> {
        match &self.to[rank as usize] {
            Some(stream) => frame.write(&mut *lock(stream)),
            None => Ok(()),
        }
    }

    /// The ranks with a connection to this one.
    pub(super) fn others(&self) -> impl Iterator<Item = u32> {
        (0..self.size).filter(|&rank| self.to[rank as usize].is_some())
    }

    /// Reports a loss to all ranks except the lost one, if this is rank 0. Other ranks cannot
    /// report.
    pub(super) fn report(&self, loss: &Loss) {
        let rank = loss.rank;
        let frame = match loss.how.clone() {
            How::Failed(message) => Frame::OtherFailed { rank, message },
            How::Lost(how) => Frame::OtherLost { rank, how },
        };
        let others = self.others().filter(|&other| self.rank == 0 && other != rank);
        for other in others {
            // If this fails, the rank is lost too, and its reader thread notices.
            let _sent = self.send(other, &frame);
        }
    }

    /// The most bytes of a frame that a peer may send to this rank: the bytes of one rank for each
    /// other one, or from rank 0 the bytes of all ranks, each with its length.
    fn most_bytes(&self) -> u64 {
        let (size, most) = (u64::from(self.size), MOST_BYTES as u64);
        if self.rank == 0 { 8 * size + most } else { size * (8 + most) }
    }

    /// Reads everything that `rank` sends until the connection closes.
    pub(super) fn hear(&self, rank: u32, mut from: TcpStream) {
        let mut is_over = false;
        loop {
            let read = Frame::read(&mut from, self.most_bytes());
            let is_cut = read.is_err();
            let learnt = match read {
                Ok(frame) => {
                    is_over |= frame == Frame::Bye;
                    self.learn(rank, frame)
                }
                Err(_) if is_over => Ok(()),
                Err(error) => Err(Loss::lost(rank, self.noticed(&error))),
            };
            if let Err(loss) = learnt {
                is_over = true;
                self.lose(loss);
            }
            if is_cut {
                break;
            }
        }
        lock(&self.state).readers -= 1;
        self.changed.notify_all();
    }

    /// Records a frame from `from`.
    fn learn(&self, from: u32, frame: Frame) -> Result<(), Loss> {
        let may_report = |rank: u32| from == 0 && rank != self.rank && rank < self.size;
        let at = from as usize;
        match frame {
            Frame::Beat => {}
            Frame::Failed(message) => return Err(Loss::failed(from, message)),
            Frame::OtherFailed { rank, message } if may_report(rank) => {
                return Err(Loss::failed(rank, message));
            }
            Frame::OtherLost { rank, how } if may_report(rank) => {
                return Err(Loss::lost(rank, how));
            }
            Frame::Bye => lock(&self.state).is_done[at] = true,
            Frame::Gather(_) | Frame::Exchange(_) => {
                let slot = &mut lock(&self.state).waiting[at];
                if slot.is_some() {
                    return Err(Loss::lost(from, "it sent more before it got an answer"));
                }
                *slot = Some(frame);
            }
            other => {
                let how = format!("it sent {}, which is not allowed", other.name());
                return Err(Loss::lost(from, how));
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    /// If this is the first loss, records it, reports it to the others and runs the callback.
    fn lose(&self, loss: Loss) {
        if !self.is_first(&loss) {
            return;
        }
        // Notify the others first: this rank may exit as soon as it knows of the loss.
        self.report(&loss);
        lock(&self.state).is_known = true;
        self.changed.notify_all();
        self.act();
    }

    /// Records the loss if it is the first, and returns whether it is.
    fn is_first(&self, loss: &Loss) -> bool {
        let mut state = lock(&self.state);
        let is_first = state.first.is_none();
        state.first.get_or_insert_with(|| loss.clone());
        is_first
    }

    /// Records that this rank ends. The others close their connections because of it, which is not
    /// a loss to report: the others would name the wrong rank.
    pub(super) fn end(&self) {
        self.is_first(&Loss::lost(self.rank, "it ends"));
    }

    /// Runs the callback for a loss, if a rank was lost.
    pub(super) fn act(&self) {
        let mut state = lock(&self.state);
        let Some(loss) = state.first.clone() else { return };
        let act = state.when_lost.take();
        drop(state);
        if let Some(act) = act {
            act(loss.error(self.size));
        }
    }

    /// Describes how a loss was detected.
    pub(super) fn noticed(&self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(
                "nothing was received from it for {} s: check its machine and the network",
                self.timeout.as_secs_f64()
            ),
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => {
                "its connection has closed: check its output, or whether it was killed".into()
            }
            io::ErrorKind::InvalidData => error.to_string(),
            _ => format!("its connection has failed: {error}"),
        }
    }

    /// Sends heartbeats until the other end of `stop` is dropped.
    pub(super) fn beat(&self, stop: &Receiver<()>) {
        let pause = BEAT.min(self.timeout / 4);
        while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(pause) {
            for stream in self.to.iter().flatten() {
                // The thread that holds the lock is sending, which also counts as a heartbeat.
                // Waiting for it could delay the heartbeats to the others.
                let stream = match stream.try_lock() {
                    Ok(stream) => stream,
                    Err(TryLockError::Poisoned(stream)) => stream.into_inner(),
                    Err(TryLockError::WouldBlock) => continue,
                };
                let mut stream = stream;
                // The reader thread notices a failure.
                let _sent = Frame::Beat.write(&mut *stream);
            }
        }
    }
}

/// Locks the mutex even after another thread has panicked. A stream has no state that can be
/// inconsistent except what was sent, the state changes in one step, and a panic ends the job.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
