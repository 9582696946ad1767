//! When and by what a record was made.

use serde_json::{Value, json};
use std::fs;
use std::time::SystemTime;

/// When and by what records were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// When, in UTC: `2026-11-24T10:00:00Z`.
    date: String,
    /// The version of the kernel module of NVIDIA's driver; none where there is no such file.
    driver: Option<String>,
}

impl Made {
    /// Made now, by this version of gridsync with this machine's driver.
    #[must_use]
    pub fn now() -> Self {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let told = fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
        Self { date, driver: driver_of(&told) }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "date": self.date, "gridsync": env!("CARGO_PKG_VERSION"), "driver": self.driver })
    }
}

/// The version in the text that the driver's kernel module has of itself.
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
    fn the_driver_is_found_in_what_either_kernel_module_tells() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\nGCC version: 12.2.0";
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build";
        assert_eq!(driver_of(closed).as_deref(), Some("550.90.07"));
        assert_eq!(driver_of(open).as_deref(), Some("580.159.04"));
        assert_eq!(driver_of(""), None);
    }

    #[test]
    fn a_record_made_now_says_the_second_in_utc() {
        let date = Made::now().date;
        assert_eq!((date.len(), &date[10..11], &date[19..]), (20, "T", "Z"), "{date}");
    }
}
