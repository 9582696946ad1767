//! The value of `--gpus`.

use anyhow::Context;
use gridsync::device::MOST_GPUS;
use gridsync::device::cuda::probe;
use std::str::FromStr;

/// Which GPUs work together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gpus {
    /// All that the driver has.
    All,
    /// Those with these numbers.
    These(Vec<u32>),
}

impl FromStr for Gpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        let numbers = numbers.map_err(|_| "GPUs are all, or their numbers, as in 0,1")?;
        match numbers.len() {
            ..=MOST_GPUS => Ok(Self::These(numbers)),
            asked => Err(format!("{asked} GPUs are asked for, and {MOST_GPUS} work together")),
        }
    }
}

impl Gpus {
    /// Their numbers.
    pub(super) fn ordinals(&self) -> anyhow::Result<Vec<u32>> {
        match self {
            Self::All => {
                let devices = probe().context("bench needs a GPU")?;
                Ok(devices.iter().map(|device| device.ordinal).take(MOST_GPUS).collect())
            }
            Self::These(numbers) => Ok(numbers.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_all_or_numbers_and_one_may_be_there_twice() {
        let parsed = |text: &str| text.parse::<Gpus>();
        assert_eq!(parsed("all"), Ok(Gpus::All));
        assert_eq!(parsed("3"), Ok(Gpus::These(vec![3])));
        assert_eq!(parsed("0,2,0"), Ok(Gpus::These(vec![0, 2, 0])));
        for text in ["", "some", "0,", "0-3", "-1", "0,all", "4294967296", "0 1"] {
            let refused = parsed(text).expect_err(text);
            assert!(refused.contains("all, or their numbers, as in 0,1"), "{text}: {refused}");
        }
    }

    #[test]
    fn more_gpus_than_work_together_are_refused_with_both_numbers() {
        let of = |count: usize| vec!["0"; count].join(",").parse::<Gpus>();
        assert!(of(MOST_GPUS).is_ok());
        let refused = of(MOST_GPUS + 1).expect_err("it is one too many");
        assert_eq!(refused, "33 GPUs are asked for, and 32 work together");
    }
}
