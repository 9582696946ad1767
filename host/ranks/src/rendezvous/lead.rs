//! The side of rank 0: it listens and admits the ranks that match.

use super::{GRACE, Party};
use crate::RanksError;
use crate::frame::{self, Frame, SHORT, VERSION};
use crate::greeting::Greeting;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long rank 0 sleeps when no data arrives.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a caller has to send its greeting.
const GREETING: Duration = Duration::from_secs(5);

/// The most callers that have not yet greeted. If there are more, the oldest is dropped: a rank
/// greets as soon as it is connected.
const MOST_CALLERS: usize = 256;

/// The most callers to accept before reading from those already connected.
const AT_ONCE: usize = 64;

/// Listens on `port` as rank 0: only on the loopback interface if `address` is a loopback address.
/// Otherwise listens on all interfaces, because /etc/hosts often maps a machine's own name to its
/// loopback address, which other machines cannot reach.
pub(crate) fn listen(address: &str, port: u16) -> Result<TcpListener, RanksError> {
    let literal: Option<IpAddr> = match address {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        address => address.parse().ok(),
    };
    let listener = match literal.filter(IpAddr::is_loopback) {
        Some(loopback) => TcpListener::bind((loopback, port)),
        None => {
            TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|error| match error.kind() {
                io::ErrorKind::AddrInUse => Err(error),
                // A machine without IPv6.
                _ => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
            })
        }
    };
    listener.map_err(|cause| match cause.kind() {
        io::ErrorKind::AddrInUse => RanksError::PortInUse { port },
        _ => RanksError::NotListening { port, cause },
    })
}

/// Waits for all other ranks, as rank 0. Returns the connections indexed by rank, with `None` for
/// rank 0 itself.
pub(crate) fn lead(
    listener: &TcpListener,
    party: &Party,
) -> Result<Vec<Option<TcpStream>>, RanksError> {
    let port = || listener.local_addr().map_or(0, |address| address.port());
    listener
        .set_nonblocking(true)
        .map_err(|cause| RanksError::NotListening { port: port(), cause })?;
    let mut meeting = Meeting::new(party);
    let came = meeting.wait(listener);
    let answer = match &came {
        Ok(()) => Frame::Welcome,
        Err(error) => refusal(error),
    };
    for stream in meeting.streams.iter_mut().flatten() {
        // A rank that does not get it will be detected as lost.
        let _sent = answer_to(stream, &answer);
    }
    came.map(|()| meeting.streams)
}

/// A connection whose greeting has not fully arrived.
struct Caller {
    stream: TcpStream,
    deadline: Instant,
    bytes: Vec<u8>,
}

/// Data that a caller has sent so far.
enum Said {
    /// Part of a greeting, or nothing.
    Part,
    Greeting(Greeting),
    OtherVersion(u32),
}

impl Caller {
    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, deadline: Instant::now() + GREETING, bytes: Vec::new() })
    }

    /// Reads the available data. Fails if it cannot be the start of a greeting, such as from a port
    /// scanner.
    fn hear(&mut self) -> io::Result<Said> {
        let mut bytes = [0; 4096];
        let mut is_closed = false;
        while !is_closed && self.bytes.len() as u64 <= SHORT {
            match self.stream.read(&mut bytes) {
                Ok(0) => is_closed = true,
                Ok(count) => self.bytes.extend(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match parse(&self.bytes) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            Err(error) if is_closed || Instant::now() >= self.deadline => Err(error),
            Err(_) => Ok(Said::Part),
            Ok(said) => Ok(said),
        }
    }
}

fn parse(mut bytes: &[u8]) -> io::Result<Said> {
    let no_rank = || io::Error::from(io::ErrorKind::InvalidData);
    let version = frame::read_preamble(&mut bytes)?.ok_or_else(no_rank)?;
    if version != VERSION {
        return Ok(Said::OtherVersion(version));
    }
    match Frame::read(&mut bytes, SHORT)? {
        Frame::Hello(greeting) => Ok(Said::Greeting(greeting)),
        _ => Err(no_rank()),
    }
}

/// The ranks that have joined, and the callers that may be ranks.
struct Meeting<'a> {
    party: &'a Party,
    streams: Vec<Option<TcpStream>>,
    missing: usize,
    callers: VecDeque<Caller>,
    /// Why the last rejected caller was rejected.
    last_refusal: Option<String>,
}

