//! The suite `calls`: the cost of a call for the calling thread.

use super::Global;
use super::flags::{Sizes, by_default};
use super::rows::{Rows, param, peer, times, variant};
use super::suites::{Measure, Records};
use anyhow::Context;
use clap::Arg;
use gridsync::device::Device;
use gridsync_lab::bench::{
    CALLS_PEER, Call, PeerKind, PeerKinds, PeerProgram, Sampling, Step, call_points, peer_calls,
    run_calls, sum_in_a_process,
};
use gridsync_lab::images;
use std::collections::HashMap;

/// Lengths to measure by default.
const SIZES: [usize; 3] = [1 << 10, 1 << 16, 1 << 20];

/// The suite.
pub(super) struct Calls;

impl Measure for Calls {
    type Flags = Sizes;

    fn describe(&self, flag: Arg) -> Arg {
        if flag.get_id() == "sizes" { by_default(flag, &SIZES) } else { flag }
    }

    fn peer(&self) -> Option<PeerProgram> {
        Some(CALLS_PEER)
    }

    fn measure(&self, sizes: Sizes, peers: &PeerKinds, global: &Global) -> Records {
        let points = call_points(sizes.or(&SIZES));
        let sampling = Sampling::default();
        // The peer runs alone on the GPU, and so do processes, so this device is closed at once.
        let name = global.device.gpu("bench")?.properties().name.clone();
        let peers = if peers.contains(PeerKind::Cuda) {
            peer_calls(&points, &sampling).context("measuring CUB")?
        } else {
            HashMap::new()
        };
        let program = std::env::current_exe().context("finding this program")?;
        let ordinal = global.device.ordinal();
        let process = || sum_in_a_process(&program, &format!("cuda:{ordinal}"));

        let cells = [variant("call", Call::ALL.iter().map(|call| call.name()))]
            .into_iter()
            .chain([param("elements", 10, "n")])
            .chain(times(10, 2))
            .chain(peer("peer µs", 10, 2));
        let mut rows = Rows::new(global, points.len(), cells);
        let step = |step: Step<'_, (Call, usize)>| {
            rows.step(step, |(call, n)| format!("{} of {n}", call.name()));
        };
        let open = || Device::cuda(ordinal, &images::all());
        let records = run_calls(&name, open, &points, &peers, &sampling, process, step)?;
        rows.finish(&records)?;
        Ok(records)
    }
}
