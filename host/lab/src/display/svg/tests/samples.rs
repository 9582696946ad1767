//! The charts of the tests.

use super::super::*;

pub(super) fn axis(label: &str, ticks: &[&str]) -> Axis {
    Axis { label: label.into(), ticks: ticks.iter().map(ToString::to_string).collect() }
}

pub(super) fn heat_map() -> HeatMap {
    HeatMap {
        title: "Split barrier and grid.sync() <H200 & \"quotes\">".into(),
        x: axis("blocks", &["33", "66", "132", "264", "528"]),
        y: axis("threads of a block", &["32", "128", "256", "1024"]),
        values: vec![
            vec![Some(-24.0), Some(-22.1), Some(-17.0), Some(-17.2), Some(-29.3)],
            vec![Some(-22.4), Some(0.0), Some(3.5), Some(-1.0), Some(-28.0)],
            vec![Some(-22.4), Some(-22.1), Some(14.6), Some(-17.2), Some(-29.0)],
            vec![Some(-15.0), Some(-14.5), Some(-0.01), Some(29.3), None],
        ],
        unit: "% of grid.sync()".into(),
        faster: Faster::Below,
    }
}

pub(super) fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series::new(name, points.iter().copied())
}

pub(super) fn lines() -> Lines {
    Lines {
        title: "Crossing a grid barrier, 256 threads".into(),
        x_label: "blocks".into(),
        y_label: "µs per crossing".into(),
        log2_x: true,
        series: vec![
            Series {
                key: Role::Ours.named("split"),
                ..series("", &[(33.0, 0.8), (132.0, 0.845), (66.0, 0.791), (528.0, 0.902)])
            },
            Series::new(
                "phase",
                [
                    (33.0, Estimate::between(0.906, 0.85, 0.95)),
                    (132.0, 0.956.into()),
                    (528.0, Estimate::between(1.673, 1.5, 1.8)),
                ],
            ),
            Series { key: Role::Peer.named("grid.sync()"), ..series("", &[(132.0, 1.015)]) },
        ],
    }
}

pub(super) fn bounded() -> Lines {
    Lines {
        title: "Error of sums, and its bound".into(),
        x_label: "elements".into(),
        y_label: "error".into(),
        log2_x: true,
        series: vec![
            Series::bound("bound", [(1024.0, 1.2e-6), (1e6, 2.4e-6), (1.6e7, 2.5e-6)]),
            series("uniform", &[(1024.0, 1.5e-8), (1e6, 7e-8), (1.6e7, 2e-8)]),
            series("never off", &[]),
        ],
    }
}

pub(super) fn row(name: &str, values: &[Option<f64>]) -> Row {
    Row::new(name, values.iter().copied())
}

pub(super) fn bars() -> Bars {
    Bars {
        title: "What a block of 256 threads does to add up".into(),
        x_label: "times in a block".into(),
        note: "counted by the emulator".into(),
        series: ["additions of a warp", "bank conflicts", "barriers of the block"]
            .map(Into::into)
            .into(),
        rows: vec![
            row("1 one thread", &[Some(255.0), Some(0.0), Some(0.0)]),
            row("3 interleaved, with <gaps>", &[Some(36.0), Some(154.0), Some(8.0)]),
            row("12 shuffles", &[Some(13.5), None, Some(1.0)]),
        ],
        roof: None,
    }
}

pub(super) fn rates() -> Bars {
    Bars {
        title: "The sum of 268435456 f32 on an NVIDIA H200".into(),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec![Role::Ours.named("rate")],
        rows: vec![
            Row::new("1 one thread", [Some(Estimate::between(0.412, 0.25, 0.5))]),
            row("17 one launch with a grid barrier", &[Some(4489.3)]),
        ],
        roof: Some(("reading only".into(), 4512.0)),
    }
}

