//! The shape of a block on the command line.

use cuda_std::Dim3;
use std::str::FromStr;

/// The most threads of a block (CUDA C++ Programming Guide, "Technical Specifications").
const MOST_THREADS: u64 = 1024;
/// The most threads along z (the same table).
const MOST_ALONG_Z: u32 = 64;

/// The shape of a block that every GPU can launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(pub(super) Dim3);

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Option<Vec<u32>> = text.split(',').map(|part| part.parse().ok()).collect();
        let block = match extents.as_deref() {
            Some(&[x]) => Dim3::new(x, 1, 1),
            Some(&[x, y]) => Dim3::new(x, y, 1),
            Some(&[x, y, z]) => Dim3::new(x, y, z),
            _ => return Err("a block is X, X,Y or X,Y,Z: 40,2 for example".into()),
        };
        let extents = [block.x, block.y, block.z];
        if extents.contains(&0) {
            return Err("there would be no thread: use 1 or more along x, y and z".into());
        }
        if block.z > MOST_ALONG_Z {
            let z = block.z;
            return Err(format!("{z} threads along z are more than the limit of {MOST_ALONG_Z}"));
        }
        let threads = extents.into_iter().try_fold(1u64, |n, extent| n.checked_mul(extent.into()));
        match threads {
            Some(..=MOST_THREADS) => Ok(Self(block)),
            _ => {
                let threads = threads.map_or("2^64 or more".into(), |threads| threads.to_string());
                Err(format!(
                    "{threads} threads are more than the limit of {MOST_THREADS} for a block"
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_one_to_three_extents() {
        let block = |text: &str| text.parse::<Block>().map(|block| block.0);
        assert_eq!(block("1024"), Ok(Dim3::new(1024, 1, 1)));
        assert_eq!(block("40,2"), Ok(Dim3::new(40, 2, 1)));
        assert_eq!(block("4,4,64"), Ok(Dim3::new(4, 4, 64)));
        for text in ["", "4,", "1,1,1,1", "x", "-1", "4 2"] {
            let refused = block(text).expect_err(text);
            assert!(refused.contains("40,2"), "{refused}");
        }
    }

    #[test]
    fn a_block_that_no_gpu_can_launch_is_refused_with_the_limit() {
        for (text, part) in [
            ("1024,2", "2048 threads are more than the limit of 1024"),
            ("1,1,65", "limit of 64"),
            ("0", "1 or more"),
            ("32,0", "1 or more"),
            ("4294967295,4294967295,64", "2^64 or more"),
        ] {
            let refused = text.parse::<Block>().expect_err(text);
            assert!(refused.contains(part), "{refused}");
        }
    }
}
