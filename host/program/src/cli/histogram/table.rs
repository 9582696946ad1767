//! Counts as lines of text.

/// The most rows of a table.
pub(super) const MOST_ROWS: usize = 32;

/// Characters of the bar of the greatest count.
const WIDEST: u64 = 40;

/// A row for each bin: its label, its count, and a bar whose length is the count's share of the
/// greatest one, rounded up.
pub(super) fn table(labels: &[String], counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let width = most.to_string().len();
    let row = |(label, &count): (&String, &u64)| {
        let bar = "#".repeat((count * WIDEST).div_ceil(most) as usize);
        format!("{label}  {count:>width$} {bar}").trim_end().to_owned()
    };
    labels.iter().zip(counts).map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_count_has_the_widest_bar_and_0_none() {
        let labels = ["a", "b", "c"].map(str::to_owned);
        let widest = "#".repeat(40);
        assert_eq!(table(&labels, &[0, 400, 1]), format!("a    0\nb  400 {widest}\nc    1 #"));
        assert_eq!(table(&labels[..1], &[0]), "a  0");
    }
}
