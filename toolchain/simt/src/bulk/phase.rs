//! The word of a barrier in shared memory. It holds the same fields as the hardware's opaque word
//! (PTX ISA, "mbarrier", "Contents of the mbarrier object").

use crate::fault::Phase;

/// The largest count of arrivals, and of pending bytes (positive or negative).
const MOST: u32 = (1 << 20) - 1;

/// Marks the word of a barrier.
const MARK: u64 = 0b10 << 62;

impl Phase {
    /// The first phase of a barrier.
    ///
    /// # Errors
    /// Why there is no barrier with so many arrivals.
    pub fn first(arrivals: u32) -> Result<Self, String> {
        if !(1..=MOST).contains(&arrivals) {
            return Err(format!("a barrier needs 1 to {MOST} arrivals a phase, not {arrivals}"));
        }
        Ok(Self { parity: 0, arrivals, pending: arrivals, bytes: 0 })
    }

    /// Decodes the word of a barrier: from the highest bit down, 2 bits that mark it, the parity,
    /// 21 bits for the bytes, offset by `1 - 2^20`, and 20 bits each for the pending and for all
    /// arrivals.
    ///
    /// # Errors
    /// That it is not one.
    pub fn of_word(word: u64) -> Result<Self, String> {
        if word & 0b11 << 62 != MARK {
            return Err(format!(
                "{word:#x} is not a barrier: call `mbarrier::init` first, and do not write to it otherwise"
            ));
        }
        let field = |from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as u32;
        Ok(Self {
            parity: field(61, 1),
            arrivals: field(0, 20),
            pending: field(20, 20),
            bytes: i64::from(field(40, 21)) - i64::from(MOST),
        })
    }

    /// The reverse of [`Phase::of_word`].
    #[must_use]
    pub fn word(self) -> u64 {
        let bytes = (self.bytes + i64::from(MOST)) as u64;
        let (parity, pending) = (u64::from(self.parity), u64::from(self.pending));
        MARK | parity << 61 | bytes << 40 | pending << 20 | u64::from(self.arrivals)
    }

    /// Waits for `bytes` more bytes, or fewer if negative.
    ///
    /// # Errors
    /// That it cannot count so many.
    pub fn expect(self, bytes: i64) -> Result<Self, String> {
        let bytes = self.bytes.saturating_add(bytes);
        if bytes.unsigned_abs() > u64::from(MOST) {
            return Err(format!(
                "a phase counts at most {MOST} bytes either way, and would have to wait for {bytes}"
            ));
        }
        Ok(Self { bytes, ..self })
    }

    /// So many arrivals.
    ///
    /// # Errors
    /// That the phase does not wait for so many.
    pub fn arrive(self, count: u32) -> Result<Self, String> {
        let Self { arrivals, pending, bytes, .. } = self;
        match pending.checked_sub(count) {
            Some(pending) => Ok(Self { pending, ..self }),
            None if pending == 0 => Err(format!(
                "all {arrivals} arrivals of the phase have come, and it still waits for {bytes} bytes: \
                 wait for its end before the next arrival"
            )),
            None => Err(format!(
                "{count} arrivals, but the phase waits for only {pending} of {arrivals}"
            )),
        }
    }

    /// So many arrivals fewer in each later phase.
    ///
    /// # Errors
    /// That there are not so many.
    pub fn drop_arrivals(self, count: u32) -> Result<Self, String> {
        let fewer = self.arrivals.checked_sub(count);
        let arrivals = fewer.ok_or_else(|| {
            format!("{count} arrivals are dropped, but a phase has only {}", self.arrivals)
        })?;
        Ok(Self { arrivals, ..self })
    }

    /// The next phase if nothing is pending, else the same phase.
    #[must_use]
    pub fn settled(self) -> Self {
        if self.pending > 0 || self.bytes != 0 {
            return self;
        }
        Self { parity: 1 - self.parity, pending: self.arrivals, ..self }
    }

    /// The word of a barrier after `bytes` bytes have been copied: a [`Count`](super::Count).
    ///
    /// # Errors
    /// Those of [`Phase::of_word`] and [`Phase::expect`].
    pub fn after_copy(word: u64, bytes: usize) -> Result<u64, String> {
        Ok(Self::of_word(word)?.expect(-(bytes as i64))?.settled().word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_all_fields() {
        for (parity, arrivals, pending, bytes) in
            [(0, 1, 1, 0), (1, MOST, 7, -5), (1, 9, 0, 1 << 19)]
        {
            let phase = Phase { parity, arrivals, pending, bytes };
            assert_eq!(Phase::of_word(phase.word()), Ok(phase));
        }
        assert!(Phase::of_word(0).is_err() && Phase::first(0).is_err());
    }

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_byte() {
        let phase = Phase::first(2).and_then(|it| it.expect(16)?.arrive(2)).expect("two arrivals");
        assert_eq!(phase.settled(), phase);
        let word = Phase::after_copy(phase.word(), 16).expect("16 bytes");
        assert_eq!(
            Phase::of_word(word),
            Ok(Phase { parity: 1, arrivals: 2, pending: 2, bytes: 0 })
        );
        assert!(phase.arrive(1).is_err() && phase.drop_arrivals(3).is_err());
    }
}
