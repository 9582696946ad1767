//! Bandwidths by the number of elements.

use super::{Figure, rate};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::bench::plain_mode;
use gridsync_lab::display::svg::{ChartError, Estimate, Key, Lines, Role, Series};
use gridsync_lab::display::words::length;

/// The part of a suite that is drawn.
struct Drawn {
    suite: &'static str,
    op: &'static str,
    variant: &'static str,
    /// The ceiling, and its name in the figure.
    ceiling: [&'static str; 2],
    title: &'static str,
}

/// Sums.
pub(super) fn reduce(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let ceiling = ["read", "only reading"];
    by_length(
        of,
        &Drawn { suite: "reduce", op: "sum", variant: "tiles", ceiling, title: "Sums of f32" },
    )
}

/// Inclusive sums.
pub(super) fn scan(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let (ceiling, title) = (["copy", "only copying"], "Inclusive sums of f32");
    by_length(of, &Drawn { suite: "scan", op: "sum", variant: "auto", ceiling, title })
}

/// A selection of half of the elements.
pub(super) fn select(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let (ceiling, title) = (["copy", "only copying"], "Selection of f32, half is kept");
    by_length(of, &Drawn { suite: "select", op: "select", variant: "kept 50 %", ceiling, title })
}

/// The most lines of peers, limited by the number of colours.
const MOST_PEERS: usize = 2;

/// The type of the elements.
const DTYPE: &str = "f32";

fn by_length(of: &Of<'_>, drawn: &Drawn) -> Result<Vec<Figure>, ChartError> {
    let Drawn { suite, op, variant, ceiling: [ceiling, only], title } = drawn;
    let of_type = |records: Vec<_>| -> Vec<&Sourced<Record>> {
        let is_of_type = |record: &&Sourced<Record>| record.word("dtype") == Some(DTYPE);
        records.into_iter().filter(is_of_type).collect()
    };
    let (all, compared) = (of_type(of.suite(suite)), of_type(of.compared(suite)));
    let is_ours =
        |record: &&Sourced<Record>| record.variant == *variant && record.word("op") == Some(op);
    let ours = in_a_row(all.iter().copied().filter(is_ours));
    let roof = in_a_row(all.iter().copied().filter(|record| record.variant == *ceiling));
    let mut used = ours.clone();
    let mut series = vec![line(Role::Ours.named("gridsync"), &ours, rate)];
    let beside: Vec<_> = compared.into_iter().filter(is_ours).collect();
    let mut modes: Vec<_> = beside.iter().map(|record| record.word("peer_mode")).collect();
    modes.sort_unstable();
    modes.dedup();
    // The mode with the most measurements comes first, and calls of libraries, whose names have a dot,
    // come last.
    let lines = |mode| beside.iter().filter(|record| record.word("peer_mode") == mode).count();
    let is_of_library = |mode: &Option<&str>| mode.is_some_and(|mode| mode.contains('.'));
    modes.sort_by_key(|mode| (is_of_library(mode), std::cmp::Reverse(lines(*mode))));
    for mode in &modes {
        let of_mode = beside.iter().copied().filter(|record| record.word("peer_mode") == *mode);
        let of_mode = in_a_row(of_mode);
        let peer = of_mode.first().and_then(|record| record.peer.as_ref());
        let name = peer.map_or(String::new(), |peer| match mode.map(plain_mode) {
            Some(mode) if modes.len() > 1 && !peer.name.starts_with(mode) => {
                format!("{}, {}", peer.name, mode.replace('_', " "))
            }
            _ => peer.name.clone(),
        });
        let peer_rate = |record: &Record| record.peer_gb_per_s().map(Estimate::from);
        series.push(line(Role::Peer.named(name), &of_mode, peer_rate));
        used.extend(of_mode);
    }
    series.truncate(MOST_PEERS + 1);
    series.push(line(Role::Roof.named(*only), &roof, rate));
    series.retain(|line| !line.points.is_empty());
    if ours.is_empty() {
        return Ok(Vec::new());
    }
    used.extend(roof);
    let chart = Lines {
        title: (*title).to_owned(),
        x_label: "elements".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series,
    };
    let caption = format!(
        "Bytes that have to move, divided by the time of a call among many in a row, each on its own \
         input, which is in no cache. The longest inputs have one call.{}",
        of_the_roof(&chart.series)
    );
    let chart = (chart.svg()?, chart.csv());
    Ok(vec![of.figure(&format!("bandwidth-{suite}"), chart, caption, used)])
}

/// For each length, the record with the most calls in a row.
pub(super) fn in_a_row<'a>(
    records: impl Iterator<Item = &'a Sourced<Record>>,
) -> Vec<&'a Sourced<Record>> {
    let mut found: Vec<&Sourced<Record>> = records.collect();
    let key = |record: &Sourced<Record>, name| record.number(name).unwrap_or(0.0);
    found.sort_by(|a, b| {
        let lengths = key(a, "n").total_cmp(&key(b, "n"));
        lengths.then(key(b, "calls").total_cmp(&key(a, "calls")))
    });
    found.dedup_by_key(|record| key(record, "n") as u64);
    found
}

/// A line of rates.
fn line(
    key: Key,
    records: &[&Sourced<Record>],
    rate: impl Fn(&Record) -> Option<Estimate>,
) -> Series {
    Series::new(key, records.iter().filter_map(|record| Some((record.number("n")?, rate(record)?))))
}

/// A sentence with the percentage of the roof that each line reaches at the greatest length, or an
/// empty string without a roof. The last line is the roof.
fn of_the_roof(lines: &[Series]) -> String {
    let Some((roof, lines)) = lines.split_last() else { return String::new() };
    let last = roof.points.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((n, most)) = last.filter(|_| roof.key.role == Role::Roof) else {
        return String::new();
    };
    let part = |line: &Series| {
        let (_, rate) = line.points.iter().find(|(x, _)| x == n)?;
        Some(format!("{} {:.0} %", line.key.name, 100.0 * rate.value / most.value))
    };
    let parts: Vec<_> = lines.iter().filter_map(part).collect();
    format!(" Percentage of {} with {} elements: {}.", roof.key.name, length(*n), parts.join(", "))
}