impl<'a> Meeting<'a> {
    fn new(party: &'a Party) -> Self {
        let size = party.size() as usize;
        let mut streams = Vec::new();
        streams.resize_with(size, || None);
        Self { party, streams, missing: size - 1, callers: VecDeque::new(), last_refusal: None }
    }

    fn wait(&mut self, listener: &TcpListener) -> Result<(), RanksError> {
        let deadline = Instant::now() + self.party.timeout;
        while self.missing > 0 {
            let is_quiet = !self.accept(listener);
            self.hear_all()?;
            if self.missing > 0 && Instant::now() >= deadline {
                return Err(self.too_late());
            }
            if is_quiet {
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Accepts some of the waiting connections. Returns whether there were any.
    fn accept(&mut self, listener: &TcpListener) -> bool {
        for count in 0..AT_ONCE {
            match listener.accept().and_then(|(stream, _)| Caller::new(stream)) {
                Ok(caller) => self.callers.push_back(caller),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return count > 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Too many connections for this process: drop the oldest caller.
                    self.last_refusal = Some(format!("it cannot be connected: {error}"));
                    self.callers.pop_front();
                    return false;
                }
            }
            if self.callers.len() > MOST_CALLERS {
                self.callers.pop_front();
            }
        }
        true
    }

    /// Reads from all callers, and admits those that have greeted.
    fn hear_all(&mut self) -> Result<(), RanksError> {
        for _ in 0..self.callers.len() {
            let Some(mut caller) = self.callers.pop_front() else { break };
            match caller.hear() {
                Ok(Said::Part) => self.callers.push_back(caller),
                Ok(Said::Greeting(greeting)) => self.take_in(caller.stream, &greeting)?,
                Ok(Said::OtherVersion(theirs)) => {
                    let error = RanksError::OtherVersion { theirs, ours: VERSION };
                    return Err(refuse(caller.stream, error));
                }
                // Not a rank.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Admits the caller or refuses it. Except for a rank of another job, a refusal ends the whole
    /// job, because it was called wrongly.
    fn take_in(&mut self, stream: TcpStream, greeting: &Greeting) -> Result<(), RanksError> {
        let fits = greeting.fits(&self.party.greeting);
        if greeting.job != self.party.greeting.job {
            let refused = fits.map_err(|error| refuse(stream, error).to_string());
            self.last_refusal = refused.err();
            return Ok(());
        }
        let (rank, size) = (greeting.rank, self.party.size());
        let place = self.streams.get_mut(rank as usize).filter(|_| rank > 0);
        match (fits, place) {
            (Ok(()), Some(place @ None)) => {
                *place = Some(stream);
                self.missing -= 1;
                Ok(())
            }
            (Ok(()), _) => Err(refuse(stream, RanksError::Taken { rank, size })),
            (Err(error), _) => Err(refuse(stream, error)),
        }
    }

    fn too_late(&mut self) -> RanksError {
        let size = self.party.size();
        let missing = (1..size).filter(|&rank| self.streams[rank as usize].is_none()).collect();
        let seconds = self.party.timeout.as_secs_f64();
        RanksError::Missing { missing, size, seconds, last_refusal: self.last_refusal.take() }
    }
}

/// Sends a caller the reason for its refusal, and returns it.
fn refuse(mut stream: TcpStream, error: RanksError) -> RanksError {
    // A caller that does not receive it sees the connection close.
    let _sent = answer_to(&mut stream, &refusal(&error));
    error
}

fn refusal(error: &RanksError) -> Frame {
    Frame::Refused { is_bad_input: error.is_bad_input(), message: error.to_string() }
}

fn answer_to(stream: &mut TcpStream, answer: &Frame) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(GRACE))?;
    frame::write_preamble(stream)?;
    answer.write(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_caller_that_has_not_greeted_by_its_deadline_is_dropped() {
        let listener = listen("127.0.0.1", 0).expect("there are free ports");
        let address = listener.local_addr().expect("it listens");
        let mut stream = TcpStream::connect(address).expect("it listens");
        let (caller, _) = listener.accept().expect("it has called");
        let mut caller = Caller::new(caller).expect("it is open");
        frame::write_preamble(&mut stream).expect("it is taken");
        stream.write_all(&[0]).expect("it is taken");
        assert!(matches!(caller.hear(), Ok(Said::Part)), "the rest may still come");
        let left = caller.deadline.saturating_duration_since(Instant::now());
        assert!(left <= GREETING, "{left:?}");
        caller.deadline = Instant::now();
        assert!(caller.hear().is_err(), "it has had its time");
    }
}
