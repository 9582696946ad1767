//! The memory that only its thread can access: parameters, results and local variables of the
//! functions that it is calling. Addresses begin at 0.

/// Private memory, a frame for each call.
#[derive(Debug, Default)]
pub(crate) struct Private {
    bytes: Vec<u8>,
    /// Whether each byte was not written in this call.
    undefined: Vec<bool>,
}

impl Private {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Makes the bytes from `old` to `new` a new frame, all undefined.
    pub(super) fn resize(&mut self, old: usize, new: usize) {
        if self.bytes.len() < new {
            self.bytes.resize(new, 0);
            self.undefined.resize(new, true);
        }
        if old < new {
            self.undefined[old..new].fill(true);
        }
    }

    /// Up to eight bytes as a number, and which of them are undefined.
    pub(super) fn read(&self, at: usize, bytes: usize) -> (u64, u8) {
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.bytes[at..at + bytes]);
        let undefined = self.undefined[at..at + bytes].iter().rev();
        let undefined = undefined.fold(0, |all, &byte| all << 1 | u8::from(byte));
        (u64::from_le_bytes(value), undefined)
    }

    /// Writes the lowest bytes of a number. Returns whether one of them changed.
    pub(super) fn write(&mut self, at: usize, bytes: usize, value: u64, undefined: u8) -> bool {
        let value = value.to_le_bytes();
        let places = at..at + bytes;
        let changed = self.bytes[places.clone()] != value[..bytes];
        self.bytes[places.clone()].copy_from_slice(&value[..bytes]);
        for (byte, place) in self.undefined[places].iter_mut().enumerate() {
            *place = undefined >> byte & 1 == 1;
        }
        changed
    }

    /// Writes bytes that the host has defined.
    pub(crate) fn write_all(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.undefined[at..at + bytes.len()].fill(false);
    }

    /// Writes the bytes of another memory from its start, with those that are undefined.
    pub(super) fn write_from(&mut self, other: &Self) {
        let bytes = other.len();
        self.bytes[..bytes].copy_from_slice(&other.bytes);
        self.undefined[..bytes].copy_from_slice(&other.undefined);
    }

    /// Copies bytes, with those that are undefined. Returns whether one of them changed.
    pub(super) fn copy(&mut self, from: usize, to: usize, bytes: usize) -> bool {
        let changed = self.bytes[from..from + bytes] != self.bytes[to..to + bytes];
        self.bytes.copy_within(from..from + bytes, to);
        self.undefined.copy_within(from..from + bytes, to);
        changed
    }
}
