//! The connections of a rank for the life of its job, and what it learns by them.
//!
//! Rank 0 is connected to each other rank, and every other rank to rank 0. A thread for each
//! connection reads what comes. Another thread sends a sign of life to all every second, also while
//! the rank computes. So each side learns of a process that dies, because its connection closes, and
//! of a machine that dies, because it falls silent. Rank 0 tells all others who was lost.

use super::RanksError;
use super::frame::Frame;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two signs of life, or less if the timeout is short.
const BEAT: Duration = Duration::from_secs(1);

/// How long a rank that is done, or has failed, waits for the others to hear it.
const FAREWELL: Duration = Duration::from_secs(2);

/// Another rank that has ended too early.
#[derive(Clone, Debug)]
struct Loss {
    rank: u32,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    /// It has said why.
    Failed(String),
    /// This was noticed.
    Lost(String),
}

impl Loss {
    fn error(self, size: u32) -> RanksError {
        let rank = self.rank;
        match self.how {
            How::Failed(message) => RanksError::Failed { rank, size, message },
            How::Lost(how) => RanksError::Lost { rank, size, how },
        }
    }
}

/// The ways to the others, which several threads share.
struct Peers {
    rank: u32,
    size: u32,
    timeout: Duration,
    /// By rank; none to oneself, and to those with whom there is no connection.
    to: Vec<Option<Mutex<TcpStream>>>,
    /// The first loss, of this rank itself if it ends. All later ones follow from it, since whoever
    /// hears of it ends.
    first: Mutex<Option<Loss>>,
    /// What to do at the first loss.
    when_lost: Mutex<Option<Act>>,
}

/// What to do at a loss.
type Act = Box<dyn FnOnce(RanksError) + Send>;

impl Peers {
    /// Sends a frame to `rank`, as a whole.
    fn send(&self, rank: u32, frame: &Frame) -> io::Result<()> {
        match &self.to[rank as usize] {
            Some(stream) => frame.write(&mut *lock(stream)),
            None => Ok(()),
        }
    }

    /// The ranks that there is a connection to.
    fn others(&self) -> impl Iterator<Item = u32> {
        (0..self.size).filter(|&rank| self.to[rank as usize].is_some())
    }

    /// Tells all ranks but the lost one, if this is rank 0, who alone can.
    fn tell(&self, loss: &Loss) {
        let rank = loss.rank;
        let frame = match loss.how.clone() {
            How::Failed(message) => Frame::OtherFailed { rank, message },
            How::Lost(how) => Frame::OtherLost { rank, how },
        };
        let others = self.others().filter(|&other| self.rank == 0 && other != rank);
        for other in others {
            // Who cannot be told is lost too, which the thread that reads from it notices.
            let _sent = self.send(other, &frame);
        }
    }

    /// Reads all that `rank` sends, until the connection closes.
    fn hear(&self, rank: u32, mut from: TcpStream, events: &Sender<(u32, Event)>) {
        let mut is_done = false;
        loop {
            let loss = match Frame::read(&mut from, u64::MAX) {
                Ok(Frame::Beat) => continue,
                Ok(Frame::Failed(message)) => Loss { rank, how: How::Failed(message) },
                Ok(Frame::OtherFailed { rank, message }) => {
                    Loss { rank, how: How::Failed(message) }
                }
                Ok(Frame::OtherLost { rank, how }) => Loss { rank, how: How::Lost(how) },
                Ok(frame) => {
                    is_done |= frame == Frame::Bye;
                    // Nobody hears it any more if this rank is ending.
                    let _sent = events.send((rank, Event::Came(frame)));
                    continue;
                }
                Err(_) if is_done => return,
                Err(error) => Loss { rank, how: How::Lost(self.noticed(&error)) },
            };
            is_done = true;
            if self.is_first(&loss) {
                // The others first: this rank may end as soon as it knows.
                self.tell(&loss);
                let _sent = events.send((rank, Event::Lost(loss)));
                self.act();
            }
        }
    }

