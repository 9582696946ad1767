//! Tests of the parts of the page that text shows.

use super::*;
use crate::records::Source;
use gridsync_lab::ladder::sums::NO_INTEGER_RUNG;
use serde_json::{Value, json};
use std::sync::Arc;

/// A record of `suite`, with a peer of median `peer`.
fn record(suite: &str, variant: &str, params: Value, median: f64, peer: Option<f64>) -> Value {
    json!({
        "suite": suite, "variant": variant, "device": "a GPU", "params": params,
        "median": median, "min": median, "max": median, "samples": 7,
        "peer": peer.map(|median| json!({ "name": "peer", "median": median })),
    })
}

fn runs(records: &[Value]) -> Runs {
    let source = Arc::new(Source { path: "runs.jsonl".into(), date: None });
    let sourced = |value: &Value| Sourced {
        what: serde_json::from_value(value.clone()).expect("a record"),
        source: source.clone(),
    };
    Runs { records: records.iter().map(sourced).collect(), ..Runs::default() }
}

/// The figures drawn from these records: file names, captions and charts.
fn figures(records: &[Value]) -> Vec<(String, String, String)> {
    let runs = runs(records);
    let chapter = Chapter::of(&runs, "a GPU").expect("whole charts");
    let figures = chapter.groups.into_iter().flat_map(|(_, figures)| figures);
    figures.map(|figure| (figure.file, figure.caption, figure.svg)).collect()
}

#[test]
fn suites_are_summarised_by_default_design_and_peer() {
    let runs = runs(&[
        record("barrier", "grid", json!({ "blocks": 1 }), 0.5, Some(1.0)),
        record("barrier", "grid", json!({ "blocks": 2 }), 2.0, Some(1.0)),
        record("barrier", "tree", json!({ "blocks": 1 }), 9.0, Some(1.0)),
        record("reduce", "tiles", json!({ "peer_mode": "run_to_run" }), 1.0, Some(2.0)),
        record("reduce", "tiles", json!({ "peer_mode": "gpu_to_gpu" }), 1.0, Some(4.0)),
        record("select", "kept 1 %", json!({ "peer_mode": "kept_1" }), 1.0, Some(4.0)),
    ]);
    let chapter = Chapter::of(&runs, "a GPU").expect("whole charts");
    let rows: Vec<_> = peers::summaries(&chapter.of)
        .into_iter()
        .map(|row| (row.peer.clone(), row.ratios.len(), row.faster(), row.ends()))
        .collect();
    assert_eq!(
        rows,
        [
            ("peer".to_owned(), 2, 1, [0.5, 2.0]),
            ("peer, run to run".to_owned(), 1, 1, [0.5; 2]),
            ("peer, gpu to gpu".to_owned(), 1, 1, [0.25; 2]),
            ("peer".to_owned(), 1, 1, [0.25; 2]),
        ]
    );
    assert_eq!(peers::lines(&chapter.of).len(), 6);
}

#[test]
fn the_default_design_comes_first_and_the_slowest_are_left_out() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "grid"];
    let all = names.iter().enumerate().map(|(number, name)| {
        let params = json!({ "blocks": 132, "threads": 256 });
        record("barrier", name, params, 8.0 - number as f64 * 0.5, Some(3.0))
    });
    let figures = figures(&all.collect::<Vec<_>>());
    let (_, caption, svg) = &figures[0];
    let drawn: Vec<_> =
        names.iter().filter(|name| svg.contains(&format!("<title>{name}</title>"))).collect();
    assert_eq!(drawn, [&"c", &"d", &"e", &"f", &"g", &"grid"], "{svg}");
    let place = |name: &str| svg.find(&format!("<title>{name}</title>"));
    assert!(place("grid") < place("peer") && place("peer") < place("g"), "{svg}");
    assert_eq!(caption, "The fastest of 8 designs.");
}

#[test]
fn a_library_is_drawn_after_cub_by_the_name_of_its_call() {
    let of = |mode: &str, name: &str, n: u64| {
        let params = json!({
            "op": "sum", "dtype": "f32", "n": n, "calls": 1, "peer_mode": mode,
        });
        let mut record = record("reduce", "tiles", params, 1.0, Some(2.0));
        record["bytes"] = (4 * n).into();
        record["peer"]["name"] = name.into();
        record
    };
    let figures = figures(&[
        of("cupy.sum", "cupy.sum", 1 << 10),
        of("cupy.sum", "cupy.sum", 1 << 20),
        of("run_to_run", "cub", 1 << 20),
        of("torch.sum", "torch.sum", 1 << 20),
    ]);
    let svg = &figures[0].2;
    let place = |name: &str| svg.find(&format!("<title>{name}</title>"));
    assert!(place("cub, run to run").is_some_and(|cub| Some(cub) < place("cupy.sum")), "{svg}");
    assert_eq!(place("torch.sum"), None, "there are two colours for peers");
}

