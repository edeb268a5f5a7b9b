//! The Markdown pages of the site: places, links and tabs.

use crate::failure::Failure;
use crate::headings::headings;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The lines that begin a tab.
const TABS: [&str; 3] = ["**Command**", "**Python**", "**Rust**"];

/// Files that a browser shows or stores as they are. Other files, such as sources, become text files.
const SHOWN: [&str; 8] = ["md", "svg", "png", "csv", "json", "txt", "css", "ipynb"];

/// The files of the site. Links from its pages add more files.
pub(super) struct Site<'a> {
    root: &'a Path,
    /// The address of the sources, if they are not copied.
    repository: Option<String>,
    /// Paths from the root of the workspace.
    files: BTreeSet<PathBuf>,
}

impl<'a> Site<'a> {
    pub(super) fn new(root: &'a Path, repository: Option<String>) -> Self {
        let repository = repository.map(|address| address.trim_end_matches('/').to_owned());
        Site { root, repository, files: BTreeSet::new() }
    }

    /// Adds a file, given by its path from the root of the workspace.
    pub(super) fn add(&mut self, file: &Path) {
        self.files.insert(file.to_path_buf());
    }

    /// Writes all pages and the files that they link to. Returns the links without a target.
    pub(super) fn write(mut self, to: &Path) -> Result<Vec<String>, Failure> {
        let mut findings = Vec::new();
        let mut written: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        while let Some(file) = self.files.pop_first() {
            let target = place(&file);
            if written.contains_key(&file) {
                continue;
            }
            if let Some(other) = written.values().find(|other| **other == target) {
                return Err(format!("two files of the site are {}", other.display()).into());
            }
            let from = self.root.join(&file);
            let into = to.join(&target);
            fs::create_dir_all(into.parent().unwrap_or(to))?;
            if is_page(&file) {
                let text = fs::read_to_string(&from)?;
                let text = self.with_links(&file, &text, &mut findings);
                fs::write(&into, with_tabs(&with_names(&with_stars(&text))))?;
            } else if from.is_dir() {
                fs::write(&into, listing(&from)?)?;
            } else {
                fs::copy(&from, &into)?;
            }
            written.insert(file, target);
        }
        Ok(findings)
    }

    /// The text with the links to files replaced by links to their places in the site.
    fn with_links(&mut self, file: &Path, text: &str, findings: &mut Vec<String>) -> String {
        let mut fenced = false;
        let mut lines = Vec::new();
        for line in text.lines() {
            fenced ^= line.trim_start().starts_with("```");
            let mut parts = line.split("](");
            let mut shown = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                match (part.split_once(')'), shown.rfind('[')) {
                    // rustdoc resolves links to items; the site shows their names.
                    (Some((link, rest)), Some(start)) if !fenced && link.contains("::") => {
                        shown.remove(start);
                        shown.push_str(rest);
                    }
                    (Some((link, rest)), _) if !fenced => {
                        let link = self.link(file, link, findings);
                        shown.push_str(&format!("]({link}){rest}"));
                    }
                    _ => shown.push_str(&format!("]({part}")),
                }
            }
            lines.push(shown);
        }
        lines.join("\n") + "\n"
    }

    fn link(&mut self, file: &Path, link: &str, findings: &mut Vec<String>) -> String {
        let (path, place_in_page) = match link.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link, String::new()),
        };
        if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
            return link.to_owned();
        }
        let Some(mut target) = normalised(&file.parent().unwrap_or(Path::new("")).join(path))
        else {
            findings.push(format!("{}: {link} is outside of the workspace", file.display()));
            return link.to_owned();
        };
        let folder = self.root.join(&target).is_dir();
        if folder && self.root.join(&target).join("README.md").exists() {
            target.push("README.md");
        } else if !self.root.join(&target).exists() {
            findings.push(format!("{}: {link} does not exist", file.display()));
            return link.to_owned();
        }
        match &self.repository {
            Some(address) if !target.starts_with("docs") => {
                format!("{address}/blob/main/{}{place_in_page}", target.display())
            }
            _ => {
                self.files.insert(target.clone());
                format!("{}{place_in_page}", relative(&place(file), &place(&target)))
            }
        }
    }
}

