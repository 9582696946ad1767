//! `gridsync report`: a page of all results.

mod browser;

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::program::workspace;
use serde_json::{Value, json};

/// A record of a barrier, with a peer that takes 1 µs.
fn barrier(device: &str, blocks: u32, median: f64) -> Value {
    json!({
        "suite": "barrier", "variant": "grid", "device": device,
        "params": { "blocks": blocks, "threads": 256 }, "unit": "us", "median": median,
        "min": median, "max": median, "samples": 7, "bytes": null, "gb_per_s": null,
        "peer": { "name": "grid.sync", "median": 1.0, "ratio": median }, "warnings": [],
    })
}

/// A file as `gridsync bench --output` writes it.
fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A rung of the ladder of this suite, whose roof has the rate `roof`.
fn rung([suite, roof]: [&str; 2], number: u32, name: &str, us: f64) -> Value {
    json!({
        "suite": suite, "variant": name, "device": "NVIDIA H200",
        "params": { "rung": number, "dtype": "u32", "n": 1 << 20, roof: 4150.0 },
        "median": us, "min": us, "max": us, "samples": 7, "bytes": 8 << 20, "peer": null,
    })
}

/// A file as `gridsync reduce --check --json` writes it.
fn checked(n: u64, error: f64) -> String {
    let check = json!({ "reference": 1.0, "abs_err": error, "bound": 1e-3, "ok": true });
    json!({
        "op": "sum", "dtype": "f32", "n": n, "device": "NVIDIA H200", "variant": "tiles",
        "check": check, "result": 1.0,
    })
    .to_string()
}

/// A folder with the page of all records of this repository, and of the three kinds that it lacks.
fn whole_page() -> Folder {
    let scans = [1, 9].map(|number| rung(["scans", "copy_gb_per_s"], number, "a rung", 4.0));
    let sorts = [1, 6].map(|number| rung(["sorts", "pass_gb_per_s"], number, "a rung", 80.0));
    let folder = Folder::new()
        .with("scans.jsonl", lines(&scans))
        .with("sorts.jsonl", lines(&sorts))
        .with("sum.json", checked(1000, 1e-4))
        .with("sum-2.json", checked(1 << 20, 0.0));
    let runs = workspace().join("bench/runs");
    let runs = runs.to_str().expect("the path is UTF-8");
    let call = folder.call(&["report", runs, ".", "-o", "page"], b"");
    assert_eq!(call.code, Some(0), "{call:?}");
    folder
}

/// The page of one file with these records.
fn page_of(records: &[Value]) -> (Folder, Call, String) {
    let folder = Folder::new().with("runs.jsonl", lines(records));
    let call = folder.call(&["report", "runs.jsonl", "-o", "page"], b"").says_nothing();
    let page = String::from_utf8(folder.read("page/index.html")).expect("the page is UTF-8");
    (folder, call, page)
}

#[test]
fn the_page_shows_the_newest_record_next_to_its_peer_and_lists_omissions() {
    let (folder, call, page) = page_of(&[
        barrier("a GPU", 132, 0.9),
        barrier("a GPU", 528, 0.7),
        barrier("a GPU", 132, 0.8),
    ]);
    assert_eq!(call.stdout, "page/index.html: 3 records, 2 figures\n");
    for part in [
        "<title>gridsync on a GPU</title>",
        "<th scope=\"row\">a barrier of 132 blocks of 256 threads</th><td class=\"number\">0.80</td>\
         <td class=\"number\">0.80–0.80</td><td class=\"number\">1.00</td><td class=\"number\"><strong>0.80</strong></td>",
        "<th scope=\"row\">barrier</th><td class=\"number\">2</td><td class=\"number\">2</td>",
        "The ladder of scans: there are no records of <code>gridsync lab scans</code>.",
    ] {
        assert!(page.contains(part), "{part:?}: {page}");
    }
    assert_eq!(page.matches("<figure>").count(), 2);
    let chart = String::from_utf8(folder.read("page/a-gpu-barrier.svg")).expect("UTF-8");
    assert!(chart.starts_with("<svg ") && page.contains(chart.trim()), "{chart}");
    assert!(chart.contains("grid: 0.8 at 132") && !chart.contains("grid: 0.9"), "{chart}");
}

#[test]
fn the_page_loads_nothing_from_a_network_and_runs_no_script_from_a_record() {
    let evil = "<script>alert(\"&\")</script>";
    let mut record = barrier(evil, 132, 0.9);
    record["peer"]["name"] = evil.into();
    record["variant"] = "grid".into();
    let (_folder, _call, page) = page_of(&[record]);
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;"), "{page}");
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for fetched in ["http:", "https:", "src=", "url(", "@import", "<link", "<iframe"] {
        assert!(!page.contains(fetched), "{fetched}: {page}");
    }
}

#[test]
fn files_of_an_older_page_are_replaced_and_others_stay() {
    let folder = Folder::new().with("runs.jsonl", lines(&[barrier("a GPU", 132, 0.9)]));
    let make = || folder.call(&["report", "runs.jsonl", "-o", "page"], b"").says_nothing();
    make();
    let page = folder.read("page/index.html");
    let folder = folder.with("page/index.html", "old").with("page/notes.txt", "mine");
    folder.call(&["report", "runs.jsonl", "-o", "page"], b"").says_nothing();
    assert_eq!(folder.read("page/index.html"), page);
    assert_eq!(folder.read("page/notes.txt"), b"mine");
}

#[test]
fn unreadable_records_are_refused_in_one_line_and_nothing_is_written() {
    let good = lines(&[barrier("a GPU", 132, 0.9)]);
    let folder = Folder::new().with("runs.jsonl", format!("{good}not a record\n"));
    let report = |runs: &str| folder.call(&["report", runs, "-o", "page"], b"");
    report("runs.jsonl").fails(WRONG_USAGE, &["runs.jsonl:2: not a record: ", "column"]);
    report("gone").fails(WRONG_USAGE, &["gone: no such file or folder"]);
    assert!(!folder.path("page").exists());
    let folder = Folder::new().with("sum.json", "{\"a\": 1");
    folder
        .call(&["report", "sum.json", "-o", "page"], b"")
        .fails(WRONG_USAGE, &["sum.json:1: not JSON: "]);
    folder.call(&["report", ".", "-o", "page"], b"").fails(WRONG_USAGE, &["sum.json"]);
    Folder::new()
        .call(&["report", ".", "-o", "page"], b"")
        .fails(WRONG_USAGE, &["no records in ."]);
    let folder = Folder::new().with("runs.jsonl", good).with("page", "a file");
    folder.call(&["report", "runs.jsonl", "-o", "page"], b"").fails(WRONG_USAGE, &["page"]);
}

#[test]
fn the_page_of_all_records_has_every_figure() {
    let folder = whole_page();
    let page = String::from_utf8(folder.read("page/index.html")).expect("the page is UTF-8");
    assert!(!page.contains(">Left out</h2>"), "{page}");
    let figures = page.matches("<figure>").count();
    assert!(figures > 20, "{figures} figures");
    for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let is_found = match link.strip_prefix('#') {
            Some(section) => page.contains(&format!(" id=\"{section}\"")),
            None => folder.path("page").join(link).is_file(),
        };
        assert!(is_found, "{link} leads nowhere");
    }
}
