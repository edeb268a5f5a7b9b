//! `tidy` passes on this workspace and fails on planted faults.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tidy(root: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("tidy");
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    command.output().unwrap()
}

/// Creates a workspace of two layers, which is tidy unless `linalg` gets more dependencies or other code.
fn plant(root: &Path, linalg_dependencies: &str, linalg_code: &str) {
    fs::write(root.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n")
        .unwrap();
    for (name, dependencies, code) in [
        ("linalg", linalg_dependencies, linalg_code),
        (
            "online",
            "halfspaces-linalg = { path = \"../linalg\" }",
            "//! Learners on `halfspaces_linalg`.\n",
        ),
    ] {
        let folder = root.join("crates").join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"halfspaces-{name}\"\nversion = \"0.1.0\"\ndescription = \"x\"\n\
             [lints]\nworkspace = true\n[dependencies]\n{dependencies}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("README.md"), "# x\n").unwrap();
        fs::write(folder.join("src/lib.rs"), code).unwrap();
        if code.contains("mod c;") {
            fs::write(folder.join("src/c.rs"), "//! Sums.\nuse super::f;\n").unwrap();
        }
    }
    let lints = "[workspace.lints.rust]\nmissing_docs = \"warn\"\n";
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    fs::write(root.join("Cargo.toml"), manifest + lints).unwrap();
}

#[test]
fn this_workspace_is_tidy() {
    let output = tidy(None);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

#[test]
fn planted_faults_are_found() {
    let cases = [
        ("", "//! Points.\n", None),
        (
            "[dev-dependencies]\nhalfspaces-online = { path = \"../online\" }",
            "//! Points.\n",
            Some("halfspaces-linalg: upward dev dependency on halfspaces-online"),
        ),
        ("", concat!("//! Points of no", "body.\n"), Some("write no one")),
        ("", "fn f() {}\n", Some("lib.rs:1: a module must start with `//!`")),
        (
            "serde = \"1\"",
            "//! Points.\n",
            Some("halfspaces-linalg: the dependency serde is not used"),
        ),
        (
            "",
            "//! Points.\nmod c;\nuse c::g;\nfn f() {}\n",
            Some("halfspaces-linalg: cycle of modules: crate -> crate::c -> crate"),
        ),
    ];
    for (dependencies, code, finding) in cases {
        let root = tempfile::tempdir().unwrap();
        plant(root.path(), dependencies, code);
        let output = tidy(Some(root.path()));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        match finding {
            None => assert_eq!(output.status.code(), Some(0), "{said}"),
            Some(finding) => {
                assert!(said.contains(finding), "{said}");
                assert_eq!(output.status.code(), Some(1));
            }
        }
    }
}

#[test]
fn missing_files_named_by_documents_are_found() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path(), "", "//! Points.\n//!\n//! See docs/a.md.\n");
    let readme = root.path().join("README.md");
    let text = "# Here\n[here](crates/linalg/README.md#x), [gone](b.md), crates/gone.rs\n\
                cargo run --example c\n[there](#here), [no](#there), [no](crates/linalg/README.md#y)\n";
    fs::write(&readme, text).unwrap();
    let output = tidy(Some(root.path()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let missing = |finding: &str| said.contains(&format!("{finding}, which does not exist"));
    assert!(missing("README.md:2: names b.md"), "{said}");
    assert!(missing("README.md:2: names crates/gone.rs"), "{said}");
    assert!(missing("README.md:3: names c"), "{said}");
    assert!(missing("crates/linalg/src/lib.rs:3: names docs/a.md"), "{said}");
    assert!(missing("README.md:4: names #there"), "{said}");
    assert!(missing("README.md:4: names crates/linalg/README.md#y"), "{said}");
    assert_eq!(said.matches("which does not exist").count(), 6, "{said}");
    let text = text.replace("#there", "#here").replace("#y", "#x");
    fs::write(&readme, text).unwrap();
    fs::create_dir(root.path().join("docs")).unwrap();
    fs::create_dir(root.path().join("crates/online/examples")).unwrap();
    for name in ["b.md", "crates/gone.rs", "crates/online/examples/c.rs", "docs/a.md"] {
        fs::write(root.path().join(name), "").unwrap();
    }
    assert_eq!(tidy(Some(root.path())).status.code(), Some(0));
}

/// An upward dependency in the library itself. The dependency in the other direction is removed, since Cargo refuses a
/// cycle of normal dependencies.
#[test]
fn an_upward_dependency_is_found() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path(), "halfspaces-online = { path = \"../online\" }", "//! Points.\n");
    let manifest = root.path().join("crates/online/Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("halfspaces-linalg = { path = \"../linalg\" }", "")).unwrap();
    let output = tidy(Some(root.path()));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("halfspaces-linalg: upward normal dependency on halfspaces-online"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(1));
}
