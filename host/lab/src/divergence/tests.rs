use super::report::Divergence;
use super::{CountedByWarps, Dealt, Kernel, MATH, Paths, WAYS};
use crate::experiment::committed;
use crate::{Report, Samples};

/// As on a GPU where `ways` paths take `ways` times as long as one.
fn on_a_gpu() -> Divergence {
    let samples = |median| Samples { median, min: median, max: median, samples: 7 };
    let kernels = MATH.iter().map(|math| Kernel {
        kernel: math.name.into(),
        condition: math.condition.into(),
        ptx_branches: 0,
        ptx_branches_with_loops: 3,
        instructions: 4096,
        branches: 2048,
        diverged: 1024,
        efficiency: 50.0,
        sectors: 8192,
        least_sectors: 8192,
        counted_by_warps: CountedByWarps { branches: 2048, diverged: 1024 },
        us: Some(samples(2.5)),
        us_with_loops: Some(samples(250.0)),
        wrong: 0,
    });
    let paths = WAYS.into_iter().flat_map(|paths| {
        [(Dealt::Lanes, 1.0), (Dealt::Warps, 0.0)].map(|(dealt_to, slope)| {
            let cycles = Some(samples(40.0 * (1.0 + slope * f64::from(paths - 1))));
            Paths { paths, dealt_to, loop_branches: 1.0, cycles, wrong: 0 }
        })
    });
    Divergence {
        device: "a GPU".into(),
        block: 64,
        blocks: 1024,
        compute: 90,
        first_launch_us: Some(30_000.0),
        kernels: kernels.collect(),
        paths: paths.collect(),
        later_launch_us: Some(2.5),
    }
}

#[test]
fn a_gpu_page_has_times_and_cycles_in_80_columns() {
    let page = on_a_gpu().page();
    let text = page.text(false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["as written (µs)", "250.0", "30000 µs", "1280.0"] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    let row = text.lines().find(|line| line.starts_with("32 ")).expect("a row of 32 paths");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells, ["32", "1280.0", "1280.0", "32.00", "40.0", "1.00", "1", "1"]);
    assert_eq!(page.into_files_and_wrong().1, None);
}

#[test]
fn a_committed_result_keeps_its_json_and_is_drawn_with_ranges() {
    let report: Divergence = committed("2026-11-23-nvidia-h200/lab-divergence.json");
    let charts = report.charts().expect("the chart is complete");
    assert_eq!(charts[0].file(), "divergence.svg");
    assert!(charts[0].csv.contains("dealt to lanes,2,2."), "{}", charts[0].csv);
}

#[test]
fn wrong_results_are_reported() {
    let wrong = |break_it: fn(&mut Divergence)| {
        let mut report = on_a_gpu();
        break_it(&mut report);
        report.page().into_files_and_wrong().1.expect("it is wrong")
    };
    let element = wrong(|report| report.kernels[5].wrong = 3);
    assert!(element.contains("math4 in C wrote 3 wrong elements"), "{element}");
    let count = wrong(|report| report.kernels[0].counted_by_warps.diverged = 1023);
    assert!(count.contains("1023") && count.contains("1024"), "{count}");
    let branch = wrong(|report| report.kernels[1].ptx_branches = 1);
    assert!(branch.contains("math2") && branch.contains("1 and 3"), "{branch}");
    let path = wrong(|report| report.paths[11].wrong = 32);
    assert!(path.contains("32 threads") && path.contains("32 paths"), "{path}");
}
