//! The target architectures of kernels.

use std::fmt;
use std::str::FromStr;

use crate::BuildError;

/// A virtual architecture, by its compute capability.
///
/// PTX for one architecture runs on every GPU with that compute capability or a higher one (PTX
/// ISA, "Target directive").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// Turing: T4, RTX 20. The oldest architecture that CUDA 13 supports.
    #[default]
    Compute75,
    /// Ampere: A100.
    Compute80,
    /// Ampere: A10, RTX 30.
    Compute86,
    /// Ada: L4, L40, RTX 40.
    Compute89,
    /// Hopper: H100, H200.
    Compute90,
    /// Blackwell: B100, B200.
    Compute100,
    /// Blackwell: RTX 50.
    Compute120,
}

impl Arch {
    /// Every architecture, oldest first.
    pub const ALL: [Self; 7] = [
        Self::Compute75,
        Self::Compute80,
        Self::Compute86,
        Self::Compute89,
        Self::Compute90,
        Self::Compute100,
        Self::Compute120,
    ];

    /// The compute capability as one number: 75, 90, 120 …
    pub const fn capability(self) -> u32 {
        match self {
            Self::Compute75 => 75,
            Self::Compute80 => 80,
            Self::Compute86 => 86,
            Self::Compute89 => 89,
            Self::Compute90 => 90,
            Self::Compute100 => 100,
            Self::Compute120 => 120,
        }
    }

    /// The PTX ISA version, times ten.
    ///
    /// It is the first version that supports the architecture (PTX ISA, "Release Notes"), so that
    /// old drivers can load the PTX. But it is at least 7.4 (CUDA 11.4, the first with cache hints
    /// on loads and stores), and 8.0 for Hopper (CUDA 12.0, the first with relaxed arrivals at a
    /// cluster barrier).
    pub const fn ptx_version(self) -> u32 {
        match self {
            Self::Compute75 | Self::Compute80 | Self::Compute86 => 74,
            Self::Compute89 => 78,
            Self::Compute90 => 80,
            Self::Compute100 => 86,
            Self::Compute120 => 87,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.capability())
    }
}

/// Parses `75`, `sm_75` or `compute_75`.
impl FromStr for Arch {
    type Err = BuildError;

    fn from_str(text: &str) -> Result<Self, BuildError> {
        let number = text.trim_start_matches("sm_").trim_start_matches("compute_");
        Self::ALL.into_iter().find(|arch| arch.to_string() == number).ok_or_else(|| {
            BuildError::UnknownArch {
                given: text.to_owned(),
                known: Self::ALL.map(|arch| arch.to_string()).join(", "),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_parses_from_each_of_its_names() {
        for arch in Arch::ALL {
            for name in [format!("{arch}"), format!("sm_{arch}"), format!("compute_{arch}")] {
                assert_eq!(name.parse::<Arch>().unwrap(), arch);
            }
        }
    }

    #[test]
    fn an_unknown_architecture_is_an_error_that_lists_the_known_ones() {
        let error = "35".parse::<Arch>().unwrap_err().to_string();
        assert!(error.contains("35") && error.contains("75, 80, 86"), "{error}");
    }
}
