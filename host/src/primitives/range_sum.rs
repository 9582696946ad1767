//! Sums of any ranges of an array: one scan, and then one subtraction per range.

use super::scan::{Form, Scanner};
use super::{PartError, RangeSummable, ScanCheck};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::memory::NoRoom;
use crate::reference;
use bytemuck::Pod;
use gridsync_entries::range_sum::RangeSumNumber;
use gridsync_kernels::op::Operation;
use std::marker::PhantomData;

/// Threads per block; each processes one query.
const THREADS: u32 = 256;

/// Bytes of a query. The kernel reads one at once, so they begin at a multiple of this.
const QUERY: u64 = 16;

/// A query that is not a range of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "query {query}: {from}..{to} is not a valid range of {len} elements: from ≤ to ≤ {len} must hold"
)]
pub struct BadRange {
    /// The index of the query, starting at 0.
    pub query: usize,
    /// Start of the range.
    pub from: u64,
    /// End of the range.
    pub to: u64,
    /// Length of the array.
    pub len: usize,
}

/// Why the sums could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RangeSumError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The host has too little memory for the sums and its working data.
    #[error(transparent)]
    Memory(#[from] NoRoom),
    /// The first query that is not a range of the array.
    #[error(transparent)]
    BadRange(#[from] BadRange),
}

impl From<PartError> for RangeSumError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Device(error) => error.into(),
            PartError::Memory(error) => error.into(),
        }
    }
}

/// The sums of the ranges `queries`, each `[from, to]` for the elements from..to, of `input`, on
/// all cores of the CPU, with the same bits as on a device.
///
/// # Errors
/// The first query that is not a range of the input.
pub fn range_sums_on_cpu<O: RangeSummable>(
    op: O,
    input: &[O::Element],
    queries: &[[u64; 2]],
) -> Result<Vec<O::Output>, BadRange> {
    reference::range_sums(op, input, queries)
        .map_err(|query| BadRange::of(query, queries[query], input.len()))
}

impl BadRange {
    /// The error of query `query`, if `[from, to]` is not a range of `len` elements.
    #[must_use]
    pub fn of(query: usize, [from, to]: [u64; 2], len: usize) -> Self {
        Self { query, from, to, len }
    }
}

/// The prefix sums of an array, kept on the device. The sum of a range is the difference of two of
/// them.
///
/// Integers are summed in 64 bits and wrap around there; if the sum of a range fits, it is correct,
/// even if intermediate sums have wrapped. A floating-point sum is as accurate as the two sums that
/// it is the difference of: its error is at most γ·(Σ|x| up to `from` + Σ|x| up to `to`), where γ =
/// d·u/(1 − d·u), u is half the machine epsilon, and d is the [depth](reference::scan_depth) of the
/// scan and one more. That is the rounding of *all* elements up to the range's end, not of the
/// range: use f64 for f32. The sums of ranges that start after an infinity or a NaN, or where
/// intermediate sums overflow, are NaN.
pub struct RangeSums<O: Operation> {
    prefixes: Buffer<O::Output>,
    /// 2^64 − 1 minus the index of the first invalid query; 0 if all are valid.
    bad: Buffer<u64>,
    operation: PhantomData<O>,
}

