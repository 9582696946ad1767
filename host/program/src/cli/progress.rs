//! Progress bars on standard error.

use super::Global;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

/// Work that is done within this time needs no bar.
const SOON: Duration = Duration::from_secs(2);

/// How often a bar updates its time.
const TICK: Duration = Duration::from_millis(500);

/// A bar that appears after two seconds of work. It never appears with --quiet, or if standard
/// error is not a terminal.
pub(super) fn progress(global: &Global, points: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::hidden());
    if global.quiet || !io::stderr().is_terminal() {
        return bar;
    }
    let style =
        ProgressStyle::with_template("{bar:30} {percent} %, {elapsed} gone, {eta} left: {msg}")
            .expect("the template should be valid");
    bar.set_style(style);
    let shown = bar.downgrade();
    // If the thread cannot be started, the work continues without a bar.
    let _no_bar = thread::Builder::new().spawn(move || {
        thread::sleep(SOON);
        // If the work is done by then, no bar appears.
        if let Some(bar) = running(&shown) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        while let Some(bar) = running(&shown) {
            bar.tick();
            drop(bar);
            thread::sleep(TICK);
        }
    });
    bar
}

/// The bar, if its work is not done yet.
fn running(bar: &WeakProgressBar) -> Option<ProgressBar> {
    bar.upgrade().filter(|bar| !bar.is_finished())
}
