//! The result of `gridsync lab banks`.

use super::{Load, STRIDES, Tile, chart, meaning};
use crate::display::svg::ChartError;
use crate::display::{Page, Table, table};
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab banks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Banks {
    /// The name of the device.
    pub device: String,
    /// Loads of a warp at a stride.
    pub loads: Vec<Load>,
    /// Tiles of 32 × 32 numbers that are transposed.
    pub tiles: Vec<Tile>,
}

impl Report for Banks {
    fn page(&self) -> Page {
        let Self { device, loads, tiles } = self;
        let timed = loads.iter().any(|load| load.together.cycles.is_some());
        let mut page = Page::new(question(timed, device));
        let title = if timed {
            "Passes of a load by the rule, and its cycles: with 32 warps together, alone"
        } else {
            "Passes of a load of a warp, by the rule and as the emulator counted them"
        };
        page.table(title, &by_stride(loads));
        let title = "To transpose a tile of 32 × 32 f32, stored by rows and loaded by columns";
        page.table(title, &of_tiles(tiles));
        meaning::of_loads(&mut page, loads);
        meaning::of_tiles(&mut page, tiles);
        check(&mut page, loads, tiles);
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        Ok(vec![chart::loads(&self.loads)?, chart::tiles(&self.tiles)?])
    }
}

fn question(on_gpu: bool, device: &str) -> String {
    let measured = if on_gpu {
        format!("{device} says how many cycles they take")
    } else {
        "how many cycles they take, only a GPU can tell".to_owned()
    };
    format!(
        "Which loads of a warp from shared memory conflict, and what does that cost? Shared memory \
         has 32 banks, each a word of 4 bytes wide. A bank serves one word in a pass, to all lanes \
         that want it. The lanes of a warp load elements of 4, 8 or 16 bytes that are a stride \
         apart. The rule says how many passes that takes, the emulator counts them, and {measured}."
    )
}

/// A row for each stride, some columns for each width.
fn by_stride(loads: &[Load]) -> Table {
    let mut table = table();
    let widths: Vec<u32> =
        loads.iter().filter(|load| load.stride == 0).map(|load| load.bytes).collect();
    let timed = loads.iter().any(|load| load.together.cycles.is_some());
    let heads = widths.iter().flat_map(|bytes| {
        if timed {
            vec![format!("{bytes} B: passes"), "cycles".to_owned(), "alone".to_owned()]
        } else {
            vec![format!("{bytes} bytes: rule"), "counted".to_owned()]
        }
    });
    table.set_header(["stride".to_owned()].into_iter().chain(heads));
    for stride in STRIDES {
        let of_stride = loads.iter().filter(|load| load.stride == stride);
        let cells = of_stride.flat_map(|load| match (load.together.cycles, load.alone) {
            (Some(cycles), Some(alone)) => {
                vec![load.rule.to_string(), format!("{cycles:.1}"), format!("{alone:.0}")]
            }
            _ => vec![load.rule.to_string(), load.counted.to_string()],
        });
        table.add_row([stride.to_string()].into_iter().chain(cells));
    }
    table
}

fn of_tiles(tiles: &[Tile]) -> Table {
    let mut table = table();
    let timed = tiles.iter().any(|tile| tile.cycles.cycles.is_some());
    let heads = ["layout", "words", "passes by the rule", "counted"];
    table.set_header(heads.into_iter().chain(timed.then_some("cycles, 2 barriers included")));
    for tile in tiles {
        let cells = [
            tile.layout.clone(),
            tile.words.to_string(),
            tile.rule.to_string(),
            tile.counted.to_string(),
        ];
        let cycles = tile.cycles.cycles.map(|cycles| format!("{cycles:.0}"));
        table.add_row(cells.into_iter().chain(cycles));
    }
    table
}

/// Reports what is wrong, if anything is.
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
                layout
            ));
        }
        if !right {
            page.wrong(format!("the {layout} tile was not transposed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Args, LAYOUTS, WIDTHS, load, transpose};
    use super::*;
    use crate::bench::Spread;
    use crate::{Experiment, counting};

    fn exactly(cycles: f64) -> Spread {
        Spread::of(vec![cycles; 7]).expect("there are samples")
    }

    /// What the emulator finds, with a cycle for each pass, as a GPU could take it.
    fn timed() -> Banks {
        let counting = counting::emulator();
        let loads = WIDTHS.iter().flat_map(|width| {
            STRIDES.map(|stride| {
                let load = load(None, &counting, width, stride).expect("it runs");
                let passes = load.rule as f64;
                Load { together: exactly(passes).into(), alone: Some(28.0 + passes), ..load }
            })
        });
        let tiles = LAYOUTS.map(|layout| {
            let tile = transpose(None, &counting, layout).expect("it runs");
            Tile { cycles: exactly(100.0 + tile.rule as f64).into(), ..tile }
        });
        Banks { device: "NVIDIA H200".into(), loads: loads.collect(), tiles: tiles.to_vec() }
    }

    #[test]
    fn cycles_are_shown_drawn_and_compared_with_the_passes() {
        let report = timed();
        let page = report.page();
        let text = page.text(false);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "32 32 32.0 60 32 32.0 60 32 32.0 60",
            "a pass took 1.00 cycles in the middle of all strides",
            "waited 29 cycles for a load of 1 and 60 for one of 32 passes",
            "plain 1156, padded 164, swizzled 164. The padded tile was 7.0 times as fast",
        ] {
            assert!(words.contains(part), "{part:?}: {text}");
        }
        assert_eq!(page.into_files_and_wrong().1, None);
        let charts = report.charts().expect("the charts are complete");
        let names: Vec<_> = charts.iter().map(|chart| format!("{}.svg", chart.name)).collect();
        assert_eq!(names, Args::FILES);
    }

    #[test]
    fn a_count_that_differs_from_the_rule_is_wrong() {
        let mut report = timed();
        report.loads[2].counted += 1;
        let wrong = report.page().into_files_and_wrong().1.expect("it is wrong");
        assert!(wrong.contains("stride 2: the emulator counted 3 passes"), "{wrong}");
    }
}
