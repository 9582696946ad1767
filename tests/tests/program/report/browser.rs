//! The page in a browser: Chromium, if there is one.

use super::whole_page;
use crate::call::{Call, run};
use serde_json::Value;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The widths of a phone, a tablet and a screen, in px.
const WIDTHS: [u32; 3] = [390, 768, 1280];

/// A script for a copy of the page: it reports to its frame the width of the page, the texts that
/// overflow their chart, and the number of tables that scroll on a phone without a hint. Rounding
/// may add half a pixel.
const PROBE: &str = r"<script>
addEventListener('load', () => {
  const outside = [];
  for (const svg of document.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const own = text.getBoundingClientRect();
      if (own.left < box.left - 0.5 || own.right > box.right + 0.5 ||
          own.top < box.top - 0.5 || own.bottom > box.bottom + 0.5) {
        outside.push(text.textContent);
      }
    }
  }
  parent.postMessage(JSON.stringify({
    inner: innerWidth,
    scroll: document.documentElement.scrollWidth,
    charts: [...document.querySelectorAll('figure svg')].filter(svg => svg.clientHeight > 50).length,
    silent: [...document.querySelectorAll('.wide')].filter(table =>
      table.scrollWidth > table.clientWidth && innerWidth < 500 &&
      !getComputedStyle(table, '::before').content.includes('Scroll')).length,
    outside,
  }).replace(/[<>&]/g, '?'), '*');
});
</script>";

/// Chromium, under any of its usual names.
fn chromium() -> Option<PathBuf> {
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// The report of each frame of this page.
fn measured(chromium: &Path, frames: &Path) -> Vec<Value> {
    let profile = frames.with_file_name("profile");
    let args = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--virtual-time-budget=20000",
        &format!("--user-data-dir={}", profile.display()),
        "--dump-dom",
        &format!("file://{}", frames.display()),
    ];
    let Call { code, stdout, stderr } = run(Command::new(chromium), &args, b"");
    assert_eq!(code, Some(0), "{stderr}");
    let said = stdout.split("<pre>").skip(1).filter_map(|rest| rest.split("</pre>").next());
    said.map(|json| serde_json::from_str(json).expect("the probe writes JSON")).collect()
}

#[test]
fn in_a_browser_every_figure_is_there_and_nothing_overflows_at_three_widths() {
    let Some(chromium) = chromium() else {
        // Bypass the capture of the test's output, so the message is visible.
        let _told = writeln!(io::stderr(), "SKIPPED: no chromium to look at the page with");
        return;
    };
    let folder = whole_page();
    let page = String::from_utf8(folder.read("page/index.html")).expect("the page is UTF-8");
    let figures = page.matches("<figure>").count();
    // Rows that are closed are checked too.
    let probed =
        page.replace("<details>", "<details open>").replace("</body>", &format!("{PROBE}</body>"));
    let frames: String = WIDTHS
        .iter()
        .map(|width| {
            format!("<iframe src=\"probed.html\" style=\"width:{width}px;height:800px;border:0\"></iframe>")
        })
        .collect();
    let listener = "<script>addEventListener('message', said => {
        const pre = document.createElement('pre');
        pre.textContent = said.data;
        document.body.append(pre);
    });</script>";
    fs::write(folder.path("page/probed.html"), probed).expect("the folder is there");
    let frame = folder.path("page/frames.html");
    fs::write(&frame, format!("{listener}<body>{frames}</body>")).expect("the folder is there");

    let measured = measured(&chromium, &frame);
    let mut widths: Vec<_> = measured.iter().filter_map(|said| said["inner"].as_u64()).collect();
    widths.sort_unstable();
    assert_eq!(widths, WIDTHS.map(u64::from), "{measured:?}");
    for said in &measured {
        assert!(said["scroll"].as_u64() <= said["inner"].as_u64(), "the page overflows: {said}");
        assert_eq!(said["silent"], 0, "tables that scroll say so: {said}");
        assert_eq!(said["charts"], figures, "every chart has a height: {said}");
        assert_eq!(said["outside"], Value::Array(Vec::new()), "texts leave their charts: {said}");
    }
}
