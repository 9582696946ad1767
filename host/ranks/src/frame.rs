//! The frames that ranks exchange: a kind, a length and bytes.

use super::greeting::Greeting;
use std::io::{self, Read, Write};

/// The first bytes of every connection, in both directions.
const MAGIC: [u8; 8] = *b"gridsync";

/// The version of this protocol. Ranks with different versions refuse each other.
pub(super) const VERSION: u32 = 2;

/// The most bytes of a frame without parts, such as a greeting.
pub(super) const SHORT: u64 = 1 << 16;

/// The most bytes of a message in a frame. Longer messages are truncated.
const MOST_TEXT: usize = 1 << 14;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The first frame of a rank: its identity and its task.
    Hello(Greeting),
    /// From rank 0: all ranks have joined.
    Welcome,
    /// From rank 0: the ranks failed to meet, and why.
    Refused { is_bad_input: bool, message: String },
    /// A heartbeat.
    Beat,
    /// Bytes for all ranks; from rank 0, the bytes of all ranks.
    Gather(Vec<Vec<u8>>),
    /// Bytes for each rank; from rank 0, the bytes from each rank.
    Exchange(Vec<Vec<u8>>),
    /// The sender failed, and why.
    Failed(String),
    /// From rank 0: another rank failed, and why.
    OtherFailed { rank: u32, message: String },
    /// From rank 0: another rank was lost, and how.
    OtherLost { rank: u32, how: String },
    /// The sender is done.
    Bye,
}

impl Frame {
    /// The name of its kind, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "a greeting",
            Self::Welcome => "a welcome",
            Self::Refused { .. } => "a refusal",
            Self::Beat => "a heartbeat",
            Self::Gather(_) => "bytes for all",
            Self::Exchange(_) => "bytes for each",
            Self::Failed(_) => "its failure",
            Self::OtherFailed { .. } => "the failure of another",
            Self::OtherLost { .. } => "the loss of another",
            Self::Bye => "its goodbye",
        }
    }

    /// Writes the whole frame.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let (kind, body) = match self {
            Self::Hello(greeting) => (0, greeting.to_bytes()),
            Self::Welcome => (1, Vec::new()),
            Self::Refused { is_bad_input: false, message } => (2, short(message).into()),
            Self::Refused { is_bad_input: true, message } => (10, short(message).into()),
            Self::Beat => (3, Vec::new()),
            Self::Gather(parts) => (4, joined(parts)),
            Self::Exchange(parts) => (5, joined(parts)),
            Self::Failed(message) => (6, short(message).into()),
            Self::OtherFailed { rank, message } => {
                (7, [&rank.to_le_bytes()[..], short(message)].concat())
            }
            Self::OtherLost { rank, how } => (8, [&rank.to_le_bytes()[..], short(how)].concat()),
            Self::Bye => (9, Vec::new()),
        };
        let mut bytes = Vec::with_capacity(9 + body.len());
        bytes.push(kind);
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        to.write_all(&bytes)
    }

    /// Reads the next frame. A frame with parts may have up to `most` bytes, any other frame up to
    /// [`SHORT`]. Texts are made [printable].
    pub(super) fn read(from: &mut dyn Read, most: u64) -> io::Result<Self> {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let len = u64::from_le_bytes(take(from)?);
        let most = if matches!(kind, [4 | 5]) { most } else { SHORT };
        if len > most {
            let message = format!("it sent a frame of {len} bytes, and at most {most} are allowed");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        // The buffer grows as bytes arrive, so a corrupt length does not allocate memory.
        let mut body = Vec::new();
        if from.take(len).read_to_end(&mut body)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let body = &mut &body[..];
        Ok(match kind {
            [0] => Self::Hello(Greeting::from_bytes(body)?),
            [1] => Self::Welcome,
            [2] => Self::Refused { is_bad_input: false, message: text(body) },
            [10] => Self::Refused { is_bad_input: true, message: text(body) },
            [3] => Self::Beat,
            [4] => Self::Gather(parts(body)?),
            [5] => Self::Exchange(parts(body)?),
            [6] => Self::Failed(text(body)),
            [7] => Self::OtherFailed { rank: u32::from_le_bytes(take(body)?), message: text(body) },
            [8] => Self::OtherLost { rank: u32::from_le_bytes(take(body)?), how: text(body) },
            [9] => Self::Bye,
            _ => return Err(damaged()),
        })
    }
}

