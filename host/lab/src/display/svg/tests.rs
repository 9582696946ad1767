//! Tests of the properties of charts that text shows.

mod samples;

use super::canvas::width;
use super::*;
use samples::{
    axis, bars, bounded, cells, charts, columns, heat_map, layers, lines, rates, row, series,
    timelines,
};
use std::path::Path;

/// Compares with `golden/NAME`. Run with `GOLDEN=overwrite` to replace that file.
fn is_golden(name: &str, svg: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/display/svg/golden").join(name);
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, svg).expect("the golden file should be writable");
    }
    let golden = std::fs::read_to_string(&path).expect("the golden file should be there");
    assert!(svg == golden, "{name} has changed; if it is meant to, run with GOLDEN=overwrite");
}

#[test]
fn a_heat_map_matches_the_golden_file() {
    is_golden("heatmap.svg", &heat_map().svg().expect("it is whole"));
}

#[test]
fn lines_match_the_golden_file() {
    is_golden("lines.svg", &lines().svg().expect("they are whole"));
}

#[test]
fn points_below_a_bound_match_the_golden_file() {
    is_golden("bounded.svg", &bounded().svg().expect("they are whole"));
}

#[test]
fn only_the_bound_is_a_line_and_values_must_be_positive() {
    let svg = bounded().svg().expect("it is whole");
    assert!(svg.contains("uniform: 7.0e-8 at 1000000"), "{svg}");
    assert!(svg.contains("error from 1.5e-8 to 2.5e-6"), "{svg}");
    for wrong in [0.0, -1.0] {
        let mut chart = bounded();
        chart.series[1].points[1].1 = wrong.into();
        let error = chart.svg().expect_err("a logarithm has no such value").to_string();
        assert!(error.contains("point 1 of uniform"), "{error}");
    }
}

#[test]
fn cells_match_the_golden_file() {
    is_golden("cells.svg", &cells().svg().expect("they are whole"));
}

#[test]
fn bars_match_the_golden_files() {
    is_golden("bars.svg", &bars().svg().expect("they are whole"));
    is_golden("rates.svg", &rates().svg().expect("they are whole"));
}

#[test]
fn columns_match_the_golden_file() {
    is_golden("columns.svg", &columns().svg().expect("they are whole"));
}

#[test]
fn graphs_and_timelines_match_the_golden_files() {
    is_golden("layers.svg", &layers().svg().expect("it is whole"));
    is_golden("timelines.svg", &timelines().svg().expect("they are whole"));
}

/// The tags and texts of `xml`, each tag without its brackets. Panics if `xml` is not well-formed.
fn tokens(xml: &str) -> Vec<(&str, &str)> {
    let mut open = Vec::new();
    let tokens: Vec<(&str, &str)> = xml
        .strip_prefix('<')
        .expect("it should begin with a tag")
        .split('<')
        .map(|token| token.split_once('>').expect("a tag should end"))
        .collect();
    for (tag, text) in &tokens {
        assert!(!text.contains('>'), "{text:?} should be escaped");
        for entity in text.split('&').skip(1).chain(tag.split('&').skip(1)) {
            let known = ["amp;", "lt;", "gt;", "quot;"];
            assert!(known.iter().any(|k| entity.starts_with(k)), "&{entity}");
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag:?} should close its quotes");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "what closes should be what is open"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap_or(tag)),
        }
    }
    assert!(open.is_empty(), "{open:?} should be closed");
    tokens
}

