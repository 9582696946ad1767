//! How ranks meet, or fail to.

use super::frame::{self, Frame};
use super::*;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::time::Instant;

/// Makes a rank differ from the others.
type Change = fn(&mut Greeting);

#[test]
fn ranks_that_differ_are_refused_on_all_sides() {
    let cases: [(&str, &str, Change); 5] = [
        ("the call of rank 1 is \"max\", and that of rank 0 is \"sum\"", "same call", |other| {
            other.call = "max".into();
        }),
        ("the number of ranks of rank 1 is 4, and that of rank 0 is 3", "GRIDSYNC_PORT", |other| {
            other.size = 4;
        }),
        ("the version of gridsync of rank 1 is \"9.9.9\"", "same gridsync", |other| {
            other.version = "9.9.9".into();
        }),
        ("the reduction tree of rank 1 is 000000000000004d", "same gridsync", |other| {
            other.tree = 77;
        }),
        (
            "the input of rank 1 is \"8 elements\", and that of rank 0 is \"7 elements\"",
            "same input",
            |other| {
                other.input = "8 elements".into();
            },
        ),
    ];
    for (part, remedy, change) in cases {
        let hasty = Party { timeout: Duration::from_millis(300), ..party(2, 3) };
        let results = meet(vec![party(0, 3), odd(1, 3, change), hasty], |_| Ok(()));
        for (rank, result) in results.iter().enumerate() {
            let said = said(result);
            // Rank 2 may connect after rank 0 has given up.
            let is_too_late = rank == 2 && (said.contains("closed") || said.contains("no answer"));
            let is_right = said.contains(part) && said.contains(remedy);
            assert!(is_right || is_too_late, "{said}");
        }
        let is_bad_input =
            |rank: usize| results[rank].as_ref().is_err_and(RanksError::is_bad_input);
        assert_eq!([is_bad_input(0), is_bad_input(1)], [part.contains("input"); 2]);
    }
}

#[test]
fn a_rank_of_another_job_is_refused_and_the_job_continues() {
    let (listener, port) = listener();
    let leader =
        thread::spawn(move || lead(&listener, &party(0, 2)).map(|mut ranks| ranks.leave()));
    let error = follow(port, &odd(1, 2, |other| other.job = "other\u{1b}[2J".into()));
    let said = said(&error);
    let parts = [
        "the job of rank 1",
        "\"other\\u{1b}[2J\", and that of rank 0 is \"one\"",
        "GRIDSYNC_PORT",
        "GRIDSYNC_JOB",
    ];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    follow(port, &party(1, 2)).expect("rank 0 waits for its own rank").leave();
    leader.join().expect("it does not panic").expect("its own rank has come");
}

#[test]
fn a_rank_of_another_job_is_named_when_the_wait_ends() {
    let soon = Party { timeout: Duration::from_millis(200), ..party(0, 2) };
    let results = meet(vec![soon, odd(1, 2, |other| other.job = "other".into())], |_| Ok(()));
    let said = said(&results[0]);
    assert!(said.contains("rank 1 of 2 did not join") && said.contains("\"other\""), "{said}");
}

#[test]
fn inputs_are_not_compared_if_a_rank_has_none() {
    for result in meet(vec![party(0, 2), odd(1, 2, |other| other.input.clear())], |mut ranks| {
        ranks.leave();
        Ok(())
    }) {
        result.expect("one of them has nothing to compare");
    }
}

#[test]
fn silent_callers_do_not_keep_ranks_out() {
    let (listener, port) = listener();
    let leader =
        thread::spawn(move || lead(&listener, &party(0, 2)).map(|mut ranks| ranks.leave()));
    let at = ("127.0.0.1", port);
    // More than rank 0 reads from at the same time, but never more at once than the system's
    // backlog.
    let mut silent = Vec::new();
    for _ in 0..6 {
        silent.extend((0..50).map(|_| TcpStream::connect(at).expect("it listens")));
        thread::sleep(Duration::from_millis(10));
    }
    let start = Instant::now();
    let mut oldest = &silent[0];
    oldest.set_read_timeout(Some(TIMEOUT)).expect("it is open");
    let closed = oldest.read(&mut [0]);
    assert!(
        matches!(closed, Ok(0)) || closed.is_err_and(|error| error.kind() != ErrorKind::WouldBlock)
    );
    assert!(start.elapsed() < Duration::from_secs(4), "the oldest makes room at once");
    follow(port, &party(1, 2)).expect("rank 0 hears it").leave();
    leader.join().expect("it does not panic").expect("its rank has come");
}

