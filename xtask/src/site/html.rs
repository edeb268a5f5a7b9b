//! The rendered pages: formulas and links.

use crate::failure::Failure;
use crate::workspace::files;
use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each display style, the marks that the renderer puts before and after a formula.
const FORMULAS: [(MathDisplay, &str, &str); 2] = [
    (MathDisplay::Inline, "<span class=\"arithmatex\">\\(", "\\)</span>"),
    (MathDisplay::Block, "<div class=\"arithmatex\">\\[", "\\]</div>"),
];

/// The page with its formulas as MathML, which browsers typeset without a script.
pub(super) fn typeset(page: &str) -> Result<String, Failure> {
    let converter = LatexToMathML::new(MathCoreConfig::default())
        .map_err(|why| format!("cannot create the converter of formulas: {why:?}"))?;
    let mut page = page.to_owned();
    for (display, start, end) in FORMULAS {
        let mut shown = String::new();
        let mut rest = page.as_str();
        while let Some((before, after)) = rest.split_once(start) {
            let Some((formula, after)) = after.split_once(end) else {
                return Err(format!(
                    "a formula does not end: {}",
                    after.lines().next().unwrap_or_default()
                )
                .into());
            };
            let formula = unescaped(formula);
            let math = converter
                .convert_with_local_state(formula.trim(), display)
                .map_err(|why| format!("formula `{formula}`: {why:?}"))?;
            shown.push_str(before);
            shown.push_str(&math.mathml);
            rest = after;
        }
        shown.push_str(rest);
        page = shown;
    }
    Ok(page)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The links, on all pages below `folder`, whose target does not exist. A target is a file or a place in a page.
pub(super) fn broken_links(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut pages: BTreeMap<PathBuf, (BTreeSet<String>, Vec<String>)> = BTreeMap::new();
    for path in files(vec![folder.to_path_buf()], "html")? {
        let text = fs::read_to_string(&path)?;
        let places = attributes(&text, "id").map(str::to_owned).collect();
        let links = attributes(&text, "href").chain(attributes(&text, "src"));
        let links = links.map(unescaped).collect();
        pages.insert(path, (places, links));
    }
    let mut findings = BTreeSet::new();
    for (page, (_, links)) in &pages {
        let shown = page.strip_prefix(folder).unwrap_or(page).display();
        for link in links.iter().filter(|link| is_local(link)) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = path.split('?').next().unwrap_or_default();
            let target = match path {
                "" => page.clone(),
                path => resolved(page.parent().unwrap_or(folder), path),
            };
            let target = if target.is_dir() { target.join("index.html") } else { target };
            let there = match pages.get(&target) {
                Some((places, _)) => anchor.is_empty() || places.contains(anchor),
                None => target.exists(),
            };
            if !there {
                findings.insert(format!("{shown}: {link} does not exist"));
            }
        }
    }
    Ok(findings.into_iter().collect())
}

fn is_local(link: &str) -> bool {
    let elsewhere = ["http://", "https://", "mailto:", "data:", "javascript:", "//"];
    // 404.html is shown at any address, so its links start at the root.
    !elsewhere.iter().any(|start| link.starts_with(start)) && !link.starts_with('/')
}

fn resolved(folder: &Path, path: &str) -> PathBuf {
    let mut found = folder.to_path_buf();
    for part in path.split('/') {
        match part {
            "" | "." => (),
            ".." => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

/// The values of an attribute, in double quotes or without.
fn attributes<'a>(page: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    page.match_indices(name).filter_map(move |(at, _)| {
        let before = page.get(..at)?;
        let value = page.get(at + name.len()..)?.strip_prefix('=')?;
        if !before.ends_with([' ', '\n']) {
            return None;
        }
        match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split([' ', '>', '\n']).next(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_mathml() {
        let page = "<p>a <span class=\"arithmatex\">\\(x &lt; \\gamma^2\\)</span> b</p>\n\
                    <div class=\"arithmatex\">\\[\\frac{1}{2}\\]</div>";
        let shown = typeset(page).unwrap();
        assert!(shown.contains("<math>") && shown.contains("<mfrac>"), "{shown}");
        assert!(shown.contains("γ") || shown.contains("𝛾"), "{shown}");
        assert!(shown.starts_with("<p>a ") && !shown.contains("arithmatex"), "{shown}");
        assert!(typeset("<span class=\"arithmatex\">\\(\\frac{1}\\)</span>").is_err());
        assert!(typeset("<span class=\"arithmatex\">\\(x").is_err());
        assert_eq!(typeset("<p>$ x</p>").unwrap(), "<p>$ x</p>");
    }

    #[test]
    fn broken_links_are_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        let page = |links: &str| format!("<h2 id=\"c\">C</h2>{links}");
        let good = "<a href=\"b/d.html#c\">x</a><a href=e.svg>y</a><a href=\"#c\">z</a><a href=\"https://x.org\">w</a>";
        fs::write(folder.path().join("a.html"), page(good)).unwrap();
        fs::write(folder.path().join("b/d.html"), page("<img src=\"../e.svg\">")).unwrap();
        fs::write(folder.path().join("e.svg"), "").unwrap();
        assert_eq!(broken_links(folder.path()).unwrap(), [""; 0]);
        let bad = "<a href=\"b/d.html#f\">x</a><a href=g.svg>y</a><a href=\"#h\">z</a>";
        fs::write(folder.path().join("a.html"), page(bad)).unwrap();
        assert_eq!(broken_links(folder.path()).unwrap().len(), 3);
    }
}
