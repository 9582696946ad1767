//! The meaning of the numbers of `gridsync lab atomics`, worded depending on the numbers.

use super::report::of_target;
use super::{Cost, Counted, Target};
use crate::display::Page;
use crate::display::words::{and, three_digits};

/// If one address needs less than this part of a clock per addition, additions were combined on the
/// way. Half a clock leaves room for a different clock of the L2.
const COMBINED: f64 = 0.5;

/// Explains the rates of a GPU.
pub(super) fn of_rates(page: &mut Page, costs: &[Cost], mhz: f64) {
    let find = |target, with_result| Rates::of(of_target(costs, target, with_result));
    let one = find(Target::Grid, false);

    let clocks = Rates(one.0.iter().map(|&(name, rate)| (name, mhz / 1e3 / rate)).collect());
    page.means(format!(
        "The L2, which all multiprocessors share, does the atomics on device memory. Additions to \
         one address are done one after the other (CUDA C++ Programming Guide, \"SIMT \
         Architecture\"). From one to the next the single address took {} clocks, at a clock of \
         {mhz:.0} MHz.",
        clocks.list(),
    ));
    let combined: Vec<_> = clocks.0.iter().filter(|&&(_, clocks)| clocks < COMBINED).collect();
    page.means(if combined.is_empty() {
        "No type took less than half a clock, so nothing shows that the hardware combined the \
         additions of a warp."
            .to_owned()
    } else {
        format!(
            "Less than half a clock means that the hardware combined additions before they came to \
             the address: those of {}.",
            and(combined.iter().map(|(name, _)| (*name).to_owned()).collect()),
        )
    });

    let times = |target| find(target, false).over(&one).list();
    page.means(format!(
        "More addresses: with one for each block, the additions were {} times as fast as with one \
         for all, with one for each warp {}, with one for each lane {}, and with a line for each \
         lane {}.",
        times(Target::Block),
        times(Target::Warp),
        times(Target::Lane),
        times(Target::LaneLine),
    ));
    page.means(format!(
        "Neighbouring words for the lanes of a warp were {} times as fast as words in lines of \
         their own, for which the L2 has to find 32 sectors.",
        find(Target::Lane, false).over(&find(Target::LaneLine, false)).list(),
    ));
    page.means(format!(
        "The cures, which leave one sum at one address: shared memory first was {} times as fast \
         as adding to that address, and warp first {}. In shared memory, ptxas has an addition for \
         u32 alone: for the other types it writes a loop around a compare-and-swap.",
        times(Target::SharedFirst),
        times(Target::WarpFirst),
    ));
    let result = |target| find(target, true).over(&find(target, false)).list();
    page.means(format!(
        "With the result used, each number has to come back to its thread. That was {} times as \
         fast as without at one address, and {} with one for each lane.",
        result(Target::Grid),
        result(Target::Lane),
    ));
    page.means(
        "These kernels compute each address. Where a compiler sees that all threads add to one \
         address, it may combine the additions of a warp itself, as ptxas does for u32.",
    );
}

/// Explains the counts of the emulator.
pub(super) fn of_counts(page: &mut Page, costs: &[Cost]) {
    let counted = |target| of_target(costs, target, false).find_map(Cost::counted);
    let of = |target, of: fn(&Counted) -> f64| counted(target).map_or(0.0, of).to_string();
    let sectors = |target| of(target, |counted| counted.sectors);
    page.means(format!(
        "An addition of a warp is one instruction, wherever its lanes go. What differs are the \
         sectors of 32 bytes that the L2 has to find for it. For u32: {} if all lanes add to one \
         address, {} if each has the word next to the last one's, and {} if each has a line of its \
         own.",
        sectors(Target::Grid),
        sectors(Target::Lane),
        sectors(Target::LaneLine),
    ));
    page.means(format!(
        "The cures, for u32: shared memory first needs {} accesses to device memory in its rounds, \
         and after them one for each block. Warp first needs {} shuffles, and one lane then adds \
         for 32.",
        of(Target::SharedFirst, |counted| counted.global_accesses),
        of(Target::WarpFirst, |counted| counted.shuffles),
    ));
    page.means(
        "Additions to one address wait for each other. How long, only a GPU can tell: the emulator \
         counts, and does not time.",
    );
}

/// A number for each type.
struct Rates<'a>(Vec<(&'a str, f64)>);

impl<'a> Rates<'a> {
    fn of(costs: impl Iterator<Item = &'a Cost>) -> Self {
        let rates = costs.filter_map(|cost| Some((&*cost.dtype, cost.rate()?.additions_per_ns)));
        Self(rates.collect())
    }

    /// These, each divided by the number of `other` for the same type.
    fn over(&self, other: &Rates<'_>) -> Self {
        let pairs = self.0.iter().zip(&other.0);
        Self(pairs.map(|(&(name, rate), &(_, other))| (name, rate / other)).collect())
    }

    /// `1.00 (u32), 0.52 (u64) and 2.00 (f32)`.
    fn list(&self) -> String {
        let each = self.0.iter().map(|&(name, rate)| format!("{} ({name})", three_digits(rate)));
        and(each.collect())
    }
}