    /// Keeps the loss if it is the first, and returns whether it is.
    fn is_first(&self, loss: &Loss) -> bool {
        let mut first = lock(&self.first);
        let is_first = first.is_none();
        first.get_or_insert_with(|| loss.clone());
        is_first
    }

    /// Keeps that this rank ends. The others close their connections because of it: that is no loss to
    /// tell of, and the others would name the wrong rank.
    fn end(&self) {
        let how = How::Lost("it ends".into());
        self.is_first(&Loss { rank: self.rank, how });
    }

    /// Does what is to be done at a loss, if there is one.
    fn act(&self) {
        let Some(loss) = lock(&self.first).clone() else { return };
        let act = lock(&self.when_lost).take();
        if let Some(act) = act {
            act(loss.error(self.size));
        }
    }

    /// How a loss was noticed.
    fn noticed(&self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(
                "nothing has come from it for {} s (--rank-timeout): see whether its machine and the network are up",
                self.timeout.as_secs_f64()
            ),
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => {
                "its connection has closed: see what it says, or whether it was killed".into()
            }
            _ => format!("its connection has failed: {error}"),
        }
    }

    /// Sends signs of life, until the other end of `stop` is dropped.
    fn beat(&self, stop: &Receiver<()>) {
        let pause = BEAT.min(self.timeout / 4);
        while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(pause) {
            for stream in self.to.iter().flatten() {
                // Whoever holds the lock is sending, which is a sign of life too. To wait for it
                // could keep the others from getting theirs.
                let stream = match stream.try_lock() {
                    Ok(stream) => stream,
                    Err(TryLockError::Poisoned(stream)) => stream.into_inner(),
                    Err(TryLockError::WouldBlock) => continue,
                };
                let mut stream = stream;
                // A failure is noticed by the thread that reads.
                let _sent = Frame::Beat.write(&mut *stream);
            }
        }
    }
}

/// What a rank learns of another.
enum Event {
    Came(Frame),
    Lost(Loss),
}

/// The connections of this rank.
pub(super) struct Link {
    peers: Arc<Peers>,
    events: Receiver<(u32, Event)>,
    /// What has come and was not awaited yet, by rank.
    waiting: Vec<VecDeque<Frame>>,
    /// Who has ended as it should, by rank.
    is_done: Vec<bool>,
    /// The first loss.
    lost: Option<Loss>,
    /// Dropped to stop the signs of life.
    stop: Option<Sender<()>>,
}

