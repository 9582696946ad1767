//! The side of every rank except rank 0: it connects to rank 0, greets it, and waits for the
//! answer.

use super::{GRACE, Party};
use crate::RanksError;
use crate::frame::{self, Frame, SHORT, VERSION};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

/// How long a rank sleeps after a failed attempt.
const RETRY: Duration = Duration::from_millis(50);

/// How long an address has to answer at first. An address that does not answer, such as that of an
/// interface that is down, must not keep a rank from trying the next one. The limit doubles with
/// each attempt.
const PATIENCE: Duration = Duration::from_millis(250);

/// Connects to rank 0 from another rank, and waits until all ranks have joined.
pub(crate) fn follow(address: &str, port: u16, party: &Party) -> Result<TcpStream, RanksError> {
    let addresses = || Ok((address, port).to_socket_addrs()?.collect());
    let at = || format!("{address}:{port}");
    let mut stream = connect(address, port, &addresses, party)?;
    let closed = |_: io::Error| RanksError::Closed { address: at() };
    stream.set_read_timeout(Some(party.timeout + GRACE)).map_err(closed)?;
    let mut greeting = Vec::new();
    frame::write_preamble(&mut greeting)
        .and_then(|()| party.hello().write(&mut greeting))
        .and_then(|()| stream.write_all(&greeting))
        .map_err(closed)?;
    let no_answer = |cause: io::Error| match cause.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => RanksError::NoAnswer {
            rank: party.rank(),
            size: party.size(),
            address: at(),
            seconds: (party.timeout + GRACE).as_secs_f64(),
            cause: "it took the connection and did not answer".into(),
        },
        io::ErrorKind::InvalidData => RanksError::WrongPeer { address: at() },
        _ => closed(cause),
    };
    let Some(theirs) = frame::read_preamble(&mut stream).map_err(no_answer)? else {
        return Err(RanksError::WrongPeer { address: at() });
    };
    match Frame::read(&mut stream, SHORT).map_err(no_answer)? {
        Frame::Welcome if theirs == VERSION => Ok(stream),
        Frame::Refused { message, is_bad_input } => {
            Err(RanksError::Refused { message, is_bad_input })
        }
        _ => Err(RanksError::WrongPeer { address: at() }),
    }
}

/// Tries to connect to one of `addresses`, to which the name `address` resolves, until one answers
/// or the deadline passes.
pub(crate) fn connect(
    address: &str,
    port: u16,
    addresses: &dyn Fn() -> io::Result<Vec<SocketAddr>>,
    party: &Party,
) -> Result<TcpStream, RanksError> {
    let deadline = Instant::now() + party.timeout;
    let mut patience = PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let cause = match addresses() {
            // A name may resolve only once its machine is up.
            Err(cause) if left.is_zero() => {
                return Err(RanksError::Unresolved { address: address.into(), cause });
            }
            Err(cause) => cause.to_string(),
            Ok(found) => match first_that_answers(&found, patience.min(left).max(RETRY)) {
                Ok(stream) => return Ok(stream),
                Err(causes) => causes,
            },
        };
        if left.is_zero() {
            return Err(RanksError::NoAnswer {
                rank: party.rank(),
                size: party.size(),
                address: format!("{address}:{port}"),
                seconds: party.timeout.as_secs_f64(),
                cause,
            });
        }
        thread::sleep(RETRY.min(left));
        patience = patience.saturating_mul(2);
    }
}

/// Connects to the first address that answers within `patience`, or returns why none did.
fn first_that_answers(addresses: &[SocketAddr], patience: Duration) -> Result<TcpStream, String> {
    let mut causes = Vec::new();
    for address in addresses {
        let cause = match TcpStream::connect_timeout(address, patience) {
            // While no process listens, a connection to an ephemeral port can connect to itself.
            Ok(stream) if stream.local_addr().ok() == Some(*address) => {
                io::ErrorKind::ConnectionRefused.into()
            }
            Ok(stream) => return Ok(stream),
            Err(cause) => cause,
        };
        causes.push(format!("{address}: {cause}"));
    }
    if causes.is_empty() { Err("the name has no address".into()) } else { Err(causes.join(", ")) }
}
