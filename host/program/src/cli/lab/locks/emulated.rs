//! The locks in the emulator.

use super::{Locks, Page, add_locks, question};
use crate::cli::Global;
use crate::cli::progress::progress;
use gridsync_lab::display::table;
use gridsync_lab::locks::emulated::{SEEDS, accesses, check};
use gridsync_lab::locks::{Grid, LOCKS};
use serde_json::{Value, json};

/// Checks each lock in four grids, and counts its accesses in the largest.
pub(super) fn page(locks: &Locks, global: &Global) -> anyhow::Result<Page> {
    let (blocks, threads) = (locks.blocks.unwrap_or(2), locks.threads.unwrap_or(33));
    let sections = locks.sections.unwrap_or(50);
    let grids = [(1, 1), (blocks, 1), (1, threads), (blocks, threads)]
        .map(|(blocks, threads)| Grid { blocks, threads });
    let all = grids[3];
    let mut page = Page::new(
        "emulator",
        question(&format!(
            "The emulator runs up to {blocks} blocks of {threads} threads under {SEEDS} schedules \
             each, and looks for data races."
        )),
    );
    add_locks(&mut page);
    let mut found = table();
    found.set_header(["lock", "launches", "results", "accesses each time it is taken"]);
    let (mut rows, mut all_right) = (Vec::new(), true);
    let bar = progress(global, LOCKS.len());
    for tried in LOCKS {
        bar.set_message(tried.name);
        let (mut launches, mut wrong) = (0, None);
        for grid in grids {
            let (more, found) = check(tried, grid, sections)?;
            launches += more;
            let told = found.map(|found| format!("the {} lock, {grid}, {found}", tried.name));
            wrong = wrong.or(told);
        }
        // A broken lock may not terminate without the checks.
        let each = match wrong {
            None => Some(accesses(tried, all, sections)?),
            Some(_) => None,
        };
        bar.inc(1);
        found.add_row([
            tried.name.to_owned(),
            launches.to_string(),
            if wrong.is_none() { "right, no race" } else { "WRONG" }.to_owned(),
            each.map_or_else(String::new, |each| format!("{each:.1}")),
        ]);
        rows.push(json!({
            "lock": tried.name,
            "launches": launches,
            "wrong": wrong,
            "accesses": each,
        }));
        if let Some(wrong) = wrong {
            all_right = false;
            page.wrong(wrong);
        }
    }
    bar.finish_and_clear();
    page.table(&format!("{sections} sections a launch; the accesses are those of {all}"), &found);
    page.json("blocks", blocks);
    page.json("threads", threads);
    page.json("sections", sections);
    page.json("locks", Value::from(rows));
    if all_right {
        page.means(
            "The counter and the list were right under every schedule, and the plain loads and \
             stores of the sections never raced: taking the lock acquires what its release \
             released.",
        );
    }
    page.means(
        "The accesses are those of the section and of all threads that wait meanwhile, if the warps \
         take turns. A GPU has to serve all of them at the one word of the lock, except those of \
         the queue, which are spread over a line for each thread. One lane for its warp leaves 31 \
         lanes that do not look at all.",
    );
    Ok(page)
}
