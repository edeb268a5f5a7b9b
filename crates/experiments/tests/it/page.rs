//! Tests of the report in a browser: figures are drawn and named, links resolve, filters work, headings are in order,
//! colours are readable in light and dark mode, the console is empty, and nothing is too wide for a phone. The tests
//! are skipped with a message if Chromium is not installed.
#![allow(clippy::disallowed_methods, reason = "a program that hangs fails the test")]

use serde::Deserialize;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A script that is added to a copy of the page under test. The page itself has no scripts. The script writes its
/// findings into the copy.
const PROBE: &str = r##"<script>addEventListener("load", () => {
const box = e => e.getBoundingClientRect();
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
const text_of = e => e.textContent.trim().slice(0, 60);
const verdict = {figures: 0, empty: [], cut: [], overlaps: [], links: 0, broken: [], too_wide: [], files: 0, headings: [],
  unnamed: [], faint: [], filters: 0, wrong_filters: [], twice: [], contents_beside: false, findings: 0, missed: [], same_title: []};
document.querySelectorAll("details").forEach(d => d.open = true);
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parts = colour => colour.match(/[0-9.]+/g).map(Number);
const paper = e => {
  const rect = e.closest("svg")?.querySelector(".paper");
  if (rect) return parts(getComputedStyle(rect).fill);
  for (; e; e = e.parentElement) {
    const back = parts(getComputedStyle(e).backgroundColor);
    if (back.length < 4 || back[3] == 1) return back;
  }
  return [255, 255, 255];
};
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
  if (!own || e.closest("script,style") || e.getClientRects().length == 0) continue;
  const style = getComputedStyle(e);
  const [a, b] = [luminance(parts(e.closest("svg") ? style.fill : style.color)), luminance(paper(e))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) verdict.faint.push(contrast.toFixed(2) + ": " + text_of(e));
}
let level = 0;
for (const h of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
  if (+h.tagName[1] > level + 1) verdict.headings.push(text_of(h));
  level = +h.tagName[1];
}
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
verdict.twice = ids.filter((id, i) => ids.indexOf(id) < i);
for (const e of document.querySelectorAll("svg,[role=img],[role=region],nav"))
  if (!e.getAttribute("aria-label")) verdict.unnamed.push(e.tagName + ": " + text_of(e));
for (const e of document.querySelectorAll("input")) if (!e.labels?.length) verdict.unnamed.push("INPUT: " + e.id);
const rows = [...document.querySelectorAll(".ledger tbody tr")];
const filters = name => [...document.querySelectorAll(`input[name=${name}]`)];
const picked = (row, name, input) => input.id == name + "-all" || row.dataset[name] == input.id.slice(name.length + 1);
for (const kind of filters("kind")) for (const v of filters("verdict")) {
  kind.checked = v.checked = true;
  verdict.filters++;
  const shown = rows.filter(r => r.getClientRects().length);
  const right = rows.filter(r => picked(r, "kind", kind) && picked(r, "verdict", v));
  const told = +(v.id == "verdict-all" ? kind : v).parentElement.querySelector(".count").textContent;
  const alone = v.id == "verdict-all" || kind.id == "kind-all";
  if (shown.length != right.length || shown.some(r => !right.includes(r)) || alone && told != shown.length) verdict.wrong_filters.push(kind.id + ", " + v.id);
}
for (const name of ["kind", "verdict"]) if (filters(name)[0]) filters(name)[0].checked = true;
const side = document.querySelector(".side");
if (side) verdict.contents_beside = side.getClientRects().length > 0 && box(side).right <= box(document.querySelector("main")).left + 1;
verdict.findings = document.querySelectorAll(".finding").length;
verdict.missed = [...document.querySelectorAll(".missed li")].map(e => e.textContent);
const titles = new Set();
for (const svg of document.querySelectorAll("svg")) {
  if (svg.getClientRects().length == 0) continue;
  verdict.figures++;
  const title = [...svg.querySelectorAll(".title")].map(e => e.textContent).join(" ");
  if (title && !svg.closest(".finding") && titles.size == titles.add(title).size) verdict.same_title.push(title);
  const name = svg.closest("figure")?.querySelector("figcaption")?.textContent.slice(0, 60) ?? "?";
  const frame = box(svg);
  if (frame.right > document.documentElement.clientWidth + 1) verdict.too_wide.push("SVG: " + name);
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
  if (href.startsWith("data:text/csv") && a.download.endsWith(".csv")) {
    verdict.files++;
    const csv = decodeURIComponent(href.slice(href.indexOf(",") + 1));
    if (!csv.includes(",") || !csv.endsWith("\n")) verdict.broken.push(a.download);
  } else if (!href.startsWith("#") || !document.getElementById(href.slice(1))) verdict.broken.push(href);
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
    /// Figures that have no size or no marks.
    empty: Vec<String>,
    /// Labels that extend outside their figure.
    cut: Vec<String>,
    /// Labels that overlap other labels.
    overlaps: Vec<String>,
    links: usize,
    /// Links without a target on the page.
    broken: Vec<String>,
    /// Elements wider than the window.
    too_wide: Vec<String>,
    /// Number of links that contain a CSV file.
    files: usize,
    /// Headings that skip a level.
    headings: Vec<String>,
    /// Figures, bars, regions and fields without an accessible name.
    unnamed: Vec<String>,
    /// Text with a contrast below 4.5.
    faint: Vec<String>,
    /// Number of pairs of filters of the ledger.
    filters: usize,
    /// Pairs of filters that show wrong rows or a wrong number.
    wrong_filters: Vec<String>,
    /// Duplicate anchors.
    twice: Vec<String>,
    contents_beside: bool,
    findings: usize,
    /// Findings that are not shown, with the reasons.
    missed: Vec<String>,
    /// Figures with the title of another one.
    same_title: Vec<String>,
}