#[test]
fn every_chart_is_well_formed_and_has_a_title_and_description() {
    for svg in charts() {
        let tokens = tokens(&svg);
        for name in ["title", "desc"] {
            let text = tokens.iter().find(|(tag, _)| *tag == name);
            assert!(text.is_some_and(|(_, text)| !text.is_empty()), "{name} of {svg}");
        }
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

/// The texts of a chart, each with its largest possible box: left, top, right, bottom.
fn boxes(svg: &str) -> Vec<(String, [f64; 4])> {
    let number = |tag, name| {
        let value = attribute(tag, name).expect("the attribute should be there");
        value.parse::<f64>().expect("it should be a number")
    };
    tokens(svg)
        .into_iter()
        .filter(|(tag, _)| tag.starts_with("text "))
        .map(|(tag, text)| {
            let (x, y, size) = (number(tag, "x"), number(tag, "y"), number(tag, "font-size"));
            let text = text
                .replace("&quot;", "\"")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&");
            let long = width(&text, size);
            let start = match attribute(tag, "text-anchor") {
                Some("middle") => -long / 2.0,
                Some("end") => -long,
                _ => 0.0,
            };
            // From 0.75 of the size above the baseline to 0.22 below.
            let taken = if tag.contains("rotate(-90") {
                [x - 0.75 * size, y + start, x + 0.22 * size, y + start + long]
            } else {
                [x + start, y - 0.75 * size, x + start + long, y + 0.22 * size]
            };
            (text, taken)
        })
        .collect()
}

#[test]
fn texts_do_not_overlap_or_leave_the_chart() {
    for svg in charts() {
        let first = tokens(&svg)[0].0;
        let size = |name| attribute(first, name).and_then(|value| value.parse::<f64>().ok());
        let (Some(width), Some(height)) = (size("width"), size("height")) else {
            panic!("{first} should have a size");
        };
        let boxes = boxes(&svg);
        for (number, (text, [left, top, right, bottom])) in boxes.iter().enumerate() {
            assert!(
                *left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height,
                "{text:?} leaves {first}: {left}..{right}, {top}..{bottom}"
            );
            for (other, [l, t, r, b]) in &boxes[..number] {
                let apart = right <= l || r <= left || bottom <= t || b <= top;
                assert!(apart, "{text:?} meets {other:?} in {first}");
            }
        }
    }
}

#[test]
fn no_line_crosses_a_text() {
    for svg in charts() {
        let lines = tokens(&svg).into_iter().filter(|(tag, _)| tag.starts_with("polyline "));
        let ends = lines.filter_map(|(tag, _)| {
            let points = attribute(tag, "points")?.split([' ', ',']);
            let numbers: Vec<f64> = points.filter_map(|number| number.parse().ok()).collect();
            <[f64; 4]>::try_from(numbers).ok()
        });
        // Axes, grid and roof are lines with two points.
        let ends: Vec<_> = ends.filter(|[x, y, to_x, to_y]| x == to_x || y == to_y).collect();
        for (text, [left, top, right, bottom]) in boxes(&svg) {
            for &[x, y, to_x, to_y] in &ends {
                let apart = right <= x.min(to_x) || x.max(to_x) <= left;
                let apart = apart || bottom <= y.min(to_y) || y.max(to_y) <= top;
                assert!(apart, "{text:?} is crossed by {x},{y} to {to_x},{to_y} in {svg}");
            }
        }
    }
}

#[test]
fn values_with_a_range_have_error_bars() {
    let value = Estimate::between(2.0, 1.0, 3.0);
    let bars = |greatest: f64, estimate| Bars {
        rows: vec![Row::new("a", [Some(estimate)]), row("b", &[Some(greatest)])],
        ..rates()
    };
    let lines = |estimate| Lines { series: vec![Series::new("a", [(1.0, estimate)])], ..lines() };
    let drawn = |estimate: Estimate| {
        [bars(4.0, estimate).svg(), bars(4000.0, estimate).svg(), lines(estimate).svg()]
            .map(|svg| svg.expect("it is whole").matches("stroke-width=\"1.2\"").count())
    };
    assert_eq!(drawn(value), [1; 3]);
    assert_eq!(drawn(value.value.into()), [0; 3]);
}

#[test]
fn bars_begin_at_0_and_a_logarithmic_axis_has_points() {
    let shapes = |greatest: f64| {
        let rows = vec![row("a", &[Some(2.0)]), row("b", &[Some(greatest)])];
        let svg = Bars { rows, roof: None, ..rates() }.svg().expect("it is whole");
        // The background is a rectangle too.
        (
            svg.contains(">0</text>"),
            svg.matches("<rect").count() - 1,
            svg.matches("<polygon").count(),
        )
    };
    assert_eq!(shapes(4.0), (true, 2, 0));
    assert_eq!(shapes(4000.0), (false, 0, 2));
}

#[test]
fn blue_is_faster_with_either_sign() {
    let shades = |faster, values: [f64; 2]| {
        let values = vec![values.map(Some).to_vec()];
        let (x, y) = (axis("x", &["1", "2"]), axis("y", &["1"]));
        let svg = HeatMap { values, x, y, faster, ..heat_map() }.svg().expect("it is whole");
        let mut cells = svg.lines().filter(|line| line.starts_with("<rect")).skip(2);
        [(); 2].map(|()| cells.next().and_then(|cell| attribute(cell, "fill")).map(str::to_owned))
    };
    let [time, gain] = [shades(Faster::Below, [-9.0, 9.0]), shades(Faster::Above, [9.0, -9.0])];
    assert_eq!(time, ["#0072b2", "#d55e00"].map(|colour| Some(colour.to_owned())));
    assert_eq!(time, gain);
}

#[test]
fn csv_has_every_value_with_its_range() {
    let rates = rates().csv();
    let expected = "row,series,GB/s,least,greatest\n\
        1 one thread,rate,0.412,0.25,0.5\n\
        17 one launch with a grid barrier,rate,4489.3,,\n\
        reading only,roof,4512,,\n";
    assert_eq!(rates, expected);
    let lines = lines().csv();
    assert!(lines.starts_with("series,blocks,µs per crossing,least,greatest\nsplit,33,0.8,,\n"));
    assert!(lines.contains("\nphase,528,1.673,1.5,1.8\n"), "{lines}");
    let cells = heat_map().csv();
    assert!(cells.contains("\n1024,264,29.3\n") && !cells.contains("1024,528"), "{cells}");
    assert_eq!(cells.lines().count(), 20, "19 cells have a value");
}

#[test]
fn bars_show_names_values_and_the_note() {
    let svg = bars().svg().expect("they are whole");
    let tokens = tokens(&svg);
    let texts: Vec<&str> =
        tokens.iter().filter(|(tag, _)| tag.starts_with("text ")).map(|(_, text)| *text).collect();
    for text in ["12 shuffles", "255", "154", "13.5", "bank conflicts", "counted by the emulator"] {
        assert!(texts.contains(&text), "{text} is not among {texts:?}");
    }
    assert!(!svg.contains("<polyline points=\"0"), "rows are not joined");
}

#[test]
fn more_lines_than_colours_are_an_error() {
    let one = series("split", &[(33.0, 0.8)]);
    let chart = Lines { series: vec![one; 8], ..lines() };
    let error = chart.svg().expect_err("there are 7 colours").to_string();
    assert!(error.contains("8 series of one kind and there are 7"), "{error}");
}

#[test]
#[should_panic(expected = "TooMany { found: 4, most: 3 }")]
fn more_bars_than_colours_panic() {
    let _svg = Bars { series: vec!["a".into(); 4], ..bars() }.svg();
}

#[test]
#[should_panic(expected = "the values and series of shuffles")]
fn a_row_without_a_value_for_each_series_panics() {
    let _svg = Bars { rows: vec![row("shuffles", &[Some(1.0)])], ..bars() }.svg();
}

#[test]
#[should_panic(expected = "the values and ticks of threads of a block 1024")]
fn a_row_of_a_heat_map_without_a_value_for_each_tick_panics() {
    let mut chart = heat_map();
    chart.values[3].pop();
    let _svg = chart.svg();
}

#[test]
fn values_that_bars_cannot_show_are_errors() {
    let with = |values: &[Option<f64>]| Bars { rows: vec![row("shuffles", values)], ..bars() };
    let error = with(&[Some(-1.0), None, None]).svg().expect_err("negative").to_string();
    assert!(error.contains("-1 at shuffles"), "{error}");
    let error = with(&[Some(f64::NAN), None, None]).svg().expect_err("NaN").to_string();
    assert!(error.contains("NaN at shuffles"), "{error}");
    assert!(matches!(with(&[None; 3]).svg(), Err(ChartError::Empty { .. })));
}

#[test]
fn an_empty_chart_is_an_error() {
    let nothing = HeatMap { values: vec![vec![None; 5]; 4], ..heat_map() };
    assert!(matches!(nothing.svg(), Err(ChartError::Empty { .. })));
    let nothing = Lines { series: vec![series("split", &[])], ..lines() };
    assert!(matches!(nothing.svg(), Err(ChartError::Empty { .. })));
}

#[test]
fn error_of_an_invalid_value_has_its_position() {
    let mut chart = heat_map();
    chart.values[3][4] = Some(f64::NAN);
    let error = chart.svg().expect_err("NaN has no colour").to_string();
    assert!(error.contains("NaN at blocks 528, threads of a block 1024"), "{error}");

    let mut chart = lines();
    chart.series[1].points[2].1 = f64::INFINITY.into();
    let error = chart.svg().expect_err("infinity has no height").to_string();
    assert!(error.contains("inf at point 2 of phase"), "{error}");
    chart.series[0].points[0].0 = 0.0;
    let error = chart.svg().expect_err("0 has no logarithm").to_string();
    assert!(error.contains("has 0 at point 0 of split"), "{error}");
}
