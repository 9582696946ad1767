//! Reachability between the vertices of a graph.

/// For each vertex a bit set of the vertices that lead to it. Uses n² / 8 bytes for n vertices.
#[derive(Debug)]
pub(super) struct Closure {
    words: usize,
    bits: Vec<u64>,
}

impl Closure {
    /// The closure of edges `before → vertex`. `order` lists each vertex after those that lead to
    /// it.
    pub(super) fn new(order: &[usize], before: &[Vec<usize>]) -> Self {
        let words = before.len().div_ceil(64);
        let mut closure = Self { words, bits: vec![0; words * before.len()] };
        let mut row = vec![0; words];
        for &vertex in order {
            row.fill(0);
            for &from in &before[vertex] {
                row[from / 64] |= 1 << (from % 64);
                let lead_there = &closure.bits[from * words..(from + 1) * words];
                row.iter_mut().zip(lead_there).for_each(|(all, more)| *all |= more);
            }
            closure.bits[vertex * words..(vertex + 1) * words].copy_from_slice(&row);
        }
        closure
    }

    /// Whether a path leads from one vertex to another.
    pub(super) fn leads(&self, from: usize, to: usize) -> bool {
        self.bits[to * self.words + from / 64] >> (from % 64) & 1 == 1
    }
}

/// All vertices in topological order.
///
/// # Errors
/// A cycle, if one exists: each vertex waits for the next, and the last for the first.
pub(super) fn order(before: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut after = vec![Vec::new(); before.len()];
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    for (vertex, before) in before.iter().enumerate() {
        before.iter().for_each(|&from| after[from].push(vertex));
    }
    let mut order: Vec<usize> = (0..before.len()).filter(|&vertex| missing[vertex] == 0).collect();
    let mut at = 0;
    while let Some(&vertex) = order.get(at) {
        at += 1;
        for &next in &after[vertex] {
            missing[next] -= 1;
            if missing[next] == 0 {
                order.push(next);
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        None => Ok(order),
        Some(start) => Err(cycle(start, before, &missing)),
    }
}

/// Finds a cycle: a vertex with missing predecessors waits for at least one that has missing
/// predecessors too.
fn cycle(start: usize, before: &[Vec<usize>], missing: &[usize]) -> Vec<usize> {
    let mut path = vec![start];
    let mut place = vec![None; before.len()];
    place[start] = Some(0);
    loop {
        let last = path[path.len() - 1];
        let waits_for = before[last].iter().find(|&&from| missing[from] > 0);
        let &next = waits_for.expect("it waits for something that is not in the order");
        if let Some(first) = place[next] {
            return path.split_off(first);
        }
        place[next] = Some(path.len());
        path.push(next);
    }
}
