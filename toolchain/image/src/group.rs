//! Groups: a table of lines, and each kernel as numbers of these lines.

use std::collections::{HashMap, HashSet};

/// About the size of an unpacked group. Each group has its own table, so smaller groups make the
/// file larger. With larger groups, one kernel takes longer to unpack.
const GROUP_BYTES: usize = 192 << 10;

/// The most distinct lines of a group, because their numbers have 16 bits.
pub(crate) const MOST_LINES: usize = 1 << 16;

/// A group under construction.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    /// The number of each line.
    numbers: HashMap<&'a str, u16>,
    /// The lines in the order of their numbers, each with a line feed.
    table: String,
    sequence: Vec<u16>,
}

impl<'a> Builder<'a> {
    /// Whether the group has room for one more kernel. An empty group always has.
    pub(crate) fn has_room(&self, kernel: &'a str) -> bool {
        let new = kernel.lines().filter(|line| !self.numbers.contains_key(line));
        let new: HashSet<_> = new.collect();
        let table = new.iter().map(|line| line.len() + 1).sum::<usize>() + self.table.len();
        let bytes = table + 2 * (self.sequence.len() + kernel.lines().count());
        self.sequence.is_empty()
            || (bytes <= GROUP_BYTES && self.numbers.len() + new.len() <= MOST_LINES)
    }

    /// Adds a kernel of at most [`MOST_LINES`] distinct lines. Returns where its line numbers
    /// begin, and how many it has.
    pub(crate) fn add(&mut self, kernel: &'a str) -> (usize, usize) {
        let first = self.sequence.len();
        for line in kernel.lines() {
            let next = self.numbers.len();
            let number = *self.numbers.entry(line).or_insert_with(|| {
                self.table.push_str(line);
                self.table.push('\n');
                u16::try_from(next).expect("there is room for the lines of the kernel")
            });
            self.sequence.push(number);
        }
        (first, self.sequence.len() - first)
    }

    /// The group as bytes, for a frame.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.table.len()).expect("a group is no longer than a frame");
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(self.table.as_bytes());
        bytes.extend(self.sequence.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }
}

/// The lines `first..first + count` in the bytes of a group, or what is wrong.
pub(crate) fn lines(bytes: &[u8], first: usize, count: usize) -> Result<Vec<&str>, String> {
    let (length, rest) =
        bytes.split_first_chunk().ok_or_else(|| format!("a group of {} bytes", bytes.len()))?;
    let length = u32::from_le_bytes(*length) as usize;
    let (table, sequence) = rest
        .split_at_checked(length)
        .ok_or_else(|| format!("a table of {length} bytes in a group of {}", bytes.len()))?;
    let table = str::from_utf8(table).map_err(|error| error.to_string())?;
    let table: Vec<&str> = table.lines().collect();
    let (numbers, _) = sequence.as_chunks::<2>();
    let of_kernel = first
        .checked_add(count)
        .and_then(|end| numbers.get(first..end))
        .ok_or_else(|| format!("{count} lines from {first} on, of {}", numbers.len()))?;
    let line = |number: &[u8; 2]| {
        let number = usize::from(u16::from_le_bytes(*number));
        let line = table.get(number).copied();
        line.ok_or_else(|| format!("line {number} of a table of {}", table.len()))
    };
    of_kernel.iter().map(line).collect()
}
