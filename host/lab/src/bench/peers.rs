//! All peers at once.

use super::calls;
use super::peer::{PeerError, PeerProgram};
use super::{
    ALL_REDUCE, BARRIER, PARTITION, REDUCE, REDUCE_ROWS, SCAN, SCAN_THREADS, SELECT, UNIQUE,
};
use std::panic::resume_unwind;
use std::thread;

/// Every CUDA C++ peer that needs no library.
fn programs() -> impl Iterator<Item = PeerProgram> {
    let latencies = [BARRIER, ALL_REDUCE, SCAN_THREADS].map(|suite| suite.peer);
    let throughputs = [REDUCE, REDUCE_ROWS, SCAN, SELECT, PARTITION, UNIQUE];
    let throughputs = throughputs.into_iter().filter_map(|suite| suite.peer);
    latencies.into_iter().chain(throughputs).chain([calls::PEER])
}

/// Builds all peers in parallel, into the folder named by the environment variable
/// `GRIDSYNC_PEERS`. Suites that run with the same variable set then need no compiler. Returns the
/// number of peers.
///
/// # Errors
/// The first error of a build.
///
/// # Panics
/// If a build panics.
pub fn build_peers() -> Result<usize, PeerError> {
    thread::scope(|scope| {
        let begin =
            |peer: PeerProgram| thread::Builder::new().spawn_scoped(scope, move || peer.keep());
        let builds: Vec<_> = programs().map(|peer| (begin(peer), peer)).collect();
        let built = builds.into_iter().map(|(build, peer)| match build {
            Ok(build) => build.join().unwrap_or_else(|payload| resume_unwind(payload)),
            // The system cannot start another thread.
            Err(_) => peer.keep(),
        });
        built.collect::<Result<Vec<()>, _>>().map(|built| built.len())
    })
}