#[test]
fn a_shared_gpu_is_not_shown_as_several_gpus() {
    let at = |ordinals: Value, median: f64| {
        let gpus = ordinals.as_array().map(Vec::len);
        let params = json!({ "blocks": 1, "threads": 256, "gpus": gpus, "ordinals": ordinals });
        record("system", "barrier", params, median, Some(9.0))
    };
    let [one, taken, real] = [(json!([0]), 1.0), (json!([0, 0]), 2.0), (json!([0, 1]), 3.0)]
        .map(|(ordinals, median)| at(ordinals, median));
    let shown = |records: &[Value]| {
        figures(records).into_iter().map(|(_, caption, svg)| (caption, svg)).collect::<Vec<_>>()
    };
    let both = shown(&[one.clone(), taken.clone(), real.clone()]);
    let (points, is_shared): (Vec<_>, Vec<_>) = both
        .iter()
        .map(|(caption, svg)| {
            let point = |at: &str| svg.contains(&format!("barrier, 1 block each: {at}"));
            (["1 at 1", "2 at 2", "3 at 2"].map(point), caption.starts_with("They share the GPU"))
        })
        .unzip();
    assert_eq!(points, [[true, false, true], [true, true, false]]);
    assert_eq!(is_shared, [false, true]);
    assert!(both[0].1.contains("peer: 9 at 2"));
    assert_eq!(shown(&[one.clone(), real]).len(), 1);
    assert_eq!(shown(&[one.clone(), taken]).len(), 1);
    assert_eq!(shown(&[one])[0].0, "");
}

#[test]
fn the_scaling_figure_needs_several_real_gpus() {
    let at = |ordinals: Value, us: f64| {
        let gpus = ordinals.as_array().map(Vec::len);
        let params = json!({ "dtype": "f32", "n": 1024, "gpus": gpus, "ordinals": ordinals });
        record("scaling", "sum", params, us, None)
    };
    let [one, real, taken] = [at(json!([0]), 8.0), at(json!([0, 1]), 4.0), at(json!([0, 0]), 9.0)];
    let svg = figures(&[one.clone(), real, taken.clone()]).remove(0).2;
    assert!(svg.contains("sum: 2 at 2") && !svg.contains("sum: 0.8"), "{svg}");
    assert!(figures(&[one, taken]).is_empty());
}

#[test]
fn every_section_is_in_the_contents() {
    let shown = record("barrier", "grid", json!({ "blocks": 1, "threads": 32 }), 1.0, Some(2.0));
    let page = files(&runs(&[shown])).expect("whole charts").remove(0).1;
    let contents = page.split_once("</nav>").expect("there are contents").0;
    let sections: Vec<_> = page.split("<h2 id=\"").skip(1).collect();
    assert_eq!(sections.len(), 3, "{page}");
    for section in sections {
        let (anchor, rest) = section.split_once("\">").expect("the tag ends");
        let title = rest.split('<').next().expect("it has a title");
        assert!(contents.contains(&format!("<a href=\"#{anchor}\">{title}</a>")), "{contents}");
    }
}

/// The cells of the table of a page below the link to this CSV file.
fn cells(page: &str, file: &str) -> Vec<Vec<String>> {
    let table = page.split(&format!("href=\"{file}\"")).nth(1).expect("it has a link");
    let table = table.split("</table>").next().expect("the table is below it");
    let text = |cell: &str| {
        let inside = cell.split_once('>').map_or("", |(_, inside)| inside);
        let parts = inside.split('<').map(|part| part.rsplit('>').next().unwrap_or_default());
        parts.collect::<String>()
    };
    let rows = table.split("<tr>").skip(1);
    rows.map(|row| row.replace("<td", "<th").split("<th").skip(1).map(text).collect()).collect()
}

/// The cells of a row of a CSV file.
fn split(row: &str) -> Vec<String> {
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    row.split(is_end).map(|cell| cell.trim_matches('"').to_owned()).collect()
}