/// Writes the preamble of a connection.
pub(super) fn write_preamble(to: &mut dyn Write) -> io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads the preamble of a connection and returns the peer's version, or `None` if the peer is not
/// gridsync.
pub(super) fn read_preamble(from: &mut dyn Read) -> io::Result<Option<u32>> {
    let magic: [u8; 8] = take(from)?;
    if magic != MAGIC {
        return Ok(None);
    }
    Ok(Some(u32::from_le_bytes(take(from)?)))
}

/// Concatenates the parts, each preceded by its length.
pub(super) fn joined(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| 8 + part.len()).sum());
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part);
    }
    all
}

/// Splits what [`joined`] returns into its parts.
pub(super) fn parts(body: &mut &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    while !body.is_empty() {
        let len = usize::try_from(u64::from_le_bytes(take(body)?)).unwrap_or(usize::MAX);
        let (part, rest) = body.split_at_checked(len).ok_or_else(damaged)?;
        all.push(part.to_vec());
        *body = rest;
    }
    Ok(all)
}

pub(super) fn take<const N: usize>(from: &mut dyn Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn text(body: &[u8]) -> String {
    printable(&String::from_utf8_lossy(body))
}

/// Truncates a message to the space in a frame.
fn short(message: &str) -> &[u8] {
    &message.as_bytes()[..message.floor_char_boundary(MOST_TEXT)]
}

/// Makes a text of another process safe to print: escapes all characters that are not printable,
/// such as the start of an escape sequence.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it sent data that is not from gridsync")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting() -> Greeting {
        Greeting {
            rank: 3,
            size: 4,
            tree: 5,
            job: "SLURM_JOB_ID=71".into(),
            version: "1.2.3".into(),
            call: "sum".into(),
            input: String::new(),
        }
    }

    #[test]
    fn frames_survive_a_round_trip() {
        let parts = vec![vec![1, 2, 3], vec![], vec![255; 1000]];
        let frames = [
            Frame::Hello(greeting()),
            Frame::Welcome,
            Frame::Refused { is_bad_input: false, message: "no".into() },
            Frame::Refused { is_bad_input: true, message: "no".into() },
            Frame::Beat,
            Frame::Gather(parts.clone()),
            Frame::Gather(vec![vec![]]),
            Frame::Exchange(parts),
            Frame::Failed("x.npy: no such file".into()),
            Frame::OtherFailed { rank: 2, message: "µ".into() },
            Frame::OtherLost { rank: 2, how: String::new() },
            Frame::Bye,
        ];
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut bytes).expect("memory takes all"));
        let mut from = &bytes[..];
        for frame in &frames {
            assert_eq!(Frame::read(&mut from, u64::MAX).expect("it is there"), *frame);
        }
        assert!(from.is_empty());
    }

    #[test]
    fn damaged_and_short_frames_are_errors() {
        let mut whole = Vec::new();
        Frame::Gather(vec![vec![7; 9]]).write(&mut whole).expect("memory takes all");
        for len in 0..whole.len() {
            let error = Frame::read(&mut &whole[..len], u64::MAX).expect_err("it is cut short");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{len} bytes");
        }
        assert!(Frame::read(&mut &whole[..], 5).is_err(), "longer than allowed");
        for (at, value) in [(0, 99), (8, 255), (9, 200)] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            assert!(Frame::read(&mut &damaged[..], u64::MAX).is_err(), "byte {at}");
        }
    }

    #[test]
    fn long_texts_are_truncated_in_frames() {
        let mut bytes = Vec::new();
        let message = "µ".repeat(1 << 20);
        Frame::Failed(message.clone()).write(&mut bytes).expect("memory takes all");
        let Ok(Frame::Failed(read)) = Frame::read(&mut &bytes[..], 0) else { panic!("it is cut") };
        assert!(message.starts_with(&read) && read.len() == MOST_TEXT, "{} bytes", read.len());
        bytes[..9].copy_from_slice(&[6, 1, 0, 1, 0, 0, 0, 0, 0]);
        let error = Frame::read(&mut &bytes[..], u64::MAX).expect_err("it is too long");
        assert!(error.to_string().contains("65537 bytes, and at most 65536"), "{error}");
    }

    #[test]
    fn control_characters_of_peers_are_escaped() {
        let mut bytes = Vec::new();
        Frame::Failed("\u{1b}[2Jaß \"µ\"\n\u{202e}".into())
            .write(&mut bytes)
            .expect("memory takes all");
        let read = Frame::read(&mut &bytes[..], 0).expect("it is whole");
        assert_eq!(read, Frame::Failed("\\u{1b}[2Jaß \"µ\"\\n\\u{202e}".into()));
    }
}
