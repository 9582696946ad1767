//! Ranks that send data that gridsync never sends.

use super::frame::{self, Frame};
use super::*;
use std::io::{Read, Write};

/// A connection that was welcomed as this rank, and can then send anything.
fn welcomed(port: u16, party: &Party) -> TcpStream {
    rendezvous::follow("127.0.0.1", port, party).expect("rank 0 takes it in")
}

/// Makes rank 1 of two send these bytes after it was welcomed. Returns rank 0's error.
fn after(bytes: Vec<u8>) -> String {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let mut stream = welcomed(port, &party(1, 2));
        stream.write_all(&bytes).expect("it is taken");
        // Until rank 0 closes the connection.
        let _heard = stream.read_to_end(&mut Vec::new());
    });
    let mut ranks = lead(&listener, &party(0, 2)).expect("rank 1 comes");
    let mut found = Ok(Vec::new());
    for _ in 0..2 {
        found = found.and_then(|_| {
            // All of it should have arrived by then.
            thread::sleep(Duration::from_millis(20));
            ranks.link.next(1).map(|_| Vec::new())
        });
    }
    let found: Result<Vec<u8>, _> = found;
    drop(ranks);
    other.join().expect("it does not panic");
    said(&found)
}

fn bytes_of(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| frame.write(&mut bytes).expect("memory takes all"));
    bytes
}

#[test]
fn a_frame_longer_than_allowed_is_refused_by_its_length() {
    for (kind, most) in [(4u8, MOST_BYTES + 16), (5, MOST_BYTES + 16), (6, 1 << 16), (0, 1 << 16)] {
        let mut bytes = vec![kind];
        bytes.extend(1_500_000_000u64.to_le_bytes());
        let said = after(bytes);
        let expected = format!("a frame of 1500000000 bytes, and at most {most} are allowed");
        assert!(said.contains("rank 1 of 2 is lost") && said.contains(&expected), "{said}");
    }
}

#[test]
fn a_second_frame_before_the_answer_to_the_first_is_refused() {
    let gather = Frame::Gather(vec![vec![7]]);
    let said = after(bytes_of(&[gather.clone(), gather.clone(), gather]));
    assert!(said.contains("rank 1 of 2 is lost: it sent more before it got an answer"), "{said}");
}

#[test]
fn rendezvous_frames_are_refused_after_the_rendezvous() {
    let said = after(bytes_of(&[Frame::Welcome]));
    assert!(said.contains("rank 1 of 2 is lost: it sent a welcome"), "{said}");
}

#[test]
fn a_rank_may_not_declare_another_one_lost() {
    let (listener, port) = listener();
    let good = thread::spawn(move || {
        let mut ranks = follow(port, &party(2, 3))?;
        ranks.tell_all(b"bytes")
    });
    let bad = thread::spawn(move || {
        let mut stream = welcomed(port, &party(1, 3));
        let lost = Frame::OtherLost { rank: 2, how: "I say so".into() };
        lost.write(&mut stream).expect("it is taken");
        let _heard = stream.read_to_end(&mut Vec::new());
    });
    let mut ranks = lead(&listener, &party(0, 3)).expect("both come");
    let found = ranks.tell_all(b"bytes");
    drop(ranks);
    for result in [found, good.join().expect("it does not panic")] {
        let said = said(&result);
        assert!(said.contains("rank 1 of 3 is lost: it sent the loss of another"), "{said}");
    }
    bad.join().expect("it does not panic");
}

#[test]
fn rank_0_may_declare_only_other_existing_ranks_lost() {
    for rank in [1, 2, u32::MAX] {
        let (listener, port) = listener();
        let leader = thread::spawn(move || {
            let streams = rendezvous::lead(&listener, &party(0, 2)).expect("rank 1 comes");
            let mut stream = streams[1].as_ref().expect("it has come");
            let failed = Frame::OtherFailed { rank, message: "I say so".into() };
            failed.write(&mut stream).expect("it is taken");
            let _heard = stream.read_to_end(&mut Vec::new());
        });
        let mut ranks = follow(port, &party(1, 2)).expect("rank 0 is there");
        let said = said(&ranks.tell_all(b"bytes"));
        assert!(said.contains("rank 0 of 2 is lost: it sent the failure of another"), "{said}");
        drop(ranks);
        leader.join().expect("it does not panic");
    }
}

#[test]
fn escape_sequences_of_a_rank_are_not_printed() {
    let said = after(bytes_of(&[Frame::Failed("\u{1b}]0;owned\u{7}".into())]));
    assert_eq!(said, "rank 1 of 2 failed: \\u{1b}]0;owned\\u{7}");
}

#[test]
fn a_greeting_sent_byte_by_byte_is_accepted() {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let mut greeting = Vec::new();
        frame::write_preamble(&mut greeting).expect("memory takes all");
        Frame::Hello(party(1, 2).greeting).write(&mut greeting).expect("memory takes all");
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_nodelay(true).expect("it is open");
        for byte in greeting {
            stream.write_all(&[byte]).expect("it is taken");
        }
        let _version = frame::read_preamble(&mut stream).expect("it answers");
        Frame::read(&mut stream, 0).expect("it answers")
    });
    drop(lead(&listener, &party(0, 2)).expect("rank 1 comes"));
    assert_eq!(other.join().expect("it does not panic"), Frame::Welcome);
}
