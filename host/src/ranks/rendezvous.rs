//! How ranks find each other: rank 0 listens, the others connect, and each says who it is.
//!
//! ```text
//! rank r                                   rank 0
//!   magic, version, Hello ───────────────►   checks the version, the size, the job, the number
//!                                            … until all ranks have come, or the deadline
//!   ◄─────────────── magic, version, Welcome   to all; or Refused to all, with the reason
//! ```
//!
//! The connections stay open for the life of the job ([`link`](super::link)).

use super::RanksError;
use super::frame::{self, Frame, SHORT, VERSION};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What a rank says of itself.
#[derive(Clone, Debug)]
pub(super) struct Party {
    pub(super) rank: u32,
    pub(super) size: u32,
    /// What is done, in words: the same for all ranks of a job.
    pub(super) job: String,
    /// How long to wait for the others.
    pub(super) timeout: Duration,
}

/// How long rank 0 sleeps when nobody comes, and another rank when nobody answers.
const PAUSE: Duration = Duration::from_millis(10);
const RETRY: Duration = Duration::from_millis(50);

/// How much longer the others wait for rank 0's answer than rank 0 for them: so that it comes.
const GRACE: Duration = Duration::from_secs(5);

/// Listens at `port`, as rank 0: on the loopback interface alone if `address` is there. Otherwise on
/// all, since a machine's own name is often that of its loopback in its /etc/hosts, which the other
/// machines do not reach.
pub(super) fn listen(address: &str, port: u16) -> Result<TcpListener, RanksError> {
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

/// A connection that has said who it is, or another version's.
enum Caller {
    Rank { stream: TcpStream, rank: u32, size: u32, job: String },
    OtherVersion { stream: TcpStream, theirs: u32 },
}

/// Waits for all other ranks, as rank 0. Returns the connection to each, by its number; to itself
/// there is none.
pub(super) fn lead(
    listener: &TcpListener,
    party: &Party,
) -> Result<Vec<Option<TcpStream>>, RanksError> {
    let mut streams: Vec<Option<TcpStream>> = Vec::new();
    streams.resize_with(party.size as usize, || None);
    let came = wait_for_all(listener, party, &mut streams);
    let answer = match &came {
        Ok(()) => Frame::Welcome,
        Err(error) => Frame::Refused(error.to_string()),
    };
    for stream in streams.iter_mut().flatten() {
        // Who does not get it will be noticed as lost.
        let _sent = answer_to(stream, &answer);
    }
    came.map(|()| streams)
}

fn wait_for_all(
    listener: &TcpListener,
    party: &Party,
    streams: &mut [Option<TcpStream>],
) -> Result<(), RanksError> {
    let deadline = Instant::now() + party.timeout;
    let port = || listener.local_addr().map_or(0, |address| address.port());
    listener
        .set_nonblocking(true)
        .map_err(|cause| RanksError::NotListening { port: port(), cause })?;
    let (sender, callers) = mpsc::channel();
    let mut missing = streams.len() - 1;
    while missing > 0 {
        let call = listener.accept();
        let is_quiet = call.is_err();
        if let Ok((stream, _)) = call {
            let (sender, left) =
                (sender.clone(), deadline.saturating_duration_since(Instant::now()));
            // Each caller has its own thread: one that says nothing keeps nobody else waiting.
            thread::spawn(move || greet(stream, left).map(|caller| sender.send(caller)));
        }
        for caller in callers.try_iter() {
            take_in(caller, party, streams)?;
            missing -= 1;
        }
        if missing > 0 && Instant::now() >= deadline {
            let numbers = (1..party.size).filter(|&rank| streams[rank as usize].is_none());
            let (missing, seconds) = (numbers.collect(), party.timeout.as_secs_f64());
            return Err(RanksError::Missing { missing, size: party.size, seconds });
        }
        if is_quiet {
            thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// Hears who calls. A caller that is not gridsync, such as a scanner of ports, is none.
fn greet(mut stream: TcpStream, left: Duration) -> Option<Caller> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(left.max(PAUSE))).ok()?;
    let theirs = frame::read_preamble(&mut stream).ok()??;
    if theirs != VERSION {
        return Some(Caller::OtherVersion { stream, theirs });
    }
    match Frame::read(&mut stream, SHORT).ok()? {
        Frame::Hello { rank, size, job } => Some(Caller::Rank { stream, rank, size, job }),
        _ => None,
    }
}

/// Keeps the caller's connection, or refuses it. Then the whole job ends, since its call is wrong.
fn take_in(
    caller: Caller,
    party: &Party,
    streams: &mut [Option<TcpStream>],
) -> Result<(), RanksError> {
    let (mut stream, rank, error) = match caller {
        Caller::OtherVersion { stream, theirs } => {
            (stream, 0, Some(RanksError::OtherVersion { theirs, ours: VERSION }))
        }
        Caller::Rank { stream, rank, size, .. } if size != party.size => {
            (stream, rank, Some(RanksError::OtherSize { rank, theirs: size, ours: party.size }))
        }
        Caller::Rank { stream, rank, job, .. } if job != party.job => {
            let ours = party.job.clone();
            (stream, rank, Some(RanksError::OtherJob { rank, theirs: job, ours }))
        }
        Caller::Rank { stream, rank, .. } => {
            let is_free = rank > 0 && streams.get(rank as usize).is_some_and(Option::is_none);
            let taken = RanksError::Taken { rank, size: party.size };
            (stream, rank, (!is_free).then_some(taken))
        }
    };
    match error {
        Some(error) => {
            // Who does not hear it sees the connection close.
            let _sent = answer_to(&mut stream, &Frame::Refused(error.to_string()));
            Err(error)
        }
        None => {
            streams[rank as usize] = Some(stream);
            Ok(())
        }
    }
}

fn answer_to(stream: &mut TcpStream, answer: &Frame) -> io::Result<()> {
    stream.set_write_timeout(Some(GRACE))?;
    frame::write_preamble(stream)?;
    answer.write(stream)
}

/// Connects to rank 0, as another rank, and waits until all are there.
pub(super) fn follow(address: &str, port: u16, party: &Party) -> Result<TcpStream, RanksError> {
    let mut stream = connect(address, port, party)?;
    let at = || format!("{address}:{port}");
    let closed = |_: io::Error| RanksError::Closed { address: at() };
    stream.set_read_timeout(Some(party.timeout + GRACE)).map_err(closed)?;
    frame::write_preamble(&mut stream).map_err(closed)?;
    let Party { rank, size, job, .. } = party.clone();
    Frame::Hello { rank, size, job }.write(&mut stream).map_err(closed)?;
    let nobody = |cause: io::Error| match cause.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => RanksError::Nobody {
            rank,
            size,
            address: at(),
            seconds: (party.timeout + GRACE).as_secs_f64(),
            cause: "it took the connection and did not answer".into(),
        },
        io::ErrorKind::InvalidData => RanksError::WrongPeer { address: at() },
        _ => closed(cause),
    };
    match frame::read_preamble(&mut stream).map_err(nobody)? {
        Some(_) => {}
        None => return Err(RanksError::WrongPeer { address: at() }),
    }
    match Frame::read(&mut stream, SHORT).map_err(nobody)? {
        Frame::Welcome => Ok(stream),
        Frame::Refused(message) => Err(RanksError::Refused { message }),
        _ => Err(RanksError::WrongPeer { address: at() }),
    }
}

/// Tries to connect until somebody answers or the deadline has passed.
fn connect(address: &str, port: u16, party: &Party) -> Result<TcpStream, RanksError> {
    let deadline = Instant::now() + party.timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let error = match (address, port).to_socket_addrs() {
            // A name may become known only when its machine is up.
            Err(cause) if left.is_zero() => {
                return Err(RanksError::Unresolved { address: address.into(), cause });
            }
            Err(cause) => cause,
            Ok(found) => match first_that_answers(found, left.max(RETRY)) {
                Ok(stream) => return Ok(stream),
                Err(cause) => cause,
            },
        };
        if left.is_zero() {
            let seconds = party.timeout.as_secs_f64();
            let (rank, size, address) = (party.rank, party.size, format!("{address}:{port}"));
            return Err(RanksError::Nobody {
                rank,
                size,
                address,
                seconds,
                cause: error.to_string(),
            });
        }
        thread::sleep(RETRY.min(left));
    }
}

fn first_that_answers(
    addresses: impl Iterator<Item = SocketAddr>,
    left: Duration,
) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, left) {
            // While nobody listens, a port that the system also hands out to callers can be
            // connected with itself.
            Ok(stream) if stream.local_addr().ok() == Some(address) => {
                last = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
