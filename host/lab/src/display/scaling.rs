//! The speedup of several GPUs over one.

use super::svg::{Estimate, Lines, Role, Series};

/// A time on several GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Name of the operation.
    pub what: String,
    /// Number of GPUs.
    pub gpus: f64,
    /// Elements of the whole array.
    pub n: f64,
    /// Time in µs.
    pub us: Estimate,
}

/// The chart of these times: the work that several GPUs do in the time that one GPU needs, relative
/// to the work of that one GPU. The length is the greatest one measured on one GPU; one line is for
/// this length on all GPUs together (strong scaling), another for this length on each GPU (weak
/// scaling). Without a time on one GPU the chart has no lines.
#[must_use]
pub fn scaling_chart(times: &[Scaled]) -> Lines {
    let alone = times.iter().filter(|time| time.gpus == 1.0);
    let n = alone.clone().map(|time| time.n).fold(0.0, f64::max);
    let one: Vec<&Scaled> = alone.filter(|time| time.n == n).collect();
    let mut series: Vec<Series> = Vec::new();
    for (name, grows) in [("", false), (", so many on each", true)] {
        for one in &one {
            let same = times.iter().filter(|time| time.what == one.what);
            let same = same.filter(|time| time.n == if grows { n * time.gpus } else { n });
            let gain = |time: &Scaled| time.us.map(|us| time.n / n * one.us.value / us);
            let points: Vec<_> = same.map(|time| (time.gpus, gain(time))).collect();
            // One GPU alone is in the line of the fixed length.
            if !grows || points.len() > 1 {
                series.push(Series::new(format!("{}{name}", one.what), points));
            }
        }
    }
    if !series.is_empty() {
        // A point for each number of GPUs, because the axis is logarithmic.
        let mut gpus: Vec<f64> = times.iter().map(|time| time.gpus).collect();
        gpus.sort_by(f64::total_cmp);
        gpus.dedup();
        series.push(Series::new(Role::Roof.named("as many"), gpus.iter().map(|&n| (n, n))));
    }
    Lines {
        title: format!("{} f32 over several GPUs", elements(n)),
        x_label: "GPUs".into(),
        y_label: "times the work of one GPU".into(),
        log2_x: true,
        series,
    }
}

/// A number of elements, as a power of two if it is one.
fn elements(n: f64) -> String {
    match n.log2() {
        exponent if exponent.fract() == 0.0 => format!("2^{exponent}"),
        _ => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(what: &str, gpus: f64, n: f64, us: f64) -> Scaled {
        Scaled { what: what.into(), gpus, n, us: us.into() }
    }

    #[test]
    fn strong_and_weak_scaling_use_the_greatest_length_on_one_gpu() {
        let chart = scaling_chart(&[
            time("sum", 1.0, 512.0, 5.0),
            time("sum", 1.0, 1024.0, 10.0),
            time("sum", 2.0, 512.0, 4.0),
            time("sum", 2.0, 1024.0, 8.0),
            time("sum", 2.0, 2048.0, 10.0),
            time("sum", 4.0, 1024.0, 4.0),
            time("scan", 1.0, 1024.0, 9.0),
        ]);
        assert_eq!(chart.title, "2^10 f32 over several GPUs");
        let expected = [
            Series::new("sum", [(1.0, 1.0), (2.0, 1.25), (4.0, 2.5)]),
            Series::new("scan", [(1.0, 1.0)]),
            Series::new("sum, so many on each", [(1.0, 1.0), (2.0, 2.0)]),
            Series::new(Role::Roof.named("as many"), [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]),
        ];
        assert_eq!(chart.series, expected);
    }

    #[test]
    fn chart_without_a_time_on_one_gpu_has_no_lines() {
        assert_eq!(scaling_chart(&[time("sum", 2.0, 512.0, 4.0)]).series, []);
        assert_eq!(elements(1000.0), "1000");
    }
}
