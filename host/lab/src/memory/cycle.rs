//! Random cycles over lines.

/// A cycle that visits each of a number of lines once, in random order, and then repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The successor of each line.
    next: Vec<u32>,
}

impl Cycle {
    /// A cycle over `lines` lines. The same number gives the same cycle.
    ///
    /// By Sattolo's algorithm ("An algorithm to generate a random cyclic permutation", 1986): like
    /// a shuffle, but every element has to move, which leaves a single cycle.
    #[must_use]
    pub fn new(lines: usize) -> Self {
        let mut next: Vec<u32> = (0..lines as u32).collect();
        for i in (1..lines).rev() {
            next.swap(i, random(i as u64) as usize % i);
        }
        Self { next }
    }

    /// Number of lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.next.len()
    }

    /// The successor of each line.
    #[must_use]
    pub fn next(&self) -> &[u32] {
        &self.next
    }

    /// The line that `steps` steps from line `first` lead to.
    ///
    /// # Panics
    /// If `first` is out of range.
    #[must_use]
    pub fn after(&self, first: u32, steps: u32) -> u32 {
        (0..steps).fold(first, |line, _| self.next[line as usize])
    }
}

/// A random number for each `i`: the output function of SplitMix64 (Steele, Lea and Flood, "Fast
/// Splittable Pseudorandom Number Generators", 2014).
fn random(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_visits_every_line_once_before_it_repeats() {
        for lines in [1, 2, 3, 100, 4096] {
            let cycle = Cycle::new(lines);
            let mut visited = vec![false; lines];
            let mut line = 0;
            for _ in 0..lines {
                assert!(!visited[line as usize], "{lines} lines: {line} comes twice");
                visited[line as usize] = true;
                line = cycle.after(line, 1);
            }
            assert_eq!(line, 0, "{lines} lines");
            assert_eq!(cycle.after(0, lines as u32), 0);
        }
    }

    #[test]
    fn a_cycle_is_not_in_line_order() {
        let cycle = Cycle::new(1000);
        let next = |line: u32| cycle.after(line, 1);
        let near = (0..1000).filter(|&line| next(line).abs_diff(line) < 10).count();
        assert!(near < 50, "{near}");
    }
}