impl<O: RangeSummable> RangeSums<O>
where
    O::Element: Pod,
    O::Output: Pod,
{
    /// Scans `input` on `device`, once: 4 or 8 bytes per element stay there.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if the input is not on this device, and if the scan fails.
    pub fn new(device: &Device, input: &Buffer<O::Element>) -> Result<Self, DeviceError> {
        let mut prefixes = device.alloc(input.len())?;
        let mut scanner = Scanner::new(O::default(), device, input.len())?;
        scanner.launch(input, &mut prefixes, Form::Inclusive)?;
        Self::from_prefixes(prefixes)
    }

    /// The sums of ranges of an array that has already been scanned: `prefixes` are the results of
    /// its inclusive scan.
    ///
    /// # Errors
    /// If the device fails.
    pub fn from_prefixes(prefixes: Buffer<O::Output>) -> Result<Self, DeviceError> {
        Ok(Self { bad: prefixes.device().zeroed(1)?, prefixes, operation: PhantomData })
    }

    /// Makes the driver compile the kernel for queries now instead of at the first launch.
    ///
    /// # Errors
    /// As for [`Device::compile`].
    pub fn compile(&self) -> Result<(), DeviceError> {
        self.device().compile::<<O::Output as RangeSumNumber>::Kernel>()
    }

    /// The device that the sums are on.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.prefixes.device()
    }

    /// Submits one launch that writes the sum of each query to `sums`. A query is two words, `from`
    /// and `to`. An empty range gets 0, or −0 in floating point (see [`settle_empty`]). An invalid
    /// query gets 0, and [`first_bad`](Self::first_bad) reports it.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if there are not two words per sum,
    /// [`DeviceError::OtherDevice`] if a buffer is not on this device,
    /// [`DeviceError::Misaligned`] if the queries do not begin at a multiple of 16 bytes, and if the
    /// launch fails.
    pub fn launch(
        &mut self,
        queries: &Buffer<u64>,
        sums: &mut Buffer<O::Output>,
    ) -> Result<(), DeviceError> {
        self.device().expect_own(queries)?;
        self.device().expect_own(sums)?;
        if queries.len() != 2 * sums.len() {
            return Err(DeviceError::LengthMismatch {
                buffer: 2 * sums.len(),
                given: queries.len(),
            });
        }
        if !queries.address().is_multiple_of(QUERY) {
            let address = queries.address();
            return Err(DeviceError::Misaligned { address, alignment: QUERY });
        }
        self.bad.zero()?;
        if sums.is_empty() {
            return Ok(());
        }
        let blocks = sums.len().div_ceil(THREADS as usize) as u32;
        let geometry = Geometry::new(blocks, THREADS);
        let args = O::Output::arguments((
            self.prefixes.view(),
            queries.view(),
            sums.view(),
            self.bad.view(),
        ));
        // SAFETY: one thread per query, two words per sum, and the queries start at a multiple of 16
        // bytes; the kernel reads no prefix outside the array; the sums and the word are borrowed
        // exclusively, and a dropped buffer waits for the stream.
        unsafe { self.device().launch::<<O::Output as RangeSumNumber>::Kernel>(&geometry, args) }
    }

    /// The first invalid query of the last launch, which must have been for `queries`, if there is
    /// one. Waits for the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn first_bad(&self, queries: &Buffer<u64>) -> Result<Option<BadRange>, DeviceError> {
        let word = self.bad.download()?[0];
        if word == 0 {
            return Ok(None);
        }
        let query = !word as usize;
        let words = queries.download_part(2 * query..2 * query + 2)?;
        let range = [words[0], words[1]];
        Ok(Some(BadRange::of(query, range, self.prefixes.len())))
    }

    /// The sums of the ranges `queries`, each `[from, to]` for the elements from..to.
    ///
    /// # Errors
    /// [`RangeSumError::BadRange`] for the first query that is not a range of the array, and if the
    /// device fails.
    pub fn query(&mut self, queries: &[[u64; 2]]) -> Result<Vec<O::Output>, RangeSumError> {
        let words = self.device().upload(queries.as_flattened())?;
        let mut sums = self.device().alloc(queries.len())?;
        self.launch(&words, &mut sums)?;
        match self.first_bad(&words)? {
            Some(bad) => Err(bad.into()),
            None => {
                let mut sums = sums.download()?;
                settle_empty(queries, &mut sums);
                Ok(sums)
            }
        }
    }
}

/// Sets the sum of each empty range to 0, like an empty sum in NumPy. The kernels give −0 in
/// floating point, the identity of addition.
pub fn settle_empty<A: Default>(queries: &[[u64; 2]], sums: &mut [A]) {
    for (_, sum) in queries.iter().zip(sums).filter(|([from, to], _)| from == to) {
        *sum = A::default();
    }
}

/// Compares `sums`, of the ranges `queries` of `input`, with the reference, which adds the elements
/// sequentially. Returns the first wrong sum; or, if all are correct, the one whose error is the
/// largest fraction of its bound. `None` if there are no sums.
///
/// # Panics
/// If the numbers of sums and queries differ, if a query is not a range of the input, or if there
/// is too little memory for the values at the ends of the ranges.
pub fn check_range_sums<O: RangeSummable>(
    op: O,
    input: &[O::Element],
    queries: &[[u64; 2]],
    sums: &[O::Output],
) -> Option<ScanCheck<O::Output>> {
    let checking = op.checking_ranges(queries, reference::scan_depth::<O>(input.len()));
    let mut checking = checking.unwrap_or_else(|no_room| panic!("{no_room}"));
    checking.next(input);
    checking.check(sums)
}