pub(super) fn cells() -> Cells {
    let row = |name: &str, cells: &[&str]| {
        let text = |text: &&str| (!text.is_empty()).then(|| text.to_string());
        CellRow { name: name.into(), cells: cells.iter().map(text).collect() }
    };
    Cells {
        title: "The lanes of each warp of a block of 5 × 2 threads".into(),
        x_label: "lane".into(),
        note: "the number is the row of the thread; pale: idle".into(),
        rows: vec![row("warp 0", &["0", "0", "0", "0"]), row("warp 1", &["0", "1", "1", ""])],
    }
}

/// Bins between edges, some of them long, with a note.
pub(super) fn columns() -> Columns {
    let edges = ["-inf", "0.0000001", "10", "<100>", "1234567.25"];
    Columns {
        title: "Histogram of 1000 f32".into(),
        x_label: "element".into(),
        y_label: "elements in a bin".into(),
        note: "elements in no bin: 3".into(),
        values: vec![0.0, 9.0, 90.0, 898.0],
        labels: Labels::Edges(edges.map(Into::into).into()),
    }
}

/// So many columns that few labels fit.
fn many_columns() -> Columns {
    let labels = (0..256).map(|number| format!("{number}..{}", number + 1));
    Columns {
        title: "Many columns".into(),
        values: (0..256).map(|number| f64::from(number * number)).collect(),
        labels: Labels::Columns(labels.collect()),
        ..columns()
    }
}

/// All charts used in the tests.
pub(super) fn charts() -> Vec<String> {
    let one_cell = HeatMap {
        title: "One".into(),
        x: axis("a label wider than its cell", &["1"]),
        y: axis("a label higher than its cell", &["1"]),
        values: vec![vec![Some(0.0)]],
        unit: "GB/s".into(),
        faster: Faster::Above,
    };
    let many = Lines {
        title: "Many series of a long title that is wider than the plot of the chart, and longer"
            .into(),
        x_label: "elements".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series: (0..7)
            .map(|n| {
                let points = [(1024.0, f64::from(n)), (f64::from(1 << 28), -4489.3)];
                series(&format!("design number {n}"), &points)
            })
            .collect(),
    };
    let linear = Lines { log2_x: false, ..lines() };
    [
        heat_map().svg(),
        one_cell.svg(),
        lines().svg(),
        linear.svg(),
        many.svg(),
        bounded().svg(),
        bars().svg(),
        rates().svg(),
        cells().svg(),
        columns().svg(),
        many_columns().svg(),
        layers().svg(),
        timelines().svg(),
    ]
    .map(|svg| svg.expect("a whole chart should be drawn"))
    .to_vec()
}

/// Three layers, with an edge past the middle one, and long names that need escapes.
pub(super) fn layers() -> Layers {
    let vertex = |name: &str, after: &[(usize, usize)], is_marked| Vertex {
        name: name.into(),
        after: after.to_vec(),
        is_marked,
    };
    Layers {
        title: "6 nodes in 3 levels".into(),
        note: "dark: the longest path, 41.5 µs of work".into(),
        layers: vec![
            vec![vertex("A", &[], true), vertex("<B> & \"b\"", &[], false)],
            vec![
                vertex("a name that is longer than the others", &[(0, 0)], true),
                vertex("D", &[(0, 0), (0, 1)], false),
                vertex("E", &[], false),
            ],
            vec![vertex("F", &[(1, 0), (1, 2), (0, 1)], true)],
        ],
    }
}

/// Two runs, one of which has overlapping bars; one bar is too short for its name.
pub(super) fn timelines() -> Timelines {
    let bar = |name: &str, begin, end| Bar { name: name.into(), begin, end };
    let run = |name: &str, bars: &[Bar]| Run { name: name.into(), bars: bars.to_vec() };
    Timelines {
        title: "When each node ran".into(),
        x_label: "µs after the first began".into(),
        runs: vec![
            run("one-stream", &[bar("A", 0.0, 20.3), bar("<B>", 22.0, 42.1), bar("C", 43.9, 64.0)]),
            run("graph", &[bar("A", 0.0, 20.3), bar("<B>", 0.4, 20.6), bar("C", 22.2, 22.5)]),
        ],
    }
}
