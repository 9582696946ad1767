//! Binary relations between the events of one execution.

use std::cell::Cell;
use std::ops::ControlFlow;

/// Maximum number of events of an execution.
pub(crate) const MOST_EVENTS: usize = 128;

/// A relation. Bit `b` of row `a` says that `a` is related to `b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    rows: Vec<u128>,
}

impl Relation {
    /// The empty relation on `events` events.
    pub(crate) fn empty(events: usize) -> Self {
        Self { rows: vec![0; events] }
    }

    pub(crate) fn add(&mut self, from: usize, to: usize) {
        self.rows[from] |= 1 << to;
    }

    pub(crate) fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from] >> to & 1 == 1
    }

    /// The events after `from`, as bits.
    pub(crate) fn after(&self, from: usize) -> u128 {
        self.rows[from]
    }

    pub(crate) fn unite(&mut self, other: &Self) {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            *row |= more;
        }
    }

    /// Computes the transitive closure.
    pub(crate) fn close(&mut self) {
        for middle in 0..self.rows.len() {
            let after = self.rows[middle];
            if after != 0 {
                for row in &mut self.rows {
                    if *row >> middle & 1 == 1 {
                        *row |= after;
                    }
                }
            }
        }
    }

    /// Adds a pair to a transitive relation, keeping it transitive.
    fn add_closed(&mut self, from: usize, to: usize) {
        let after = self.rows[to] | 1 << to;
        for (event, row) in self.rows.iter_mut().enumerate() {
            if event == from || *row >> from & 1 == 1 {
                *row |= after;
            }
        }
    }

    /// Whether no event of a transitive relation precedes itself.
    pub(crate) fn irreflexive(&self) -> bool {
        self.rows.iter().enumerate().all(|(event, row)| row >> event & 1 == 0)
    }

    /// `self` followed by `next`.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let rows = self.rows.iter().map(|row| bits(*row).fold(0, |all, e| all | next.rows[e]));
        Self { rows: rows.collect() }
    }
}

/// The events in a bit set.
pub(crate) fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros() as usize;
            set &= set - 1;
            bit
        })
    })
}

/// Number of steps left in a search.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    pub(crate) fn new(steps: u64) -> Self {
        Self { left: Cell::new(steps) }
    }

    /// Counts a step, or ends the search.
    pub(crate) fn step(&self) -> ControlFlow<()> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// Calls `visit` once for each minimal strict order that contains `order` and relates all of
/// `pairs`. `order` must be transitive.
pub(crate) fn completions(
    order: &Relation,
    pairs: &[(usize, usize)],
    budget: &Budget,
    visit: &mut dyn FnMut(&Relation) -> ControlFlow<()>,
) -> ControlFlow<()> {
    budget.step()?;
    if !order.irreflexive() {
        return ControlFlow::Continue(());
    }
    let open = pairs.iter().position(|&(a, b)| !order.has(a, b) && !order.has(b, a));
    let Some(open) = open else { return visit(order) };
    let (a, b) = pairs[open];
    for (from, to) in [(a, b), (b, a)] {
        let mut next = order.clone();
        next.add_closed(from, to);
        completions(&next, &pairs[open + 1..], budget, visit)?;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_free_events_have_six_orders() {
        let mut orders = 0;
        let pairs = [(0, 1), (1, 2), (0, 2)];
        let _ = completions(&Relation::empty(3), &pairs, &Budget::new(100), &mut |order| {
            assert!(order.irreflexive());
            orders += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(orders, 6);
    }

    #[test]
    fn closing_follows_chains() {
        let mut relation = Relation::empty(4);
        relation.add(3, 1);
        relation.add(1, 2);
        relation.add(2, 0);
        relation.close();
        assert!(relation.has(3, 0) && relation.irreflexive());
        relation.add(0, 3);
        relation.close();
        assert!(!relation.irreflexive());
    }
}
