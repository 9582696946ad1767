//! `gridsync lab banks`: bank conflicts in shared memory.

mod chart;
mod meaning;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use crate::lab::banks::{self, LAYOUTS, Load, STRIDES, Tile, WARPS, WIDTHS};
use crate::lab::counting;
use crate::report::svg::ChartError;
use crate::report::{Table, table};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gridsync::device::{Device, DeviceError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show which accesses to shared memory conflict, and what a conflict costs
///
/// Each lane of a warp loads element lane × stride, for strides from 0 to 33 and elements of 4, 8
/// and 16 bytes. The passes through the banks that the rule predicts are compared with those that
/// the emulator counts; a difference is an error. Then a tile of 32 × 32 numbers is transposed:
/// plain, padded and swizzled. On a GPU, cycles by slopes over the rounds, the median of 7: of 32
/// warps together, which hide each other's latency, and of one warp alone.
#[derive(clap::Args)]
pub(super) struct Banks {
    /// The bytes of an element [default: all of them].
    #[arg(long, value_name = "BYTES", value_parser = widths())]
    bytes: Option<u32>,
    /// Write banks.svg and banks-tile.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The numbers of bytes that one instruction can load for a lane.
fn widths() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["4", "8", "16"]).map(|bytes| bytes.parse().expect("a number"))
}

impl Experiment for Banks {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["banks.svg", "banks-tile.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let gpu = Some(device).filter(|device| !device.properties().is_emulated());
        let counting = counting::emulator();
        let widths: Vec<_> = WIDTHS
            .iter()
            .filter(|width| self.bytes.is_none_or(|bytes| bytes == width.bytes))
            .collect();
        let bar = progress(global, widths.len() * STRIDES.count() + LAYOUTS.len());
        bar.set_message("loads and tiles");
        let mut loads = Vec::new();
        for width in widths {
            for stride in STRIDES {
                loads.push(banks::load(gpu, &counting, width, stride)?);
                bar.inc(1);
            }
        }
        let transpose = |layout| {
            bar.inc(1);
            banks::transpose(gpu, &counting, layout)
        };
        let tiles = LAYOUTS.into_iter().map(transpose);
        let tiles = tiles.collect::<Result<Vec<_>, DeviceError>>()?;
        bar.finish_and_clear();

        let name = &device.properties().name;
        Ok(page(name, &loads, &tiles)?.found(global))
    }
}

/// The page about `loads` and `tiles`, timed on `device` if that is a GPU.
fn page(device: &str, loads: &[Load], tiles: &[Tile]) -> Result<Page, ChartError> {
    let timed = loads.iter().any(|load| load.timed.is_some());
    let mut page = Page::new(device, question(timed, device));
    let what = match timed {
        true => "Passes of a load by the rule, and its cycles: with 32 warps together, alone",
        false => "Passes of a load of a warp, by the rule and as the emulator counted them",
    };
    page.table(what, &by_stride(loads));
    let what = "To transpose a tile of 32 × 32 f32, stored by rows and loaded by columns";
    page.table(what, &of_tiles(tiles));
    meaning::of_loads(&mut page, loads);
    meaning::of_tiles(&mut page, tiles);
    chart::loads(&mut page, loads)?;
    chart::tiles(&mut page, tiles)?;
    page.json("loads", loads.iter().map(load_json).collect::<Vec<_>>());
    page.json("tiles", tiles.iter().map(tile_json).collect::<Vec<_>>());
    check(&mut page, loads, tiles);
    Ok(page)
}

fn question(on_gpu: bool, device: &str) -> String {
    let measured = match on_gpu {
        true => format!("{device} says how many cycles they take"),
        false => "how many cycles they take, only a GPU can tell".to_owned(),
    };
    format!(
        "Which loads of a warp from shared memory conflict, and what does that cost? Shared memory \
         has 32 banks, each a word of 4 bytes wide. A bank serves one word in a pass, to all lanes \
         that want it. The lanes of a warp load elements of 4, 8 or 16 bytes that are a stride \
         apart. The rule says how many passes that takes, the emulator counts them, and {measured}."
    )
}

/// A row for each stride, and a few columns for each width.
fn by_stride(loads: &[Load]) -> Table {
    let mut table = table();
    let widths: Vec<u32> =
        loads.iter().filter(|load| load.stride == 0).map(|load| load.bytes).collect();
    let timed = loads.iter().any(|load| load.timed.is_some());
    let heads = widths.iter().flat_map(|bytes| match timed {
        true => vec![format!("{bytes} B: passes"), "cycles".to_owned(), "alone".to_owned()],
        false => vec![format!("{bytes} bytes: rule"), "counted".to_owned()],
    });
    table.set_header(["stride".to_owned()].into_iter().chain(heads));
    for stride in STRIDES {
        let of_stride = loads.iter().filter(|load| load.stride == stride);
        let cells = of_stride.flat_map(|load| match load.timed {
            Some(timed) => vec![
                load.rule.to_string(),
                format!("{:.1}", timed.together.median),
                format!("{:.0}", timed.alone.median),
            ],
            None => vec![load.rule.to_string(), load.counted.to_string()],
        });
        table.add_row([stride.to_string()].into_iter().chain(cells));
    }
    table
}

