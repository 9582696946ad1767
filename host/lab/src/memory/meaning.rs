//! The meaning of the numbers of `gridsync lab memory`.

use super::Report as Memory;
use super::curve::NEARLY;
use super::latencies::{BARRIER_THREADS, L1, L2, Latency, OTHER_SHARED, SHARED, SHUFFLE, barrier};
use super::sizes::size;
use super::tables::kib;

/// Two numbers that differ by less than this count as equal, because launches differ by as much.
const SAME: f64 = 1.05;

/// Bytes per cycle of shared memory: 32 banks of 4 bytes (CUDA C++ Programming Guide, "Shared
/// Memory").
const SHARED_BYTES: f64 = 32.0 * 4.0;

/// The paragraphs below the tables.
pub(super) fn paragraphs(report: &Memory) -> Vec<String> {
    let arrays = report.arrays();
    let of_arrays = arrays
        .into_iter()
        .flat_map(|[small, large]| [waiting(report, small.cycles), addresses(small, large)]);
    let last = [lines(report), little(report), ceiling(report), banks(report)];
    of_arrays.chain(other_shared(report)).chain([together(report)]).chain(last).collect()
}

fn waiting(report: &Memory, memory: f64) -> String {
    let (l1, l2) = (report.cycles(L1), report.cycles(L2));
    format!(
        "A load that hits the L2 takes {:.1} times as long as one that hits the L1, and a load from \
         device memory {:.1} times as long as one that hits the L2. That is {memory:.0} cycles, and \
         each scheduler of the multiprocessor could issue an instruction in each of them. So there \
         must be other loads to wait for meanwhile: of other warps, or more than one of each thread.",
        l2 / l1,
        memory / l2
    )
}

fn addresses(small: &Latency, large: &Latency) -> String {
    let ratio = large.cycles / small.cycles;
    let (of_small, of_large) = (size(small.bytes), size(large.bytes));
    if ratio > SAME {
        format!(
            "In {of_large} a load takes {ratio:.2} times as long as in {of_small}, although neither \
             fits in the L2. The rest is the way to the address: the tables that translate it (the TLB) \
             hold only some of the pages."
        )
    } else {
        format!(
            "In {of_large} a load takes {ratio:.2} times as long as in {of_small}: to translate the \
             addresses of the larger array (the TLB) costs next to nothing."
        )
    }
}

fn other_shared(report: &Memory) -> Option<String> {
    let other = report.latency(OTHER_SHARED)?.cycles;
    let (of_own, of_l2) = (other / report.cycles(SHARED), other / report.cycles(L2));
    let verdict = if of_l2 < 1.0 / SAME {
        "so blocks of a cluster reach each other faster than through the L2"
    } else {
        "so for one word the way through the L2 is no longer"
    };
    Some(format!(
        "The shared memory of another multiprocessor (SM) of the cluster takes {of_own:.1} times as long \
         as the own one, and {of_l2:.2} times as long as the L2: {verdict}."
    ))
}

/// Synchronization operations.
fn together(report: &Memory) -> String {
    let l2 = report.cycles(L2);
    let of_l2 = |instruction| report.cycles(instruction) / l2;
    format!(
        "Threads meet fast within a block: a barrier of {BARRIER_THREADS} threads takes {:.0} cycles, a \
         shuffle {:.0}. Between blocks all goes through the L2: an atomic addition with its result takes \
         {:.2} times as long as a load from there, and a fence of the device with no store in flight \
         {:.2} times.",
        report.cycles(&barrier()),
        report.cycles(SHUFFLE),
        of_l2("atom.relaxed.gpu.global.add.u32"),
        of_l2("fence.acq_rel.gpu"),
    )
}

fn lines(report: &Memory) -> String {
    let lines = &report.l2_lines;
    let (first, ratio, correlation) = (&lines.from_one, lines.ratio(), lines.correlation);
    if ratio <= SAME {
        return format!(
            "All lines of the L2 are about as far: the slow ones take {ratio:.2} times as long as the \
             fast ones."
        );
    }
    let groups = format!(
        "Lines of the L2 are near or far: from one multiprocessor {:.0} % of them take about {:.0} cycles, \
         and the others about {:.0}, {ratio:.2} times as long.",
        100.0 - first.slow_percent,
        first.fast_cycles,
        first.slow_cycles,
    );
    let place = match correlation {
        c if c < -0.3 => {
            "there mostly the other lines are the slow ones. So it is the way that differs, not the line"
        }
        c if c < 0.3 => "there, it is hardly related to these which lines are slow",
        _ => "there mostly the same lines are slow",
    };
    format!(
        "{groups} The multiprocessor whose latencies are least like these has a correlation of \
         {correlation:.2} with them: {place}."
    )
}

fn little(report: &Memory) -> String {
    let mut parts =
        vec!["Little's law: the bytes in flight are the rate × the latency.".to_owned()];
    let names = ["device memory", "the L2"].into_iter();
    for (name, (_, curve, ns)) in names.zip(report.curves()) {
        let rate = curve.best.gb_per_s;
        let law = curve.bytes_in_flight_by_littles_law;
        let nearly = curve.bytes_in_flight_for_90_percent as f64;
        parts.push(format!(
            "For {name}, {rate:.0} GB/s × {ns:.0} ns are {} KiB on each multiprocessor, and {:.0} % of \
             the best rate takes {} KiB, {:.1} times that.",
            kib(law),
            100.0 * NEARLY,
            kib(nearly),
            nearly / law
        ));
    }
    parts.push(
        "The latency is that of a memory with nothing else to do. The bytes in flight are tried in \
         steps of two, and are the most that there can be: a thread waits for the last of its loads \
         before it starts new ones."
            .to_owned(),
    );
    parts.join(" ")
}

fn ceiling(report: &Memory) -> String {
    let rate = report.device_memory.best.gb_per_s;
    let l2 = report.l2.best.gb_per_s / rate;
    let peak = match (report.peak_gb_per_s, report.device_memory_percent_of_peak) {
        (Some(peak), Some(percent)) => format!(
            "Clock and width of device memory allow {peak:.0} GB/s, and reading reaches {percent:.1} % of \
             that."
        ),
        _ => "The driver does not tell what clock and width of device memory allow.".to_owned(),
    };
    format!(
        "{peak} A kernel that reads each byte once from device memory can be compared with {rate:.0} \
         GB/s. The L2 gives {l2:.1} times as much."
    )
}

fn banks(report: &Memory) -> String {
    let shared = &report.shared_memory;
    let (one, all) = (shared.one.bytes_per_cycle, shared.all.bytes_per_cycle);
    let verdict = if one / all < SAME {
        "each reads as fast as one alone, since it shares nothing with the others"
    } else {
        "each is slower than one alone"
    };
    format!(
        "A multiprocessor reads {one:.1} bytes of shared memory in a cycle, {:.0} % of the {SHARED_BYTES:.0} \
         that 32 banks of 4 bytes can give. With all at work it is {all:.1}: {verdict}. Together they read \
         {:.0} times as fast as the L2 can give.",
        100.0 * one / SHARED_BYTES,
        shared.all.gb_per_s / report.l2.best.gb_per_s
    )
}
