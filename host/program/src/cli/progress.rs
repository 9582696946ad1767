//! Bars on standard error.

use super::Global;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

/// What takes no longer needs no bar.
const SOON: Duration = Duration::from_secs(2);

/// How often a bar shows that time goes by.
const TICK: Duration = Duration::from_millis(500);

/// A bar that shows up when it has been at it for two seconds; none with --quiet, and where standard error is
/// no terminal.
pub(super) fn progress(global: &Global, points: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::hidden());
    if global.quiet || !io::stderr().is_terminal() {
        return bar;
    }
    let style =
        ProgressStyle::with_template("{bar:30} {percent} %, {elapsed} gone, {eta} left: {msg}")
            .expect("the template should be one");
    bar.set_style(style);
    let shown = bar.downgrade();
    thread::spawn(move || {
        thread::sleep(SOON);
        // Gone, or done, by then is no bar.
        if let Some(bar) = shown.upgrade().filter(|bar| !bar.is_finished()) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
    bar
}