/// A window: its width, and whether it uses dark mode.
type Window = (u32, bool);

/// The path of Chromium, if it is installed.
fn chromium() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        // Written directly to stderr, since the test harness captures the output of passing tests.
        let _ = writeln!(std::io::stderr(), "page test skipped: no Chromium on the path");
    }
    found
}

/// Loads `page` with the probe. Returns the verdict of the probe and the messages on the console.
fn probed(browser: &Path, page: &str, (width, dark): Window) -> (Verdict, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    assert!(page.contains("</body>"));
    fs::write(&path, page.replacen("</body>", &format!("{PROBE}</body>"), 1)).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
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
    assert!(ended, "{} did not end within 120 s", browser.display());
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
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_halfspaces-experiments"))
        .args(["reproduce", "--scale", "smoke", "--only", "K3,K8,S3,S9,S11,S12,P10,PM", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let shown: Vec<&str> = readme.split("](docs/results/figures/").skip(1).collect();
    assert!(shown.len() >= 3);
    for name in shown.iter().map(|rest| rest.split(')').next().unwrap()) {
        let drawn = folder.path().join("figures").join(name);
        assert!(drawn.is_file(), "the README shows {name}, which this run does not draw");
    }
    let Some(browser) = chromium() else { return };
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    for (window, contents_beside) in
        [((420, false), false), ((1000, true), false), ((1600, false), true)]
    {
        let (verdict, console) = probed(&browser, &page, window);
        assert_eq!(console, [""; 0]);
        assert!(verdict.figures >= 12 && verdict.links > 40 && verdict.files > 20, "{verdict:?}");
        // One filter selects all kinds or one of three, and the other all verdicts or one of five.
        assert_eq!(verdict.filters, 4 * 6);
        // One finding each of S11, S12 and PM, and two of P10.
        assert_eq!(verdict.findings + verdict.missed.len(), 5, "{verdict:?}");
        assert!(verdict.findings >= 3, "{:?}", verdict.missed);
        assert!(
            !verdict.missed.iter().any(|why| why.contains("not drawn")),
            "{:?}",
            verdict.missed
        );
        let Verdict { figures, links, files, filters, findings, ref missed, .. } = verdict;
        let missed = missed.clone();
        let sound = Verdict {
            figures,
            links,
            files,
            filters,
            findings,
            missed,
            contents_beside,
            ..Verdict::default()
        };
        assert_eq!(verdict, sound, "{window:?}");
    }
}

/// The probe detects every fault that it tests for.
#[test]
fn a_bad_page_is_caught() {
    let Some(browser) = chromium() else { return };
    let page = r##"<!doctype html><meta name="viewport" content="width=device-width"><body><main>
        <p style="width:900px">wide</p><a href="#here" id="here">here</a><a href="#gone">gone</a>
        <h1>First</h1><h3>Third</h3><p style="color:#777;background:#888" id="here">faint</p>
        <section class="ledger"><label><input type="radio" name="kind" id="kind-all">all <span class="count">2</span></label>
        <input type="radio" name="verdict" id="verdict-all"><table><tbody><tr><td>one row</td></tr></tbody></table></section>
        <a download="a.csv" href="data:text/csv,abc">abc</a><svg width="200" height="100"></svg>
        <svg width="200" height="100"><circle r="5"/><text x="20" y="50">label</text>
        <text x="22" y="50">other</text><text x="190" y="90">far out</text></svg>
        <svg width="200" height="100"><circle r="5"/><text class="title" y="50">Twice</text></svg>
        <svg width="200" height="100"><circle r="5"/><text class="title" y="50">Twice</text></svg>
        <svg width="200" height="100" style="display:none"></svg><svg width="1900" height="100"><circle r="5"/></svg>
        <script>console.error("wrong")</script></main></body>"##;
    let (verdict, console) = probed(&browser, page, (420, false));
    assert_eq!((verdict.figures, verdict.links, verdict.files), (5, 3, 1));
    assert_eq!(
        (&verdict.headings[..], &verdict.twice[..]),
        (&["Third".to_owned()][..], &["here".to_owned()][..])
    );
    assert!(verdict.faint.iter().any(|e| e.ends_with("faint")), "{verdict:?}");
    assert_eq!((verdict.unnamed.len(), verdict.wrong_filters.len()), (7, 1), "{verdict:?}");
    assert_eq!((verdict.empty.len(), verdict.cut.len(), verdict.overlaps.len()), (1, 1, 1));
    assert_eq!(verdict.broken, ["#gone", "a.csv"]);
    for wide in ["P: wide", "SVG: "] {
        assert!(verdict.too_wide.iter().any(|e| e.starts_with(wide)), "{verdict:?}");
    }
    assert_eq!(verdict.same_title, ["Twice"]);
    assert!(console.len() == 1 && console[0].contains("wrong"), "{console:?}");
}