fn is_page(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// The place of a workspace file in the site. docs/README.md is the start page.
fn place(file: &Path) -> PathBuf {
    let mut place = match file.strip_prefix("docs") {
        Ok(rest) if rest == Path::new("index.md") => PathBuf::from("theorem-index.md"),
        Ok(rest) => rest.to_path_buf(),
        Err(_) => Path::new("workspace").join(file),
    };
    if place.file_name().is_some_and(|name| name == "README.md") {
        place.set_file_name("index.md");
    }
    let extension = place.extension().map(|e| e.to_string_lossy().into_owned());
    if !extension.as_deref().is_some_and(|extension| SHOWN.contains(&extension)) {
        place.as_mut_os_string().push(".txt");
    }
    place
}

/// The path without `.` and `..`; `None` if it leaves the workspace.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => found.pop().then_some(())?,
            Component::Normal(part) => found.push(part),
            Component::CurDir => (),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

/// The path from the page `from` to `to`.
fn relative(from: &Path, to: &Path) -> String {
    let folders: Vec<Component<'_>> =
        from.parent().map(|f| f.components().collect()).unwrap_or_default();
    let target: Vec<Component<'_>> = to.components().collect();
    let common = folders.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let up = folders.iter().skip(common).map(|_| "..".to_owned());
    let down =
        target.iter().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The names of the files in a folder.
fn listing(folder: &Path) -> Result<String, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join("\n") + "\n")
}

/// The text with a backslash before each star that CommonMark shows as a star. Zensical would read `w* and v*` as
/// emphasis.
fn with_stars(text: &str) -> String {
    let mut stars = BTreeSet::new();
    let mut code = false;
    let options = Options::ENABLE_TABLES | Options::ENABLE_MATH;
    for (event, at) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(_) if !code => {
                let Some(shown) = text.get(at.clone()) else {
                    unreachable!("the parser returns ranges of the text")
                };
                stars.extend(shown.match_indices('*').map(|(star, _)| at.start + star));
            }
            _ => (),
        }
    }
    let mut shown = text.to_owned();
    for star in stars.into_iter().rev() {
        if !text.get(..star).is_some_and(|before| before.ends_with('\\')) {
            shown.insert(star, '\\');
        }
    }
    shown
}

/// The text in which each heading has the name that links use.
fn with_names(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (at, name) in headings(text) {
        if let Some(line) = lines.get_mut(at) {
            line.push_str(&format!(" {{#{name}}}"));
        }
    }
    lines.join("\n") + "\n"
}

