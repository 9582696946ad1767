//! The set of runnable warps, searched cyclically in block order.

/// A bit for each warp slot of the launch.
#[derive(Debug)]
pub(crate) struct ReadySet {
    words: Vec<u64>,
    len: usize,
}

impl ReadySet {
    /// All of `len` warps runnable; `len` is at least 1.
    pub(crate) fn full(len: usize) -> Self {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if !len.is_multiple_of(64) {
            words[len / 64] = (1 << (len % 64)) - 1;
        }
        Self { words, len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn insert(&mut self, warp: usize) {
        self.words[warp / 64] |= 1 << (warp % 64);
    }

    pub(crate) fn remove(&mut self, warp: usize) {
        self.words[warp / 64] &= !(1 << (warp % 64));
    }

    pub(crate) fn contains(&self, warp: usize) -> bool {
        self.words[warp / 64] >> (warp % 64) & 1 == 1
    }

    /// The first member after `warp`, wrapping around to `warp` itself. `None`: the first of all.
    pub(crate) fn after(&self, warp: Option<usize>) -> Option<usize> {
        let start = warp.map_or(0, |warp| (warp + 1) % self.len);
        let head = u64::MAX << (start % 64);
        let count = self.words.len();
        // The first word is visited twice: its upper part first, its lower part last.
        (0..=count).find_map(|step| {
            let at = (start / 64 + step) % count;
            let mask = if step == 0 { head } else { u64::MAX };
            let word = self.words[at] & mask;
            (word != 0).then(|| at * 64 + word.trailing_zeros() as usize)
        })
    }

    /// The first member before `warp`, wrapping around to `warp` itself. `None`: the last of all.
    pub(crate) fn before(&self, warp: Option<usize>) -> Option<usize> {
        let start = warp.map_or(self.len - 1, |warp| (warp + self.len - 1) % self.len);
        let head = u64::MAX >> (63 - start % 64);
        let count = self.words.len();
        (0..=count).find_map(|step| {
            let at = (start / 64 + 2 * count - step) % count;
            let mask = if step == 0 { head } else { u64::MAX };
            let word = self.words[at] & mask;
            (word != 0).then(|| at * 64 + 63 - word.leading_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_wraps_around_in_both_directions() {
        for len in [1, 2, 63, 64, 65, 128, 200] {
            let set = ReadySet::full(len);
            for warp in 0..len {
                assert_eq!(set.after(Some(warp)), Some((warp + 1) % len), "{len}");
                assert_eq!(set.before(Some(warp)), Some((warp + len - 1) % len), "{len}");
            }
            assert_eq!(set.after(None), Some(0));
            assert_eq!(set.before(None), Some(len - 1));
        }
    }

    #[test]
    fn a_lone_member_follows_itself_and_an_empty_set_has_none() {
        let mut set = ReadySet::full(130);
        (0..130).for_each(|warp| set.remove(warp));
        assert_eq!((set.after(Some(5)), set.before(None)), (None, None));
        set.insert(70);
        assert!(set.contains(70) && !set.contains(71));
        for warp in [0, 69, 70, 71, 129] {
            assert_eq!(set.after(Some(warp)), Some(70));
            assert_eq!(set.before(Some(warp)), Some(70));
        }
    }
}
