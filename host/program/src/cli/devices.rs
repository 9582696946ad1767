//! `gridsync devices`: lists the devices and their main properties.

use super::{Global, output};
use gridsync::device::cuda::{DeviceSummary, probe, reaches};
use gridsync::device::{Backend, DeviceError, Emulator, EmulatorConfig, Properties};
use gridsync_lab::display::{Table, table};
use serde::Serialize;

/// List the devices and their limits
///
/// --device says where a subcommand runs. auto, which is the default, uses the GPU if there is one,
/// else the emulator. For reduce, scan, select, sort, unique, top, quantile, histogram, describe,
/// range-sum and kendall it uses the CPU, unless there is a GPU and computing on the CPU would take
/// longer than opening it: --verbose says why. cuda is the first GPU and cuda:N another one, emulator a small
/// emulated GPU that checks every access, ptx an emulated GPU that runs the PTX of compute capability
/// 9.0 (ptx:75: 7.5) in place of the kernels' source, cpu the cores of this machine. reduce, scan,
/// select, describe, range-sum and kendall also share their array among several, to the same bits, and bench
/// system and scaling measure them: cuda:0,1, cuda:all, emulator:3.
#[derive(clap::Args)]
pub(crate) struct Devices {}

/// The result of `gridsync devices`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Listed {
    /// Each GPU.
    cuda: Vec<Gpu>,
    /// Why there is no GPU, or null.
    no_cuda: Option<String>,
    /// The emulator runs on every machine.
    #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
    emulator: bool,
    cpu: Cpu,
}

/// The CPU.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Cpu {
    /// The threads that the CPU runs at once.
    cores: usize,
}

/// A GPU. A number that the driver does not report is 0.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Gpu {
    /// Its name for `--device`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^cuda:[0-9]+$")))]
    device: String,
    /// The other GPUs whose memory it can access.
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = "^cuda:[0-9]+$"))))]
    reaches: Vec<String>,
    /// The vendor's name for it.
    name: String,
    /// Major and minor.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9]+\.[0-9]$")))]
    compute_capability: String,
    multiprocessors: u32,
    /// The highest clock of a multiprocessor, kHz.
    clock_khz: u32,
    /// Lanes of a warp.
    warp_size: u32,
    max_threads_per_block: u32,
    /// Resident at once.
    max_threads_per_multiprocessor: u32,
    /// Resident at once.
    max_blocks_per_multiprocessor: u32,
    /// Registers of 32 bits, at most.
    registers_per_block: u32,
    /// Registers of 32 bits.
    registers_per_multiprocessor: u32,
    /// Bytes of shared memory of a block that has not opted in to more.
    shared_per_block: u32,
    /// Bytes of shared memory of a block that has.
    shared_per_block_optin: u32,
    /// Bytes of shared memory.
    shared_per_multiprocessor: u32,
    /// Bytes of the L2 cache.
    l2_bytes: u32,
    /// Bytes of device memory.
    memory_bytes: u64,
    /// The highest clock of device memory, kHz.
    memory_clock_khz: u32,
    /// The width of the bus of device memory, bits.
    memory_bus_bits: u32,
    /// GB/s (10⁹ bytes) by clock and width of device memory. Null if they are not reported.
    peak_gb_per_s: Option<f64>,
    /// Whether device memory has ECC enabled.
    ecc: bool,
    /// Whether cooperative launches work.
    cooperative_launch: bool,
    /// Whether launches with clusters work.
    cluster_launch: bool,
    /// The CUDA version of the driver: 1000 × major + 10 × minor.
    driver_version: u32,
    /// The PCI address: domain:bus:device.0.
    pci: String,
}

impl Devices {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let (gpus, none) = match probe() {
            Ok(devices) => (devices, None),
            Err(DeviceError::NoCuda(reason)) => (Vec::new(), Some(reason.to_string())),
            Err(error) => return Err(error.into()),
        };
        let reach = reach_of(&gpus)?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let text = || {
            let mut text = String::new();
            for gpu in &gpus {
                text += &format!("cuda:{}  {}\n", gpu.ordinal, gpu.properties.name);
                text += &format!("{}\n\n", describe_in_words(&gpu.properties));
            }
            if gpus.len() > 1 {
                text += "Which GPU (row) can access the memory of which (column):\n";
                text += &format!("{}\n\n", reach_in_words(&gpus, &reach));
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
            let each = gpus.iter().zip(&reach);
            Listed {
                cuda: each.map(|(gpu, reach)| Gpu::of(gpu, &gpus, reach)).collect(),
                no_cuda: none.clone(),
                emulator: true,
                cpu: Cpu { cores: cpus },
            }
        };
        output::result(global, text, json)
    }
}