fn of_tiles(tiles: &[Tile]) -> Table {
    let mut table = table();
    let timed = tiles.iter().any(|tile| tile.cycles.is_some());
    let heads = ["layout", "words", "passes by the rule", "counted"];
    table.set_header(heads.into_iter().chain(timed.then_some("cycles, 2 barriers included")));
    for tile in tiles {
        let cells = [
            tile.layout.name.to_owned(),
            tile.layout.words().to_string(),
            tile.rule.to_string(),
            tile.counted.to_string(),
        ];
        let cycles = tile.cycles.map(|cycles| format!("{:.0}", cycles.median));
        table.add_row(cells.into_iter().chain(cycles));
    }
    table
}

/// Reports the first error, if any.
fn check(page: &mut Page, loads: &[Load], tiles: &[Tile]) {
    for load in loads {
        let Load { bytes, stride, rule, counted, right, .. } = load;
        if counted != rule {
            page.wrong(format!(
                "{bytes} bytes at stride {stride}: the emulator counted {counted} passes, and the \
                 rule says {rule}"
            ));
        }
        if !right {
            page.wrong(format!("{bytes} bytes at stride {stride}: a lane found another element"));
        }
    }
    for Tile { layout, rule, counted, right, .. } in tiles {
        if counted != rule {
            page.wrong(format!(
                "the {} tile: the emulator counted {counted} passes, and the rule says {rule}",
                layout.name
            ));
        }
        if !right {
            page.wrong(format!("the {} tile was not transposed", layout.name));
        }
    }
}

fn load_json(load: &Load) -> Value {
    let together = load.timed.map(|timed| timed.together);
    json!({
        "bytes": load.bytes,
        "stride": load.stride,
        "rule": load.rule,
        "counted": load.counted,
        "right": load.right,
        "warps": WARPS,
        "cycles": together.map(|cycles| output::number(cycles.median)),
        "min": together.map(|cycles| output::number(cycles.min)),
        "max": together.map(|cycles| output::number(cycles.max)),
        "samples": together.map(|cycles| cycles.samples),
        "alone": load.timed.map(|timed| output::number(timed.alone.median)),
    })
}

fn tile_json(tile: &Tile) -> Value {
    json!({
        "layout": tile.layout.name,
        "words": tile.layout.words(),
        "rule": tile.rule,
        "counted": tile.counted,
        "right": tile.right,
        "cycles": tile.cycles.map(|cycles| output::number(cycles.median)),
        "min": tile.cycles.map(|cycles| output::number(cycles.min)),
        "max": tile.cycles.map(|cycles| output::number(cycles.max)),
        "samples": tile.cycles.map(|cycles| cycles.samples),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Spread;
    use crate::lab::banks::Timed;

    fn exactly(cycles: f64) -> Spread {
        Spread::of(vec![cycles; 7]).expect("there are samples")
    }

    /// The emulator's result, with one cycle per pass, as a GPU could measure it.
    fn timed() -> (Vec<Load>, Vec<Tile>) {
        let counting = counting::emulator();
        let loads = WIDTHS.iter().flat_map(|width| {
            STRIDES.map(|stride| {
                let load = banks::load(None, &counting, width, stride).expect("it runs");
                let passes = load.rule as f64;
                let timed = Timed { together: exactly(passes), alone: exactly(28.0 + passes) };
                Load { timed: Some(timed), ..load }
            })
        });
        let tiles = LAYOUTS.map(|layout| {
            let tile = banks::transpose(None, &counting, layout).expect("it runs");
            Tile { cycles: Some(exactly(100.0 + tile.rule as f64)), ..tile }
        });
        (loads.collect(), tiles.to_vec())
    }

    #[test]
    fn cycles_are_shown_drawn_and_compared_with_the_passes() {
        let (loads, tiles) = timed();
        let page = page("NVIDIA H200", &loads, &tiles);
        let found = page.expect("the charts are complete").without_flags();
        assert!(found.text.lines().all(|line| line.chars().count() <= 80), "{}", found.text);
        let text = found.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "32 32 32.0 60 32 32.0 60 32 32.0 60",
            "a pass took 1.00 cycles in the middle of all strides",
            "waited 29 cycles for a load of 1 and 60 for one of 32 passes",
            "plain 1156, padded 164, swizzled 164. The padded tile was 7.0 times as fast",
        ] {
            assert!(text.contains(part), "{part:?}: {}", found.text);
        }
        assert_eq!(found.wrong, None);
        let names: Vec<_> = found.files.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, Banks::FILES);
    }

    #[test]
    fn a_count_that_differs_from_the_rule_is_an_error() {
        let (mut loads, tiles) = timed();
        loads[2].counted += 1;
        let page = page("emulator", &loads, &tiles).expect("the charts are complete");
        let said = page.without_flags().wrong.expect("it is wrong");
        assert!(said.contains("stride 2: the emulator counted 3 passes"), "{said}");
    }
}
