//! How the threads of a block are numbered and split into warps, as each thread reports it.

use cuda_std::Dim3;
use gridsync::device::{Device, DeviceError, Geometry, KernelInfo};
use gridsync_lab_kernels::threads::{WORDS, threads_numbers};

/// Lanes of a warp.
pub const LANES: u32 = cuda_std::warp::WARP_SIZE;

/// Report of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its position in the block.
    pub position: Dim3,
    /// Its linear number, as the kernel computes it.
    pub number: u32,
    /// The linear number of lane 0 of its warp, as reported by that lane.
    pub first: u32,
    /// Its lane.
    pub lane: u32,
}

/// Reports of the threads of a block, and their registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The shape of the block.
    pub block: Dim3,
    /// A record for each thread, ordered by linear number.
    pub records: Vec<Record>,
    /// Registers of each lane. `None` in the emulator, which has no registers.
    pub registers: Option<u32>,
}

/// Launches one block and collects the reports of its threads.
///
/// # Errors
/// [`DeviceError::BadBlock`] if the block is too large; or if the device fails.
pub fn numbered(device: &Device, block: Dim3) -> Result<Numbered, DeviceError> {
    let words = device.zeroed::<u32>(block.volume() as usize * WORDS)?;
    // SAFETY: there is one block, and a record for each of its threads. The buffer lives until the
    // download.
    unsafe { device.launch::<threads_numbers>(&Geometry::new(1, block), (words.view(),)) }?;
    let words = words.download()?;
    let record = |word: &[u32]| Record {
        position: Dim3::new(word[0], word[1], word[2]),
        number: word[3],
        first: word[4],
        lane: word[5],
    };
    let registers = match device.properties().is_emulated() {
        true => None,
        false => Some(device.backend().attributes(&KernelInfo::of::<threads_numbers>())?.registers),
    };
    Ok(Numbered { block, records: words.chunks_exact(WORDS).map(record).collect(), registers })
}

/// The record of thread `number` of `block` by the formula: the number is x + y·X + z·X·Y, the warp
/// is number / 32, and the lane is number % 32.
#[must_use]
pub fn expected(block: Dim3, number: u32) -> Record {
    let row = number / block.x;
    Record {
        position: Dim3::new(number % block.x, row % block.y, row / block.y),
        number,
        first: number / LANES * LANES,
        lane: number % LANES,
    }
}

impl Numbered {
    /// The first thread whose record differs from the formula.
    #[must_use]
    pub fn wrong(&self) -> Option<Record> {
        let numbered = self.records.iter().zip(0..);
        numbered
            .filter(|(record, number)| **record != expected(self.block, *number))
            .map(|(record, _)| *record)
            .next()
    }

    /// Threads of the block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.block.volume() as u32
    }

    /// Warps of the block.
    #[must_use]
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES)
    }

    /// Lanes of these warps that have no thread.
    #[must_use]
    pub fn idle(&self) -> u32 {
        self.warps() * LANES - self.threads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_numbers_x_first_then_y_then_z() {
        let block = Dim3::new(5, 3, 4);
        let mut number = 0;
        for z in 0..4 {
            for y in 0..3 {
                for x in 0..5 {
                    let position = Dim3::new(x, y, z);
                    let (first, lane) = (number / 32 * 32, number % 32);
                    let record = Record { position, number, first, lane };
                    assert_eq!(expected(block, number), record);
                    assert_eq!(block.linear(position), u64::from(number));
                    number += 1;
                }
            }
        }
    }

    #[test]
    fn a_wrong_record_is_found() {
        let block = Dim3::new(40, 2, 1);
        let records = (0..80).map(|number| expected(block, number)).collect();
        let mut numbered = Numbered { block, records, registers: None };
        assert_eq!((numbered.warps(), numbered.idle()), (3, 16));
        assert_eq!(numbered.wrong(), None);
        numbered.records[33].lane = 0;
        assert_eq!(numbered.wrong(), Some(numbered.records[33]));
    }
}
