//! The peer: `ncclAllReduce` of one f32 per GPU, in CUDA graphs.
//!
//! NCCL has no barrier. Programs that need one use such an all-reduce, so it is the peer of both
//! collectives.

use super::Nccl;
use crate::bench::{PeerError, PeerProgram, Sampling, Spread};
use std::collections::HashMap;

/// Calls in the shorter graph and in the longer one. They are fewer than our rounds, because each
/// call is a separate kernel, and a node of the graph.
const CALLS: [u32; 2] = [20, 420];

/// Name in records.
pub(super) const NAME: &str = "NCCL";

const PEER: PeerProgram = PeerProgram {
    name: NAME,
    source: include_str!("../../../peers/nccl_all_reduce.cu"),
    flags: &[],
};

/// µs per call of NCCL, for each number of GPUs in `counts`, on the GPUs with these numbers. It
/// runs alone on them. NCCL accepts each GPU only once, and one GPU alone has nothing to combine,
/// so such counts are left out.
///
/// # Errors
/// [`PeerError`].
pub fn nccl_times(
    nccl: &Nccl,
    ordinals: &[u32],
    counts: &[usize],
    sampling: &Sampling,
) -> Result<HashMap<usize, Spread>, PeerError> {
    let questions = questions(ordinals, counts);
    if questions.is_empty() {
        return Ok(HashMap::new());
    }
    let lines: Vec<String> = questions.iter().map(|(_, line)| line.clone()).collect();
    let calls = CALLS.map(|calls| calls.to_string());
    let answers = PEER.ask_with(&nccl.flags(), &calls, sampling, &lines)?;
    let time = |(gpus, line)| Some((gpus, *answers.times.get(&line)?));
    Ok(questions.into_iter().filter_map(time).collect())
}

/// The counts that NCCL supports, each with its question: the numbers of the GPUs.
fn questions(ordinals: &[u32], counts: &[usize]) -> Vec<(usize, String)> {
    let is_possible = |count: usize| {
        let gpus = &ordinals[..count];
        count > 1 && (1..count).all(|at| !gpus[..at].contains(&gpus[at]))
    };
    let question = |count: usize| {
        let numbers: Vec<String> = ordinals[..count].iter().map(u32::to_string).collect();
        (count, numbers.join(","))
    };
    counts.iter().copied().filter(|&count| is_possible(count)).map(question).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nccl_is_measured_on_two_or_more_distinct_gpus() {
        let asked = |ordinals: &[u32], counts: &[usize]| questions(ordinals, counts);
        assert_eq!(asked(&[0, 1, 2, 3], &[1, 2, 4]), [(2, "0,1".into()), (4, "0,1,2,3".into())]);
        assert_eq!(asked(&[3, 1, 3], &[1, 2, 3]), [(2, "3,1".into())]);
        assert_eq!(asked(&[0, 0], &[1, 2]), []);
    }
}
