//! The protocols that libraries have declared. Used only for messages, not to judge races.

use std::collections::HashSet;

/// The protocols of a launch.
#[derive(Debug, Default)]
pub(super) struct Protocols {
    names: Vec<&'static str>,
    barriers: Vec<Barrier>,
}

/// A barrier between blocks.
#[derive(Debug)]
struct Barrier {
    name: &'static str,
    /// The address of its first word, which distinguishes barriers with the same name.
    words: u64,
    /// The blocks that take part.
    blocks: HashSet<u32>,
}

impl Protocols {
    /// The number of the protocol `name`, starting at 1. When the numbers are used up, all further
    /// protocols share the last one.
    pub(super) fn number(&mut self, name: &'static str) -> u8 {
        let known = self.names.iter().position(|&known| known == name);
        let at = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(u8::MAX)
    }

    /// The name of a protocol, unless its number is shared.
    pub(super) fn name(&self, number: u8) -> Option<&'static str> {
        let shared = number == u8::MAX && self.names.len() > usize::from(u8::MAX);
        let at = usize::from(number).checked_sub(1)?;
        self.names.get(at).copied().filter(|_| !shared)
    }

    /// A block takes part in a barrier.
    pub(super) fn join(&mut self, name: &'static str, words: u64, block: u32) {
        let same = |barrier: &&mut Barrier| (barrier.name, barrier.words) == (name, words);
        match self.barriers.iter_mut().find(same) {
            Some(barrier) => _ = barrier.blocks.insert(block),
            None => self.barriers.push(Barrier { name, words, blocks: HashSet::from([block]) }),
        }
    }

    /// The name of a barrier that both blocks take part in.
    pub(super) fn barrier_of(&self, a: u32, b: u32) -> Option<&'static str> {
        let both = |barrier: &&Barrier| [a, b].iter().all(|block| barrier.blocks.contains(block));
        self.barriers.iter().find(both).map(|barrier| barrier.name)
    }
}