#[test]
fn csv_of_a_table_has_all_cells_with_all_digits() {
    let params = json!({ "blocks": 132, "threads": 256 });
    let mut noisy = record("barrier", "grid", params, 0.814, Some(1.25));
    noisy["max"] = 0.9.into();
    noisy["warnings"] =
        json!([{ "kind": "noise", "uncertainty": 0.1, "allowed": 0.005, "samples": 7 }]);
    noisy["made"] = json!({ "driver": "580.1" });
    let files = files(&runs(&[noisy])).expect("whole charts");
    let is_rounded = |value: &str, shown: &str| match (value.parse::<f64>(), shown.parse::<f64>()) {
        (Ok(value), Ok(shown)) => (value - shown).abs() < 0.006,
        _ => value == shown,
    };
    for name in ["machine", "headlines", "peers", "lines"] {
        let file = format!("a-gpu-{name}.csv");
        let csv = &files.iter().find(|(name, _)| *name == file).expect("it is a file").1;
        let shown = cells(&files[0].1, &file);
        assert_eq!(csv.lines().count(), shown.len(), "{name}: {csv}");
        for (row, shown) in csv.lines().map(split).zip(shown) {
            assert_eq!(row.len(), shown.len(), "{row:?}: {shown:?}");
            for (value, shown) in row.iter().zip(&shown) {
                // The samples are two numbers.
                let mut pairs = value.split('–').zip(shown.split('–'));
                assert!(pairs.all(|(value, shown)| is_rounded(value, shown)), "{row:?}: {shown}");
            }
        }
    }
    let table = |name: &str| cells(&files[0].1, &format!("a-gpu-{name}.csv"));
    assert_eq!(table("headlines")[1][1..5], ["0.81", "0.81–0.90", "1.25", "0.65"]);
    assert_eq!(table("headlines")[1][6], " · noise");
    assert_eq!(table("machine")[1][..2], ["driver", "580.1"]);
    assert_eq!(table("machine")[2][..2], ["CUDA", "not recorded"]);
}

#[test]
fn a_figure_has_error_bars_and_a_csv() {
    let params = json!({ "blocks": 132, "threads": 256 });
    let mut noisy = record("barrier", "grid", params, 2.0, Some(3.0));
    (noisy["min"], noisy["max"]) = (1.5.into(), 2.5.into());
    let files = files(&runs(&[noisy])).expect("whole charts");
    let file = |name: &str| &files.iter().find(|(file, _)| file == name).expect("a file").1;
    assert!(file("a-gpu-barrier.svg").contains("grid: 2 at 132, 1.5 to 2.5"), "{files:?}");
    assert_eq!(
        *file("a-gpu-barrier.csv"),
        "series,blocks,µs per crossing,least,greatest\ngrid,132,2,1.5,2.5\npeer,132,3,,\n"
    );
}

#[test]
fn rates_are_shown_as_percentages_of_the_roof_and_below_a_roofline() {
    let at = |suite: &str, variant: &str, op: &str, n: u64, us: f64| {
        let params = json!({ "op": op, "dtype": "f32", "n": n, "calls": 1 });
        let mut record = record(suite, variant, params, us, Some(4.0 * us));
        record["bytes"] = (4 * n).into();
        record
    };
    let figures = figures(&[
        at("reduce", "read", "read", 1 << 10, 2.0),
        at("reduce", "read", "read", 1 << 20, 8.0),
        at("reduce", "tiles", "sum", 1 << 10, 2.5),
        at("reduce", "tiles", "sum", 1 << 20, 10.0),
    ]);
    let [(_, bandwidth, _), (file, roofline, svg)] = &figures[..] else {
        panic!("two figures: {figures:?}")
    };
    assert!(
        bandwidth
            .ends_with("Percentage of only reading with 2²⁰ elements: gridsync 80 %, peer 20 %.")
    );
    assert_eq!(file, "a-gpu-roofline");
    assert!(roofline.contains("2.00 µs") && roofline.contains("524 GB/s"), "{roofline}");
    assert!(roofline.ends_with("with the most elements: sums 80 %."), "{roofline}");
    // The roof rises up to the bytes that the full rate moves in 2 µs, and is flat beyond.
    for point in ["roof: 2.0e0 at 4096", "roof: 5.2e2 at 1048576", "roof: 5.2e2 at 4194304"] {
        assert!(svg.contains(point), "{point}: {svg}");
    }
}

