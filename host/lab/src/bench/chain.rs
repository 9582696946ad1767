//! The peer of chains of kernels, for `gridsync dag --chain`.

use super::{PeerError, PeerProgram, Sampling, Spread};
use std::collections::HashMap;

/// The ways to run a chain of kernels in CUDA C++.
const PEER: PeerProgram = PeerProgram {
    name: "CUDA C++",
    source: include_str!("../../peers/dag_chain.cu"),
    flags: &["-rdc=true"],
};

/// µs of a chain of `nodes` kernels by each of these ways in CUDA C++, which `dag_chain.cu` lists.
/// The peer runs alone on the GPU.
///
/// # Errors
/// [`PeerError`].
pub fn chains_in_cpp(
    ways: &[&'static str],
    nodes: usize,
) -> Result<HashMap<&'static str, Spread>, PeerError> {
    let question = |way: &&str| format!("{way} {nodes}");
    let questions: Vec<_> = ways.iter().map(question).collect();
    let answers = PEER.ask(&[], &Sampling::default(), &questions)?;
    let time = |(&way, question)| Some((way, *answers.times.get(question)?));
    Ok(ways.iter().zip(&questions).filter_map(time).collect())
}