/// For each GPU, whether it can access the memory of each GPU.
fn reach_of(gpus: &[DeviceSummary]) -> Result<Vec<Vec<bool>>, DeviceError> {
    let of = |from: u32| gpus.iter().map(|to| reaches(from, to.ordinal)).collect();
    gpus.iter().map(|from| of(from.ordinal)).collect()
}

/// The table of which GPU can access which GPU's memory.
fn reach_in_words(gpus: &[DeviceSummary], reach: &[Vec<bool>]) -> Table {
    let mut table = table();
    let heads = gpus.iter().map(|gpu| gpu.ordinal.to_string());
    table.set_header([String::new()].into_iter().chain(heads));
    for (from, reach) in gpus.iter().zip(reach) {
        let cells = gpus.iter().zip(reach).map(|(to, &reaches)| match reaches {
            _ if to.ordinal == from.ordinal => "·",
            true => "yes",
            false => "no",
        });
        let name = format!("  cuda:{}", from.ordinal);
        table.add_row([name].into_iter().chain(cells.map(str::to_owned)));
    }
    table
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
        None => "not reported by the driver".into(),
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

impl Gpu {
    /// A GPU. `reach[i]` is whether it can access the memory of `gpus[i]`.
    fn of(gpu: &DeviceSummary, gpus: &[DeviceSummary], reach: &[bool]) -> Self {
        let p = &gpu.properties;
        let others = gpus.iter().zip(reach).filter(|(to, reaches)| **reaches && *to != gpu);
        Self {
            device: format!("cuda:{}", gpu.ordinal),
            reaches: others.map(|(to, _)| format!("cuda:{}", to.ordinal)).collect(),
            name: p.name.clone(),
            compute_capability: format!("{}.{}", p.compute / 10, p.compute % 10),
            multiprocessors: p.multiprocessors,
            clock_khz: p.clock_khz,
            warp_size: p.warp_size,
            max_threads_per_block: p.max_threads_per_block,
            max_threads_per_multiprocessor: p.max_threads_per_multiprocessor,
            max_blocks_per_multiprocessor: p.max_blocks_per_multiprocessor,
            registers_per_block: p.registers_per_block,
            registers_per_multiprocessor: p.registers_per_multiprocessor,
            shared_per_block: p.shared_per_block,
            shared_per_block_optin: p.shared_per_block_optin,
            shared_per_multiprocessor: p.shared_per_multiprocessor,
            l2_bytes: p.l2_bytes,
            memory_bytes: p.memory_bytes,
            memory_clock_khz: p.memory_clock_khz,
            memory_bus_bits: p.memory_bus_bits,
            peak_gb_per_s: p.peak_gb_per_s(),
            ecc: p.ecc,
            cooperative_launch: p.cooperative,
            cluster_launch: p.cluster,
            driver_version: p.driver_version,
            pci: p.pci.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpus(count: u32) -> Vec<DeviceSummary> {
        let properties = Emulator::new(EmulatorConfig::default()).properties().clone();
        (0..count)
            .map(|ordinal| DeviceSummary { ordinal, properties: properties.clone() })
            .collect()
    }

    #[test]
    fn reach_table_has_a_row_per_reader_and_a_column_per_memory() {
        let reach = [[true, true, false], [true, true, true], [false, false, true]];
        let text = reach_in_words(&gpus(3), &reach.map(Vec::from)).to_string();
        let words: Vec<Vec<_>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["0", "1", "2"]);
        assert_eq!(words[1], ["cuda:0", "·", "yes", "no"]);
        assert_eq!(words[2], ["cuda:1", "yes", "·", "yes"]);
        assert_eq!(words[3], ["cuda:2", "no", "no", "·"]);
    }

    #[test]
    fn reach_table_of_eight_gpus_fits_in_a_terminal() {
        let text = reach_in_words(&gpus(8), &vec![vec![true; 8]; 8]).to_string();
        assert_eq!(text.lines().count(), 9, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn json_of_a_gpu_lists_the_gpus_that_it_reaches() {
        let gpus = gpus(3);
        assert_eq!(Gpu::of(&gpus[1], &gpus, &[true, true, false]).reaches, ["cuda:0"]);
        assert!(Gpu::of(&gpus[0], &gpus[..1], &[true]).reaches.is_empty());
    }
}
