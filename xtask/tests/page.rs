//! The report as a browser shows it: every figure drawn, every link resolved, nothing on the console,
//! nothing too wide for a telephone. Skipped, and said so, where no Chromium is installed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a program that hangs fails the test")]

use serde::Deserialize;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The page has no scripts; its copy under test has this one, which writes what it sees into the page.
const PROBE: &str = r##"<script>addEventListener("load", () => {
const box = e => e.getBoundingClientRect();
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
const verdict = {figures: 0, empty: [], cut: [], overlaps: [], links: 0, broken: [], too_wide: []};
for (const svg of document.querySelectorAll("svg")) {
  verdict.figures++;
  const name = svg.closest("figure")?.querySelector("figcaption")?.textContent.slice(0, 60) ?? "?";
  const frame = box(svg);
  if (frame.width < 50 || frame.height < 50 || svg.querySelectorAll("circle,polyline,polygon,path").length == 0) verdict.empty.push(name);
  const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
  const boxes = texts.map(box);
  texts.forEach((t, i) => {
    if (!inside(boxes[i], frame)) verdict.cut.push(name + ": " + t.textContent.trim());
    for (let j = 0; j < i; j++)
      if (!apart(boxes[i], boxes[j])) verdict.overlaps.push(name + ": " + t.textContent.trim() + " / " + texts[j].textContent.trim());
  });
}
for (const a of document.querySelectorAll("a[href]")) {
  verdict.links++;
  const href = a.getAttribute("href");
  if (!href.startsWith("#") || !document.getElementById(href.slice(1))) verdict.broken.push(href);
}
for (const e of document.querySelectorAll("main *"))
  if (!e.closest(".scroll,pre,svg") && box(e).right > document.documentElement.clientWidth + 1) verdict.too_wide.push(e.tagName + ": " + e.textContent.trim().slice(0, 60));
const out = document.createElement("pre");
out.id = "verdict";
out.textContent = JSON.stringify(verdict);
document.body.append(out);
});</script>"##;

#[derive(Debug, Default, PartialEq, Deserialize)]
struct Verdict {
    figures: usize,
    /// Figures without size or marks.
    empty: Vec<String>,
    /// Labels that leave their figure, or lie over others.
    cut: Vec<String>,
    overlaps: Vec<String>,
    links: usize,
    /// Links that lead nowhere, or away.
    broken: Vec<String>,
    /// What a window of 420 pixels cannot hold.
    too_wide: Vec<String>,
}

/// A browser, if there is one on the path.
fn chromium() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        // Past the test harness, which keeps what a passing test says.
        let _ = writeln!(std::io::stderr(), "page test skipped: no Chromium on the path");
    }
    found
}

/// Loads `page` with the probe in it; the probe's verdict and what the console said.
fn probed(browser: &Path, page: &str) -> (Verdict, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    assert!(page.contains("</body>"));
    fs::write(&path, page.replacen("</body>", &format!("{PROBE}</body>"), 1)).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--window-size=420,900", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(folder.path().join("log")).unwrap())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut dom = String::new();
        stdout.read_to_string(&mut dom).map(|_| dom)
    });
    let deadline = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = child.try_wait().unwrap().is_some();
    if !ended {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(ended, "{} does not end", browser.display());
    let dom = reader.join().unwrap().unwrap();
    let (_, verdict) = dom.rsplit_once("<pre id=\"verdict\">").unwrap();
    let (verdict, _) = verdict.split_once("</pre>").unwrap();
    let verdict = verdict.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let log = fs::read(folder.path().join("log")).unwrap();
    let log = String::from_utf8_lossy(&log);
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    (serde_json::from_str(&verdict).unwrap(), console.collect())
}

#[test]
fn the_report_is_sound_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["reproduce", "--scale", "smoke", "--only", "K3,S3", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    let (verdict, console) = probed(&browser, &page);
    assert_eq!(console, [""; 0]);
    assert!(verdict.figures >= 3 && verdict.links > 20, "{verdict:?}");
    let Verdict { figures, links, .. } = verdict;
    assert_eq!(verdict, Verdict { figures, links, ..Verdict::default() });
}

/// The probe sees what it is there to see.
#[test]
fn a_bad_page_is_caught() {
    let Some(browser) = chromium() else { return };
    let page = r##"<!doctype html><meta name="viewport" content="width=device-width"><body><main>
        <p style="width:900px">wide</p><a href="#here" id="here">here</a><a href="#gone">gone</a>
        <svg width="200" height="100"></svg>
        <svg width="200" height="100"><circle r="5"/><text x="20" y="50">label</text>
        <text x="22" y="50">other</text><text x="190" y="90">far out</text></svg>
        <script>console.error("wrong")</script></main></body>"##;
    let (verdict, console) = probed(&browser, page);
    assert_eq!((verdict.figures, verdict.links), (2, 2));
    assert_eq!((verdict.empty.len(), verdict.cut.len(), verdict.overlaps.len()), (1, 1, 1));
    assert_eq!(verdict.broken, ["#gone"]);
    assert!(verdict.too_wide.iter().any(|e| e.starts_with("P: wide")), "{verdict:?}");
    assert!(console.len() == 1 && console[0].contains("wrong"), "{console:?}");
}
