//! Building several peers at once.

use super::peer::{PeerError, PeerProgram};
use std::panic::resume_unwind;
use std::thread;

/// Builds `peers` in parallel, into the folder named by the environment variable
/// `GRIDSYNC_PEERS`. Suites that run with the same variable set then need no compiler. Returns the
/// number of peers.
///
/// # Errors
/// The first error of a build.
///
/// # Panics
/// If a build panics.
pub fn build_peers(peers: impl IntoIterator<Item = PeerProgram>) -> Result<usize, PeerError> {
    thread::scope(|scope| {
        let begin =
            |peer: PeerProgram| thread::Builder::new().spawn_scoped(scope, move || peer.keep());
        let builds: Vec<_> = peers.into_iter().map(|peer| (begin(peer), peer)).collect();
        let built = builds.into_iter().map(|(build, peer)| match build {
            Ok(build) => build.join().unwrap_or_else(|payload| resume_unwind(payload)),
            // The system cannot start another thread.
            Err(_) => peer.keep(),
        });
        built.collect::<Result<Vec<()>, _>>().map(|built| built.len())
    })
}
