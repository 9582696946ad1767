//! `gridsync devices`: lists the devices and their main properties.

use super::{Global, output};
use crate::report::{Table, table};
use gridsync::device::cuda::probe;
use gridsync::device::{Backend, DeviceError, Emulator, EmulatorConfig, Properties};
use serde_json::json;

#[derive(clap::Args)]
pub(crate) struct Devices {}

impl Devices {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let (gpus, none) = match probe() {
            Ok(devices) => (devices, None),
            Err(DeviceError::NoCuda(reason)) => (Vec::new(), Some(reason.to_string())),
            Err(error) => return Err(error.into()),
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let text = || {
            let mut text = String::new();
            for gpu in &gpus {
                text += &format!("cuda:{}  {}\n", gpu.ordinal, gpu.properties.name);
                text += &format!("{}\n\n", describe_in_words(&gpu.properties));
            }
            if let Some(reason) = &none {
                text += &format!("cuda      none: {reason}\n");
            }
            let emulated = Emulator::new(EmulatorConfig::default());
            text += &format!(
                "emulator  {} multiprocessors of {} threads, on this CPU; every access checked\n",
                emulated.properties().multiprocessors,
                emulated.properties().max_threads_per_multiprocessor,
            );
            text + &format!("cpu       {cpus} cores, by rayon\n")
        };
        let json = || {
            json!({
                "cuda": gpus.iter().map(|gpu| describe(gpu.ordinal, &gpu.properties)).collect::<Vec<_>>(),
                "no_cuda": none,
                "emulator": true,
                "cpu": { "cores": cpus },
            })
        };
        output::result(global, text, json)
    }
}

fn describe_in_words(p: &Properties) -> Table {
    let yes = |yes| if yes { "yes" } else { "no" };
    let kib = |bytes: u32| format!("{} KiB", bytes >> 10);
    let bandwidth = match p.peak_gb_per_s() {
        Some(peak) => format!(
            "{peak:.0} GB/s = 2 × {:.0} MHz × {} bits / 8",
            f64::from(p.memory_clock_khz) / 1e3,
            p.memory_bus_bits
        ),
        None => "not told by the driver".into(),
    };
    let rows = [
        ("compute capability", format!("{}.{}", p.compute / 10, p.compute % 10)),
        ("multiprocessors", p.multiprocessors.to_string()),
        ("clock", format!("{:.0} MHz", f64::from(p.clock_khz) / 1e3)),
        (
            "threads",
            format!(
                "{} per block, {} per multiprocessor in at most {} blocks, warps of {}",
                p.max_threads_per_block,
                p.max_threads_per_multiprocessor,
                p.max_blocks_per_multiprocessor,
                p.warp_size
            ),
        ),
        (
            "registers",
            format!(
                "{} per block, {} per multiprocessor",
                p.registers_per_block, p.registers_per_multiprocessor
            ),
        ),
        (
            "shared memory",
            format!(
                "{} per block, {} with opt-in, {} per multiprocessor",
                kib(p.shared_per_block),
                kib(p.shared_per_block_optin),
                kib(p.shared_per_multiprocessor)
            ),
        ),
        ("L2 cache", format!("{:.0} MiB", f64::from(p.l2_bytes) / f64::from(1 << 20))),
        (
            "memory",
            format!(
                "{:.1} GiB{}",
                p.memory_bytes as f64 / f64::from(1 << 30),
                if p.ecc { ", ECC on" } else { "" }
            ),
        ),
        ("bandwidth", bandwidth),
        ("cooperative launch", yes(p.cooperative).into()),
        ("cluster launch", yes(p.cluster).into()),
        ("driver", format!("CUDA {}.{}", p.driver_version / 1000, p.driver_version % 1000 / 10)),
        ("PCI address", p.pci.clone()),
    ];
    let mut table = table();
    for (name, value) in rows {
        table.add_row([format!("  {name}"), value]);
    }
    table
}

fn describe(ordinal: u32, p: &Properties) -> serde_json::Value {
    json!({
        "device": format!("cuda:{ordinal}"),
        "name": p.name,
        "compute_capability": format!("{}.{}", p.compute / 10, p.compute % 10),
        "multiprocessors": p.multiprocessors,
        "clock_khz": p.clock_khz,
        "warp_size": p.warp_size,
        "max_threads_per_block": p.max_threads_per_block,
        "max_threads_per_multiprocessor": p.max_threads_per_multiprocessor,
        "max_blocks_per_multiprocessor": p.max_blocks_per_multiprocessor,
        "registers_per_block": p.registers_per_block,
        "registers_per_multiprocessor": p.registers_per_multiprocessor,
        "shared_per_block": p.shared_per_block,
        "shared_per_block_optin": p.shared_per_block_optin,
        "shared_per_multiprocessor": p.shared_per_multiprocessor,
        "l2_bytes": p.l2_bytes,
        "memory_bytes": p.memory_bytes,
        "memory_clock_khz": p.memory_clock_khz,
        "memory_bus_bits": p.memory_bus_bits,
        "peak_gb_per_s": p.peak_gb_per_s(),
        "ecc": p.ecc,
        "cooperative_launch": p.cooperative,
        "cluster_launch": p.cluster,
        "driver_version": p.driver_version,
        "pci": p.pci,
    })
}