#[test]
fn an_address_that_does_not_answer_does_not_block_others() {
    // With a backlog of one, only the first few connections are answered.
    let (dead, _) = listener();
    // SAFETY: the descriptor belongs to an open, listening socket.
    assert_eq!(unsafe { libc::listen(dead.as_raw_fd(), 0) }, 0);
    let dead_at = dead.local_addr().expect("it listens");
    let brief = Duration::from_millis(20);
    let mut held = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&dead_at, brief) {
        held.push(stream);
    }
    let (good, port) = listener();
    let good_at = good.local_addr().expect("it listens");
    let addresses = || Ok(vec![dead_at, good_at]);
    let start = Instant::now();
    let stream = rendezvous::connect("rank0", port, &addresses, &party(1, 2)).expect("one answers");
    assert_eq!(stream.peer_addr().expect("it is connected"), good_at);
    assert!(start.elapsed() < TIMEOUT / 2, "the first one has only a part of the time");
    drop(good);
    let soon = Party { timeout: Duration::from_millis(10), ..party(1, 2) };
    let error = rendezvous::connect("rank0", port, &addresses, &soon).expect_err("none answers");
    let said = error.to_string();
    assert!(said.contains(&dead_at.to_string()) && said.contains(&good_at.to_string()), "{said}");
}

#[test]
fn ranks_with_the_same_number_are_refused_on_all_sides() {
    let results = meet(vec![party(0, 4), party(1, 4), party(1, 4)], |_| Ok(()));
    for result in &results {
        assert!(said(result).contains("two processes are rank 1 of 4"), "{result:?}");
    }
    for result in meet(vec![party(0, 2), party(0, 2)], |_| Ok(())) {
        assert!(said(&result).contains("two processes are rank 0 of 2"));
    }
}

#[test]
fn missing_ranks_are_named() {
    let soon = |rank| Party { timeout: Duration::from_millis(300), ..party(rank, 5) };
    for result in meet(vec![soon(0), soon(3)], |_| Ok(())) {
        let said = said(&result);
        assert!(said.contains("ranks 1, 2, 4 of 5 did not join within 0.3 s"), "{said}");
    }
}

#[test]
fn an_address_without_a_listener_is_named() {
    let port = listener().1;
    let soon = Party { timeout: Duration::from_millis(200), ..party(1, 2) };
    let said = said(&follow(port, &soon));
    assert!(said.contains(&format!("no answer at 127.0.0.1:{port} within 0.2 s")), "{said}");
}

#[test]
fn an_unresolvable_name_is_named() {
    let soon = Party { timeout: Duration::from_millis(10), ..party(1, 2) };
    let found = rendezvous::follow("no such host", 1, &soon);
    assert!(matches!(found, Err(RanksError::Unresolved { .. })), "{found:?}");
}

#[test]
fn a_port_in_use_names_the_variable_to_change() {
    let (_taken, port) = listener();
    let error = rendezvous::listen("127.0.0.1", port).expect_err("it is in use").to_string();
    assert!(error.contains(&port.to_string()) && error.contains(PORT_VARIABLE), "{error}");
}

#[test]
fn another_program_at_the_address_is_reported() {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it calls");
        stream.write_all(b"SSH-2.0-OpenSSH\r\n").expect("it hears");
        let _heard = stream.read(&mut [0; 64]);
    });
    let found = rendezvous::follow("127.0.0.1", port, &party(1, 2));
    assert!(matches!(found, Err(RanksError::WrongPeer { .. })), "{found:?}");
    other.join().expect("it does not panic");
}

#[test]
fn callers_that_are_not_ranks_are_ignored() {
    let (listener, port) = listener();
    let at = ("127.0.0.1", port);
    let mut scanner = TcpStream::connect(at).expect("it listens");
    scanner.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is taken");
    let _silent = TcpStream::connect(at).expect("it listens");
    drop(TcpStream::connect(at).expect("it listens"));
    let other = thread::spawn(move || follow(port, &party(1, 2)).map(|mut ranks| ranks.leave()));
    lead(&listener, &party(0, 2)).expect("rank 1 comes").leave();
    other.join().expect("it does not panic").expect("rank 0 is there");
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.write_all(b"gridsync\x63\0\0\0").expect("it is taken");
        let _version = frame::read_preamble(&mut stream).expect("it answers");
        Frame::read(&mut stream, frame::SHORT).expect("it answers")
    });
    let error = lead(&listener, &party(0, 2)).map(|_| ()).expect_err("it is another version");
    assert!(error.to_string().contains("version 99"), "{error}");
    let heard = other.join().expect("it does not panic");
    assert_eq!(heard, Frame::Refused { is_bad_input: false, message: error.to_string() });
}
