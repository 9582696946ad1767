use super::*;
use gridsync_lab::bench::Spread;
use simt::Counts;

/// As on a GPU where `ways` paths take `ways` times as long as one.
fn on_a_gpu() -> Results {
    let spread =
        |median| Spread { median, quartile_range: 0.0, min: median, max: median, samples: 7 };
    let counts = Counts { branches: 2048, diverged_branches: 1024, ..Counts::default() };
    let times = Times { written: spread(2.5), looped: spread(250.0) };
    let maths = MATH.map(|math| math::Found {
        math,
        counts,
        counted: [2048, 1024],
        wrong: 0,
        times: Some(times),
    });
    let deals = [(Deal::Lanes, 1.0), (Deal::Warps, 0.0)];
    let costs = WAYS.into_iter().flat_map(|ways| {
        deals.map(|(deal, slope)| {
            let cycles = 40.0 * (1.0 + slope * f64::from(ways - 1));
            let cycles = Some(spread(cycles));
            Cost { ways, deal, instructions: 1.0, cycles, wrong: 0 }
        })
    });
    Results {
        device: "a GPU".into(),
        setup: Setup::of(64, 1 << 16),
        compute: 90,
        branches: vec![Branches { written: 0, looped: 3 }; MATH.len()],
        maths: maths.to_vec(),
        warm_up: Some((30_000.0, 2.5)),
        costs: costs.collect(),
    }
}

fn shown(results: &Results) -> Found {
    let device = "auto".parse().expect("a device");
    page(results).found(&Global { device, json: false, quiet: false, verbose: false })
}

#[test]
fn a_gpu_page_has_times_and_cycles_in_80_columns() {
    let shown = shown(&on_a_gpu());
    let text = &shown.text;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["as written (µs)", "250.0", "30000 µs", "1280.0"] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    let row = text.lines().find(|line| line.starts_with("32 ")).expect("a row of 32 paths");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells, ["32", "1280.0", "1280.0", "32.00", "40.0", "1.00", "1", "1"]);
    assert_eq!(shown.wrong, None);
    assert_eq!(shown.json["paths"][10]["cycles"]["median"], 1280.0);
}

#[test]
fn wrong_results_are_reported() {
    let wrong = |break_it: fn(&mut Results)| {
        let mut results = on_a_gpu();
        break_it(&mut results);
        shown(&results).wrong.expect("it is wrong")
    };
    let element = wrong(|results| results.maths[5].wrong = 3);
    assert!(element.contains("math4 in C wrote 3 wrong elements"), "{element}");
    let count = wrong(|results| results.maths[0].counted[1] = 1023);
    assert!(count.contains("1023") && count.contains("1024"), "{count}");
    let branch = wrong(|results| results.branches[1].written = 1);
    assert!(branch.contains("math2") && branch.contains("1 and 3"), "{branch}");
    let path = wrong(|results| results.costs[11].wrong = 32);
    assert!(path.contains("32 threads") && path.contains("32 paths"), "{path}");
}
