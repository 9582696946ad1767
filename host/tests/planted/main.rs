//! Small kernels with planted bugs: `Check` must find each bug, and its message must name the cause.
//! Without the bug, the same kernel must pass.
//!
//! A kernel has the number of the bug as an argument. 0 means no bug.

mod between_blocks;
mod in_a_block;
mod in_clusters;

use cuda_std::launch::Kernel;
use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, EmulatorConfig, Geometry};

/// Expected value of each word of `out`.
const RIGHT: u32 = 7;

/// Words that a kernel may use, initially 0.
const WORDS: usize = 1024;

type Arguments = (Global<u32>, Global<u32>, u32);

/// A kernel and its bugs.
struct Planted {
    kernel: &'static str,
    run: fn(&Device, &Geometry, u32) -> Result<(), Wrong>,
    geometry: Geometry,
    /// Multiprocessors of the device.
    multiprocessors: u32,
    /// For each bug, from 1: its description, and the words that the message must contain. `|`
    /// separates alternatives.
    bugs: &'static [(&'static str, &'static [&'static str])],
}

impl Planted {
    fn new<K: Kernel<Args = Arguments>>(
        geometry: Geometry,
        bugs: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        Self { kernel: K::NAME, run: run::<K>, geometry, multiprocessors: 8, bugs }
    }

    fn check(&self, bug: u32) -> Result<(), String> {
        let config =
            EmulatorConfig { multiprocessors: self.multiprocessors, ..EmulatorConfig::default() };
        let checked =
            Check::default().on(config).run(|device| (self.run)(device, &self.geometry, bug));
        checked.map(drop).map_err(|failure| failure.to_string())
    }

    /// Differences between the report of the check and the expected one.
    fn mistakes(&self) -> Vec<String> {
        let kernel = self.kernel;
        let mut mistakes = Vec::new();
        if let Err(alarm) = self.check(0) {
            mistakes.push(format!("{kernel}: a false alarm: {alarm}"));
        }
        for ((bug, words), number) in self.bugs.iter().zip(1..) {
            let Err(message) = self.check(number) else {
                mistakes.push(format!("{kernel}, {bug}: not found"));
                continue;
            };
            let has = |words: &&str| words.split('|').any(|word| message.contains(word));
            if !words.iter().all(has) {
                mistakes.push(format!("{kernel}, {bug}: {words:?} are not in: {message}"));
            }
        }
        mistakes
    }
}

/// One launch, with a word of `out` for each thread.
fn run<K: Kernel<Args = Arguments>>(
    device: &Device,
    geometry: &Geometry,
    bug: u32,
) -> Result<(), Wrong> {
    let threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
    let (words, out) = (device.zeroed::<u32>(WORDS)?, device.zeroed::<u32>(threads)?);
    // SAFETY: the kernel's words, and one per thread, live until the download. A kernel whose blocks
    // wait for each other is tested with too many of them on purpose: the emulator ends it.
    unsafe { device.launch::<K>(geometry, (words.view(), out.view(), bug)) }?;
    let out = out.download()?;
    match out.iter().position(|&word| word != RIGHT) {
        None => Ok(()),
        Some(at) => Err(format!("thread {at} saw {} in place of {RIGHT}", out[at]).into()),
    }
}

fn expect_named(planted: &[Planted]) {
    let mistakes: Vec<String> = planted.iter().flat_map(Planted::mistakes).collect();
    assert!(mistakes.is_empty(), "{} mistakes:\n{}", mistakes.len(), mistakes.join("\n\n"));
}