/// The text with tabs: a tab begins at a line of [`TABS`] and ends at the next one or at a heading.
fn with_tabs(text: &str) -> String {
    let (mut fenced, mut tab) = (false, false);
    let mut shown = String::new();
    for line in text.lines() {
        let begins = !fenced && TABS.contains(&line);
        fenced ^= line.trim_start().starts_with("```");
        tab &= fenced || !line.starts_with('#');
        if begins {
            shown.push_str(&format!("=== \"{}\"", line.trim_matches('*')));
        } else {
            let indent = if tab && !line.is_empty() { "    " } else { "" };
            shown.push_str(indent);
            shown.push_str(line);
        }
        tab |= begins;
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_place_in_the_site() {
        for (file, to) in [
            ("docs/README.md", "index.md"),
            ("docs/index.md", "theorem-index.md"),
            ("docs/tutorial/README.md", "tutorial/index.md"),
            ("docs/results/figures/a.svg", "results/figures/a.svg"),
            ("crates/pac/README.md", "workspace/crates/pac/index.md"),
            ("crates/pac/src/lib.rs", "workspace/crates/pac/src/lib.rs.txt"),
            ("CHANGELOG.md", "workspace/CHANGELOG.md"),
            ("crates/pac/src", "workspace/crates/pac/src.txt"),
        ] {
            assert_eq!(place(Path::new(file)), Path::new(to));
        }
        assert_eq!(relative(Path::new("a/b/c.md"), Path::new("a/d.md")), "../d.md");
        assert_eq!(relative(Path::new("a.md"), Path::new("b/c.md")), "b/c.md");
        assert_eq!(normalised(Path::new("docs/../a/./b")), Some(PathBuf::from("a/b")));
        assert_eq!(normalised(Path::new("docs/../../a")), None);
    }

    #[test]
    fn links_lead_into_the_site_or_to_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("docs/guide")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        let page = "[a](../README.md#b), [c](../../src/c.rs), [d](https://d.org)\n\
                    ```sh\n[e](f.md)\n```\n[`g`](h::g) i\n";
        for (name, text) in [("docs/README.md", ""), ("docs/guide/a.md", page), ("src/c.rs", "")] {
            fs::write(root.join(name), text).unwrap();
        }
        let written = |repository: Option<String>| {
            let mut site = Site::new(root, repository);
            site.add(Path::new("docs/guide/a.md"));
            let to = tempfile::tempdir().unwrap();
            assert_eq!(site.write(to.path()).unwrap(), [""; 0]);
            let text = fs::read_to_string(to.path().join("guide/a.md")).unwrap();
            assert!(text.ends_with("\n`g` i\n"), "{text}");
            text.replace("`g` i", "[`g`](h::g) i")
        };
        let copied = page.replace("../README.md#b", "../index.md#b");
        let there = copied.replace("../../src/c.rs", "https://x.org/blob/main/src/c.rs");
        let copied = copied.replace("../../src/c.rs", "../workspace/src/c.rs.txt");
        assert_eq!(written(None), copied);
        assert_eq!(written(Some("https://x.org/".into())), there);
    }

    #[test]
    fn links_without_a_target_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("docs/empty")).unwrap();
        fs::write(root.join("docs/a.md"), "[b](b.md) [c](empty) [d](../../d.md)").unwrap();
        let mut site = Site::new(root, None);
        site.add(Path::new("docs/a.md"));
        let found = site.write(&root.join("site")).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        let listed = fs::read_to_string(root.join("site/empty.txt")).unwrap();
        assert_eq!(listed, "\n");
    }

    #[test]
    fn stars_of_formulas_stay_stars() {
        let text = "*Proof.* w* is v*‖, **then** $a^*$ and `b*`, c\\*.\n\n| w* | x* |\n|---|---|\n| w*‖ | x*‖ |\n\n\
                    ```\nw*\n```\n\n    v* u*\n";
        let escaped = "*Proof.* w\\* is v\\*‖, **then** $a^*$ and `b*`, c\\*.\n\n\
                       | w\\* | x\\* |\n|---|---|\n| w\\*‖ | x\\*‖ |\n\n\
                       ```\nw*\n```\n\n    v* u*\n";
        assert_eq!(with_stars(text), escaped);
        assert_eq!(with_stars(escaped), escaped);
    }

    #[test]
    fn headings_get_names() {
        assert_eq!(with_names("# A b\n\nc\n"), "# A b {#a-b}\n\nc\n");
    }

    #[test]
    fn blocks_become_tabs() {
        let text = "# A\n\n**Command**\n\n```sh\n# x\n```\n\n**Rust**\n\ny\n\n## B\n\nz\n";
        let tabs = "# A\n\n=== \"Command\"\n\n    ```sh\n    # x\n    ```\n\n=== \"Rust\"\n\n    y\n\n## B\n\nz\n";
        assert_eq!(with_tabs(text), tabs);
    }
}