#[test]
fn a_missing_rung_is_reported_with_the_reason() {
    let rung = |number: u32, dtype: &str| {
        let params = json!({ "rung": number, "dtype": dtype, "n": 1024, "reading_gb_per_s": 9.0 });
        let mut record = record("ladder", &format!("step {number}"), params, 4.0, None);
        record["bytes"] = 4096.into();
        record
    };
    let caption = |rungs: &[Value]| figures(rungs).remove(0).1;
    let f32 = [12, 14].map(|number| rung(number, "f32"));
    assert_eq!(caption(&f32), NO_INTEGER_RUNG);
    let u32 = [12, 14, 15, 17].map(|number| rung(number, "u32"));
    assert_eq!(caption(&u32), "Rung 13 was not measured. Rung 16 was not measured.");
}

#[test]
fn all_variants_of_a_rung_are_shown() {
    let variant = |name: &str| {
        let params = json!({ "rung": 3, "dtype": "f32", "n": 1024, "reading_gb_per_s": 9.0 });
        let mut record = record("ladder", name, params, 4.0, None);
        record["bytes"] = 4096.into();
        record
    };
    let svg = figures(&[variant("strided by a block"), variant("strided by all")]).remove(0).2;
    assert!(svg.contains("3 strided by a block") && svg.contains("3 strided by all"), "{svg}");
}

#[test]
fn a_rate_is_from_the_record_with_the_most_calls() {
    let at = |variant: &str, op: &str, calls: u32, median: f64| {
        let params = json!({ "op": op, "dtype": "f32", "n": 1 << 20, "calls": calls });
        let mut record = record("reduce", variant, params, median, Some(4.0));
        record["bytes"] = (4 << 20).into();
        record
    };
    let records =
        [at("tiles", "sum", 256, 3.5), at("tiles", "sum", 1, 5.8), at("read", "read", 256, 2.6)];
    let figures = figures(&records);
    let [(file, _, svg)] = &figures[..] else { panic!("one figure: {figures:?}") };
    assert_eq!(file, "a-gpu-bandwidth-reduce");
    for part in ["gridsync: 1198.37", "peer: 1048.576 at", "only reading: 1613.19"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(!svg.contains("723."), "one call alone is no rate: {svg}");
}

#[test]
fn rungs_are_sorted_and_those_with_fewer_elements_are_noted() {
    let rung = |number: u32, n: u32, us: f64| {
        let params = json!({ "rung": number, "dtype": "f32", "n": n, "reading_gb_per_s": 4500.0 });
        let mut record = record("ladder", &format!("step {number}"), params, us, None);
        record["bytes"] = (4 * n).into();
        record
    };
    let figures = figures(&[rung(2, 1 << 20, 4.0), rung(1, 1 << 10, 4.0)]);
    let (_, caption, svg) = &figures[0];
    assert!(svg.find("1 step 1") < svg.find("2 step 2"), "{svg}");
    assert!(svg.contains("only reading: 4500"), "{svg}");
    assert_eq!(caption, "1 slow rung has fewer elements.");
}

#[test]
fn records_without_the_parameters_of_an_axis_are_skipped() {
    let suites = [
        ("barrier", "grid"),
        ("all-reduce", "exchange"),
        ("scan-threads", "exchange"),
        ("system", "barrier"),
        ("scaling", "sum"),
        ("reduce", "tiles"),
        ("scan", "auto"),
        ("select", "kept 50 %"),
        ("ladder", "step"),
        ("scans", "step"),
        ("sorts", "step"),
        ("launches", "grid"),
    ];
    for params in [
        json!({}),
        json!({ "threads": 256 }),
        json!({ "blocks": "many", "threads": 256, "dtype": "f32", "op": "sum", "figure": 5 }),
        json!({ "n": "long", "dtype": "f32", "op": "select", "figure": 6, "gpus": null }),
    ] {
        let all =
            suites.map(|(suite, variant)| record(suite, variant, params.clone(), 1.0, Some(2.0)));
        let files = files(&runs(&all)).unwrap_or_else(|error| panic!("{params}: {error}"));
        assert!(files[0].1.contains("Left out"), "{params}");
    }
}

#[test]
fn a_device_without_results_to_show_has_no_chapter() {
    let mut scipy = record("kendall", "scipy", json!({ "n": 8 }), 1.0, None);
    scipy["device"] = "cpu".into();
    let shown = record("barrier", "grid", json!({ "blocks": 1, "threads": 32 }), 1.0, Some(2.0));
    let files = files(&runs(&[scipy.clone(), shown])).expect("whole charts");
    assert!(files[0].1.contains("gridsync on a GPU<") && !files[0].1.contains(">CPU<"));
    let files = super::files(&runs(&[scipy])).expect("whole charts");
    assert!(files.len() == 1 && files[0].1.contains("gridsync on CPU<"));
}
