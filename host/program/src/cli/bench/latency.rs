//! The latency suites: designs at several grid shapes.

use super::flags::{Grids, is_asked, one_of};
use super::rows::{Rows, grid, peer, times, variant};
use super::suites::{Measure, Records};
use super::{Global, Usage, with_peer};
use crate::cli::output;
use anyhow::Context;
use clap::Arg;
use gridsync_lab::bench::{
    Design, PeerKind, PeerKinds, PeerProgram, Sampling, Shape, Step, Suite, THREADS, default_blocks,
};

impl Measure for Suite {
    type Flags = Grids;

    fn describe(&self, flag: Arg) -> Arg {
        if flag.get_id() != "only" {
            return flag;
        }
        one_of(flag, self.designs.iter().map(|design| design.name))
    }

    fn peer(&self) -> Option<PeerProgram> {
        Some(self.peer)
    }

    fn measure(&self, grids: Grids, peers: &PeerKinds, global: &Global) -> Records {
        let device = global.device.gpu("bench")?;
        let is_asked = |design: &Design| is_asked(&grids.only, design.name);
        let designs: Vec<Design> = self.designs.iter().copied().filter(is_asked).collect();
        let shapes = grids.shapes(&default_blocks(device.properties().multiprocessors), &THREADS);
        let ask = || self.peers(&shapes).context("measuring grid.sync()");
        let ask_peer = peers.contains(PeerKind::Cuda);
        let (device, peers) = with_peer(device, ask_peer, global, ask)?;

        let names = designs.iter().map(|design| design.name);
        let cells = [variant("design", names)]
            .into_iter()
            .chain(grid())
            .chain(times(7, 3))
            .chain(peer("peer µs", 7, 3));
        let mut rows = Rows::new(global, designs.len() * shapes.len(), cells);
        let step = |step: Step<'_, (&Design, Shape)>| {
            rows.step(step, |(design, Shape { blocks, threads })| {
                format!("{} at {blocks} × {threads}", design.name)
            });
        };
        let run = self.run(&device, &designs, &shapes, &peers, &Sampling::default(), step)?;
        rows.finish(&run.records)?;

        for absent in &run.absent {
            output::say(format_args!("gridsync: leaving out {}: {}", absent.design, absent.error));
        }
        if run.records.is_empty() {
            return Err(Usage(format!(
                "nothing to measure: none of {} designs at {} grid shapes has a kernel for {} and fits on it (see gridsync devices for its limits)",
                designs.len(),
                shapes.len(),
                device.properties().name
            ))
            .into());
        }
        Ok(run.records)
    }
}