impl Link {
    /// Takes the connections over, by rank. A rank from which nothing comes for `timeout` is lost.
    ///
    /// # Errors
    /// If the operating system cannot set up a connection.
    pub(super) fn new(
        rank: u32,
        size: u32,
        timeout: Duration,
        streams: Vec<Option<TcpStream>>,
    ) -> io::Result<Self> {
        let (sender, events) = mpsc::channel();
        let mut readers = Vec::new();
        for (other, stream) in (0..size).zip(&streams) {
            let Some(stream) = stream else { continue };
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.set_write_timeout(Some(timeout))?;
            readers.push((other, stream.try_clone()?));
        }
        let to = streams.into_iter().map(|stream| stream.map(Mutex::new)).collect();
        let peers = Arc::new(Peers {
            rank,
            size,
            timeout,
            to,
            first: Mutex::default(),
            when_lost: Mutex::default(),
        });
        for (other, stream) in readers {
            let (peers, sender) = (peers.clone(), sender.clone());
            thread::spawn(move || peers.hear(other, stream, &sender));
        }
        let (stop, stopped) = mpsc::channel();
        let beating = peers.clone();
        thread::spawn(move || beating.beat(&stopped));
        Ok(Self {
            peers,
            events,
            waiting: vec![VecDeque::new(); size as usize],
            is_done: vec![false; size as usize],
            lost: None,
            stop: Some(stop),
        })
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
        // The thread that reads comes to the end of the connection too, and before that to the
        // reason, if one was sent.
        let deadline = Instant::now() + FAREWELL;
        while self.lost.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => self.take(event),
                Err(_) => break,
            }
        }
        self.refuse_lost()?;
        let how = How::Lost(self.peers.noticed(&error));
        Err(Loss { rank, how }.error(self.size()))
    }

    /// The next frame of `rank`, when it comes.
    pub(super) fn next(&mut self, rank: u32) -> Result<Frame, RanksError> {
        loop {
            if let Some(frame) = self.waiting[rank as usize].pop_front() {
                return Ok(frame);
            }
            self.refuse_lost()?;
            if self.is_done[rank as usize] {
                let how = How::Lost("it has ended before the others were done".into());
                return Err(Loss { rank, how }.error(self.size()));
            }
            match self.events.recv() {
                Ok(event) => self.take(event),
                Err(_) => {
                    let how = How::Lost("its connection is gone".into());
                    return Err(Loss { rank, how }.error(self.size()));
                }
            }
        }
    }

    /// An error if a rank is known to be lost. Waits for nothing.
    pub(super) fn check(&mut self) -> Result<(), RanksError> {
        while let Ok(event) = self.events.try_recv() {
            self.take(event);
        }
        self.refuse_lost()
    }

    fn refuse_lost(&self) -> Result<(), RanksError> {
        match self.lost.clone() {
            Some(loss) => Err(loss.error(self.size())),
            None => Ok(()),
        }
    }

    fn take(&mut self, (from, event): (u32, Event)) {
        match event {
            Event::Came(Frame::Bye) => self.is_done[from as usize] = true,
            Event::Came(frame) => self.waiting[from as usize].push_back(frame),
            Event::Lost(loss) => self.lost = self.lost.take().or(Some(loss)),
        }
    }

    /// Tells all others that this rank has failed, and why.
    pub(super) fn fail(&self, message: &str) {
        self.peers.end();
        let rank = self.rank();
        match rank {
            0 => self.peers.tell(&Loss { rank, how: How::Failed(message.into()) }),
            _ => {
                // If rank 0 cannot be told, it sees the connection close.
                let _sent = self.peers.send(0, &Frame::Failed(message.into()));
            }
        }
    }

    /// Closes all connections, as when the process is killed: one after the other, with time for each
    /// rank to do something wrong, and nothing is told.
    #[cfg(test)]
    pub(super) fn cut(&self) {
        self.peers.end();
        for stream in self.peers.to.iter().flatten() {
            lock(stream).shutdown(Shutdown::Both).expect("it is open");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends no more signs of life, as when the machine has stopped.
    #[cfg(test)]
    pub(super) fn fall_silent(&mut self) {
        self.stop = None;
    }

    /// Sets what to do at the first loss, on a thread of its own; at once if there was one.
    pub(super) fn when_lost(&self, act: Act) {
        *lock(&self.peers.when_lost) = Some(act);
        let peers = self.peers.clone();
        if lock(&self.peers.first).is_some() {
            thread::spawn(move || peers.act());
        }
    }

    /// Tells all others that this rank is done.
    pub(super) fn leave(&self) {
        *lock(&self.peers.when_lost) = None;
        for other in self.peers.others() {
            // Who is gone needs no farewell.
            let _sent = self.peers.send(other, &Frame::Bye);
        }
    }
}

impl Drop for Link {
    /// Closes the connections when the others have closed them too, or after two seconds. If a
    /// connection closed with signs of life unread, what was sent by it last could be lost.
    fn drop(&mut self) {
        self.peers.end();
        self.stop = None;
        for stream in self.peers.to.iter().flatten() {
            let _closed = lock(stream).shutdown(Shutdown::Write);
        }
        let deadline = Instant::now() + FAREWELL;
        let left = || deadline.saturating_duration_since(Instant::now());
        // The last thread that reads drops the last sender.
        while self.events.recv_timeout(left()).is_ok() {}
        for stream in self.peers.to.iter().flatten() {
            let _closed = lock(stream).shutdown(Shutdown::Both);
        }
    }
}

/// Locks, also after another thread has panicked: a stream has no state that could be half done but
/// what was sent, and whoever panics ends the job.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
