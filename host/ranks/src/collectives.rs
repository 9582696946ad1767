//! Collective operations, which all ranks call at the same time.

use super::frame::Frame;
use super::{Ranks, RanksError};
use std::ops::Range;

/// The most bytes that one rank contributes to an [`all_gather`](Ranks::all_gather), or to one
/// round of an [`exchange`](Ranks::exchange). The limit keeps a rank from filling another rank's
/// memory.
pub const MOST_BYTES: usize = 1 << 20;

impl Ranks {
    /// Returns the bytes of all ranks, in rank order. Lengths may differ, up to [`MOST_BYTES`] per
    /// rank. Uses the transport that was [chosen](Self::choose), or TCP.
    ///
    /// # Errors
    /// If a rank was lost or has failed, if NCCL fails, and with [`RanksError::TooMuch`] above
    /// [`MOST_BYTES`].
    pub fn all_gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        #[cfg(feature = "cuda")]
        if self.nccl.is_some() {
            self.refuse_too_much(own.len())?;
            let lens = self.numbers_of_all(own.len())?;
            if let Some(rank) = lens.iter().position(|&len| len > MOST_BYTES) {
                let (rank, bytes) = (rank as u32, lens[rank]);
                return Err(RanksError::TooMuch { rank, bytes, most: MOST_BYTES });
            }
            if let Some(nccl) = &mut self.nccl {
                return nccl.all_gather(own, &lens, &mut self.link);
            }
        }
        self.tell_all(own)
    }

    /// Returns the bytes of all ranks, in rank order. Always uses TCP.
    ///
    /// # Errors
    /// If a rank was lost or has failed, and with [`RanksError::TooMuch`] above [`MOST_BYTES`].
    pub fn tell_all(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        self.refuse_too_much(own.len())?;
        let own = own.to_vec();
        if self.rank() > 0 {
            self.link.send(0, &Frame::Gather(vec![own]))?;
            return self.receive_gathered(0, self.size() as usize);
        }
        let mut all = vec![own];
        for rank in 1..self.size() {
            all.extend(self.receive_gathered(rank, 1)?);
        }
        let all = Frame::Gather(all);
        for rank in 1..self.size() {
            self.link.send(rank, &all)?;
        }
        match all {
            Frame::Gather(all) => Ok(all),
            _ => unreachable!("it was made as this"),
        }
    }

    fn receive_gathered(&mut self, rank: u32, count: usize) -> Result<Vec<Vec<u8>>, RanksError> {
        match self.link.next(rank)? {
            Frame::Gather(parts) if parts.len() == count => Ok(parts),
            other => Err(out_of_step(rank, &other, "bytes for all")),
        }
    }

    /// Sends `to[r]` to each rank `r`, and returns what each rank sent to this one, in rank order.
    /// Goes over TCP through rank 0, in rounds of [`MOST_BYTES`].
    ///
    /// `most` limits the bytes that this rank receives in total.
    ///
    /// # Errors
    /// If a rank was lost or has failed, and with [`RanksError::TooMuch`] as soon as more than
    /// `most` bytes have arrived.
    ///
    /// # Panics
    /// If the length of `to` is not the number of ranks.
    pub fn exchange(&mut self, to: Vec<Vec<u8>>, most: usize) -> Result<Vec<Vec<u8>>, RanksError> {
        assert_eq!(to.len(), self.size() as usize, "bytes for each rank");
        let totals = self.numbers_of_all(to.iter().map(Vec::len).sum())?;
        let end = totals.iter().copied().max().unwrap_or(0);
        let mut from = vec![Vec::new(); to.len()];
        let mut bytes = 0usize;
        for start in (0..end).step_by(MOST_BYTES) {
            let turn = start..start.saturating_add(MOST_BYTES);
            let came = self.exchange_in_a_turn(cut(&to, &turn), &turn, &totals)?;
            for ((rank, from), part) in (0..).zip(&mut from).zip(came) {
                bytes += part.len();
                if bytes > most {
                    return Err(RanksError::TooMuch { rank, bytes, most });
                }
                from.extend(part);
            }
        }
        Ok(from)
    }

    /// Exchanges the byte range `turn`, where the ranks send `totals` bytes each.
    fn exchange_in_a_turn(
        &mut self,
        to: Vec<Vec<u8>>,
        turn: &Range<usize>,
        totals: &[usize],
    ) -> Result<Vec<Vec<u8>>, RanksError> {
        if self.rank() > 0 {
            self.link.send(0, &Frame::Exchange(to))?;
            return self.receive_exchanged(0);
        }
        let mut from = vec![to];
        for rank in 1..self.size() {
            let parts = self.receive_exchanged(rank)?;
            let bytes = parts.iter().map(Vec::len).sum::<usize>();
            let due = turn.end.min(totals[rank as usize]).saturating_sub(turn.start);
            if bytes != due {
                let sent = format!("{bytes} bytes of {} for each", totals[rank as usize]);
                return Err(RanksError::OutOfStep {
                    rank,
                    sent,
                    expected: "the next of its bytes",
                });
            }
            from.push(parts);
        }
        let mut to_each: Vec<Vec<Vec<u8>>> = vec![Vec::new(); self.size() as usize];
        for parts in from {
            to_each.iter_mut().zip(parts).for_each(|(to, part)| to.push(part));
        }
        let mut to_each = to_each.into_iter();
        let own = to_each.next().unwrap_or_default();
        for (rank, parts) in (1..).zip(to_each) {
            self.link.send(rank, &Frame::Exchange(parts))?;
        }
        Ok(own)
    }

    fn receive_exchanged(&mut self, rank: u32) -> Result<Vec<Vec<u8>>, RanksError> {
        match self.link.next(rank)? {
            Frame::Exchange(parts) if parts.len() == self.size() as usize => Ok(parts),
            other => Err(out_of_step(rank, &other, "bytes for each")),
        }
    }

    /// Gathers one number from each rank, such as a length.
    fn numbers_of_all(&mut self, own: usize) -> Result<Vec<usize>, RanksError> {
        let all = self.tell_all(&(own as u64).to_le_bytes())?;
        let number = |(rank, bytes): (u32, Vec<u8>)| match bytes.try_into() {
            Ok(bytes) => Ok(usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)),
            Err(bytes) => {
                let sent = format!("{} bytes", bytes.len());
                Err(RanksError::OutOfStep { rank, sent, expected: "a number" })
            }
        };
        (0..).zip(all).map(number).collect()
    }

    fn refuse_too_much(&self, bytes: usize) -> Result<(), RanksError> {
        if bytes <= MOST_BYTES {
            return Ok(());
        }
        Err(RanksError::TooMuch { rank: self.rank(), bytes, most: MOST_BYTES })
    }
}

/// Returns each rank's share of the range `places` of the concatenated bytes of all ranks.
fn cut(all: &[Vec<u8>], places: &Range<usize>) -> Vec<Vec<u8>> {
    let mut start = 0;
    all.iter()
        .map(|bytes| {
            let at = |place: usize| place.saturating_sub(start).min(bytes.len());
            let share = bytes[at(places.start)..at(places.end)].to_vec();
            start += bytes.len();
            share
        })
        .collect()
}

fn out_of_step(rank: u32, other: &Frame, expected: &'static str) -> RanksError {
    RanksError::OutOfStep { rank, sent: other.name().into(), expected }
}
