//! `site`: the documentation as a web site in `target/site/html`, rendered by Zensical.
//!
//! The pages are the Markdown files of `docs` and those that they link to. [`pages`] rewrites their links and turns the
//! blocks for the command, Python and Rust into tabs; [`mod@reference`] adds the options of the command and the classes
//! of the Python package; Zensical renders the pages; [`html`] typesets the formulas and checks every link.

mod html;
mod pages;
mod programs;
mod reference;

use crate::cli::SiteOptions;
use crate::console::say;
use crate::failure::Failure;
use crate::workspace::{files, workspace_root};
use pages::Site;
use programs::Programs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the site and prints one line for each broken link.
pub(crate) fn site(options: &SiteOptions) -> Result<ExitCode, Failure> {
    let root = workspace_root();
    let folder = root.join("target/site");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut site = Site::new(&root, options.repository.clone());
    for path in every_file(&root.join("docs"))? {
        site.add(path.strip_prefix(&root)?);
    }
    let mut findings = site.write(&folder.join("pages"))?;
    fs::copy(root.join("docs/zensical.toml"), folder.join("zensical.toml"))?;
    let programs = Programs::new(options.environment.as_deref())?;
    reference::write(&programs, &root, &folder.join("pages"))?;
    programs.run("zensical", &["build", "--clean"], &folder)?;
    let rendered = folder.join("html");
    for page in files(vec![rendered.clone()], "html")? {
        let text = fs::read_to_string(&page)?;
        let text = html::typeset(&text).map_err(|why| format!("{}: {why}", page.display()))?;
        fs::write(&page, text)?;
    }
    findings.extend(html::broken_links(&rendered)?);
    if findings.is_empty() {
        say(&format!("open {}\n", rendered.join("index.html").display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("{}\nsite: {} findings\n", findings.join("\n"), findings.len()))?;
    Ok(ExitCode::from(1))
}

fn every_file(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(every_file(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
