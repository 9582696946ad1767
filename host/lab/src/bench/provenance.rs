//! Date, version and machine of a record.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use std::time::SystemTime;

/// Date, version and machine of records. Old records lack some of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Made {
    /// Date in UTC: `2026-11-24T10:00:00Z`.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("format" = "date-time")))]
    pub date: Option<String>,
    /// Version of gridsync.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub gridsync: Option<String>,
    /// The commit of gridsync, if `xtask bundle` built it.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub commit: Option<String>,
    /// Version of the kernel module of NVIDIA's driver. Null if its version file is missing.
    pub driver: Option<String>,
    /// Settings of the GPU, null without nvidia-smi.
    #[serde(flatten)]
    pub gpu: Gpu,
    /// Version of CUB, which only a file about a machine has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub cub: Option<String>,
}

/// Settings of a GPU, as reported by nvidia-smi. A field that it does not report is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gpu {
    /// CUDA version of the driver.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub cuda: Option<String>,
    /// The highest clock of the multiprocessors, MHz.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub sm_clock_mhz: Option<f64>,
    /// The highest clock of the memory, MHz.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub memory_clock_mhz: Option<f64>,
    /// The power limit, W.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub power_limit_w: Option<f64>,
    /// Whether the memory has ECC enabled.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub ecc: Option<bool>,
}

/// The query to nvidia-smi. [`Gpu::of`] reads the columns in this order.
const QUERY: &str = "--query-gpu=name,clocks.max.sm,clocks.max.mem,power.limit,ecc.mode.current";

impl Made {
    /// Made now on `device`, by this version of gridsync with this machine's driver.
    #[must_use]
    pub fn now(device: &str) -> Self {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let driver =
            driver_of(&fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default());
        let smi = |args: &[&str]| {
            // nvidia-smi fails without a driver.
            driver.as_ref()?;
            let output = Command::new("nvidia-smi").args(args).output().ok()?;
            String::from_utf8(output.stdout).ok()
        };
        let rows = smi(&[QUERY, "--format=csv,noheader,nounits"]).unwrap_or_default();
        let gpu = Gpu { cuda: smi(&[]).as_deref().and_then(cuda_of), ..Gpu::of(device, &rows) };
        Self {
            date: Some(date),
            gridsync: Some(env!("CARGO_PKG_VERSION").into()),
            commit: option_env!("GRIDSYNC_COMMIT").map(str::to_owned),
            driver,
            gpu,
            cub: None,
        }
    }
}

impl Gpu {
    /// The first GPU with this name in the rows of nvidia-smi.
    fn of(name: &str, rows: &str) -> Self {
        let cells =
            |row: &'_ str| row.split(',').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let row = rows.lines().map(cells).find(|cells| cells[0] == name).unwrap_or_default();
        let cell = |at: usize| row.get(at).map(String::as_str);
        let ecc = cell(4).and_then(|mode| match mode {
            "Enabled" => Some(true),
            "Disabled" => Some(false),
            _ => None,
        });
        let [sm_clock_mhz, memory_clock_mhz, power_limit_w] =
            [1, 2, 3].map(|at| cell(at)?.parse().ok());
        Self { cuda: None, sm_clock_mhz, memory_clock_mhz, power_limit_w, ecc }
    }
}

/// The CUDA version in the first lines of nvidia-smi.
fn cuda_of(heading: &str) -> Option<String> {
    let (_, rest) = heading.split_once("CUDA Version:")?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// The version in the version text of the driver's kernel module.
fn driver_of(told: &str) -> Option<String> {
    let first = told.lines().next()?;
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    first.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_version_is_found_for_either_kernel_module() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\nGCC version: 12.2.0";
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build";
        assert_eq!(driver_of(closed).as_deref(), Some("550.90.07"));
        assert_eq!(driver_of(open).as_deref(), Some("580.159.04"));
        assert_eq!(driver_of(""), None);
    }

    #[test]
    fn clocks_power_and_ecc_are_read_for_the_gpu_of_that_name() {
        let rows =
            "NVIDIA A2, 1770, 6251, 60.00, Disabled\nNVIDIA H200, 1980, 3201, 700.00, Enabled\n";
        let [h200, silent] = [rows, "NVIDIA H200, [N/A], 3201, [N/A], [N/A]"].map(|rows| {
            let gpu = Gpu::of("NVIDIA H200", rows);
            (gpu.sm_clock_mhz, gpu.memory_clock_mhz, gpu.power_limit_w, gpu.ecc)
        });
        assert_eq!(h200, (Some(1980.0), Some(3201.0), Some(700.0), Some(true)));
        assert_eq!(silent, (None, Some(3201.0), None, None));
        assert_eq!(Gpu::of("emulator", rows), Gpu::default());
        let heading =
            "| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA Version: 13.0     |";
        assert_eq!(cuda_of(heading).as_deref(), Some("13.0"));
    }

    #[test]
    fn a_record_made_now_has_its_second_in_utc() {
        let date = Made::now("emulator").date.expect("there is a date");
        assert_eq!((date.len(), &date[10..11], &date[19..]), (20, "T", "Z"), "{date}");
    }
}
