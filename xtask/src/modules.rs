//! Reads the modules of a crate from the tokens of its sources. Finds the file that defines a public item, for the index, and
//! cycles of modules, for `tidy`.

use crate::failure::Failure;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Segments of a path from the root of a crate.
type Segments = Vec<String>;

/// A module with a file of its own.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    /// The modules that the module declares, and whether they are public.
    children: BTreeMap<String, bool>,
    /// The types, traits and constants that the module defines; `functions` has all functions and methods.
    items: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// Imported names with their paths, and whether they are exported again.
    imports: BTreeMap<String, (Segments, bool)>,
    /// The paths within the crate that the module uses.
    references: Vec<Segments>,
}

/// The modules of a crate, without its tests.
#[derive(Debug)]
pub(crate) struct Crate {
    modules: BTreeMap<Segments, Module>,
}

impl Crate {
    /// Reads a crate from its root file and the modules that the file declares.
    pub(crate) fn read(root: &Path) -> Result<Crate, Failure> {
        let mut modules = BTreeMap::new();
        let mut open = vec![(Segments::new(), root.to_path_buf())];
        while let Some((path, file)) = open.pop() {
            let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let tokens: TokenStream =
                text.parse().map_err(|e| format!("{}: {e}", file.display()))?;
            let mut module = Module { file: file.clone(), ..Module::default() };
            module.scan(tokens, &path, &path);
            let siblings = if path.is_empty() || file.ends_with("mod.rs") {
                file.with_file_name("")
            } else {
                file.with_extension("")
            };
            for name in module.children.keys() {
                let files =
                    [siblings.join(format!("{name}.rs")), siblings.join(name).join("mod.rs")];
                // A module without a file is inside this file.
                if let Some(file) = files.into_iter().find(|file| file.exists()) {
                    open.push(([path.as_slice(), std::slice::from_ref(name)].concat(), file));
                }
            }
            modules.insert(path, module);
        }
        Ok(Crate { modules })
    }

    /// Cycles of modules: a shortest cycle for each set of modules that depend on each other.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let uses: BTreeMap<&Segments, BTreeSet<&Segments>> =
            self.modules.iter().map(|(path, module)| (path, self.used(path, module))).collect();
        let mut found: Vec<Vec<&Segments>> = Vec::new();
        for start in self.modules.keys() {
            if found.iter().any(|cycle| cycle.contains(&start)) {
                continue;
            }
            let mut before: BTreeMap<&Segments, &Segments> = BTreeMap::new();
            let mut queue = VecDeque::from([start]);
            'search: while let Some(at) = queue.pop_front() {
                for next in uses.get(at).into_iter().flatten() {
                    if *next == start {
                        let mut cycle = vec![at];
                        while let Some(previous) = before.get(cycle[cycle.len() - 1]) {
                            cycle.push(previous);
                        }
                        cycle.reverse();
                        found.push(cycle);
                        break 'search;
                    }
                    if !before.contains_key(*next) {
                        before.insert(next, at);
                        queue.push_back(next);
                    }
                }
            }
        }
        let name = |path: &Segments| [&["crate".to_owned()], path.as_slice()].concat().join("::");
        let text = |cycle: &Vec<&Segments>| {
            let around = cycle.iter().chain(cycle.first()).map(|path| name(path));
            around.collect::<Vec<_>>().join(" -> ")
        };
        found.iter().map(text).collect()
    }

    /// The file that defines a public item, given the path that users of the crate write. A method is in the file of its
    /// type. Returns `None` if there is no such public item.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&Path> {
        let path: Segments = path.iter().map(|name| (*name).to_owned()).collect();
        let mut public = 0;
        while public < path.len()
            && self.modules.get(&path[..public])?.children.get(&path[public]) == Some(&true)
        {
            public += 1;
        }
        let module = self.modules.get(&path[..public])?;
        let full = match path.get(public).and_then(|name| module.imports.get(name)) {
            Some((target, true)) => [target, &path[public + 1..]].concat(),
            Some((_, false)) => return None,
            None if path.get(public).is_some_and(|name| module.children.contains_key(name)) => {
                return None;
            }
            None => path,
        };
        let (at, item) = self.resolve(&full);
        let module = self.modules.get(&at)?;
        let known = match item.as_slice() {
            [] => true,
            [name] => module.items.contains(name) || module.functions.contains(name),
            // Methods may be in the file of their type or in a module below it.
            [name, method] => {
                let folder = at.split_last().map_or(&[][..], |(_, folder)| folder);
                let mut near = self.modules.iter().filter(|(path, _)| path.starts_with(folder));
                module.items.contains(name) && near.any(|(_, m)| m.functions.contains(method))
            }
            _ => false,
        };
        known.then_some(module.file.as_path())
    }

    /// The file of the module that contains the item at a path within the crate.
    pub(crate) fn file_of(&self, path: &[&str]) -> Option<&Path> {
        let path: Segments = path.iter().map(|name| (*name).to_owned()).collect();
        self.modules.get(self.split(&path).0).map(|module| module.file.as_path())
    }

    /// The modules that a module uses.
    fn used<'a>(&'a self, path: &Segments, module: &'a Module) -> BTreeSet<&'a Segments> {
        let used = module.references.iter().map(|target| self.resolved(target));
        used.filter(|target| *target != path).collect()
    }

    fn resolved(&self, path: &[String]) -> &Segments {
        let (resolved, _) = self.resolve(path);
        let Some((known, _)) = self.modules.get_key_value(&resolved) else {
            unreachable!("only modules are resolved to: {resolved:?}")
        };
        known
    }

    /// The module that defines the item at a path after following imports, and the rest of the path.
    fn resolve(&self, path: &[String]) -> (Segments, Segments) {
        let mut path = path.to_vec();
        let mut seen = BTreeSet::new();
        loop {
            let (module, item) = self.split(&path);
            let import = item.first().and_then(|name| self.modules.get(module)?.imports.get(name));
            match import {
                // A macro and a type with the same name may refer to each other.
                Some((target, _)) if seen.len() < 32 && seen.insert(path.clone()) => {
                    path = [target, &item[1..]].concat();
                }
                _ => return (module.to_vec(), item.to_vec()),
            }
        }
    }

    /// Splits a path after its longest prefix that is a module with a file.
    fn split<'a>(&self, path: &'a [String]) -> (&'a [String], &'a [String]) {
        let mut lengths = (0..=path.len()).rev();
        let at = lengths.find(|at| self.modules.contains_key(&path[..*at]));
        path.split_at(at.unwrap_or_else(|| unreachable!("the root of the crate is a module")))
    }
}

impl Module {
    /// Reads `tokens`, the text of the module `here` or of a module inside the file `file`.
    fn scan(&mut self, tokens: TokenStream, file: &[String], here: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let word = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(word)) => Some(word.to_string()),
            _ => None,
        };
        let colons = |at: usize| [at, at + 1].iter().all(|at| punct(tokens.get(*at), ':'));
        // Find declarations first: a module may be used above its declaration.
        for at in 0..tokens.len() {
            if word(at).as_deref() == Some("mod")
                && file.len() == here.len()
                && let Some(name) = word(at + 1)
            {
                let public = at > 0 && word(at - 1).as_deref() == Some("pub");
                self.children.insert(name, public);
            }
        }
        let mut at = 0;
        let mut public = false;
        while at < tokens.len() {
            if is_test(&tokens[at..]) {
                // The item after `#[cfg(test)]` ends with a block or a semicolon.
                let ends = |token: &TokenTree| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    other => punct(Some(other), ';'),
                };
                let end = tokens[at + 2..].iter().position(ends);
                if word(at + 2).as_deref() == Some("mod") {
                    word(at + 3).map(|name| self.children.remove(&name));
                }
                at = end.map_or(tokens.len(), |end| at + 2 + end + 1);
                continue;
            }
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream(), file, here),
                TokenTree::Ident(keyword) => {
                    let keyword = keyword.to_string();
                    let next = word(at + 1);
                    match keyword.as_str() {
                        "pub" => {
                            let restricted = matches!(tokens.get(at + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                            public = !restricted;
                            at += 1 + usize::from(restricted);
                            // An export that is restricted to the crate does not reach users of the crate.
                            if restricted && word(at).as_deref() == Some("use") {
                                at = self.import(&tokens, at + 1, file, here, Some(false));
                            }
                            continue;
                        }
                        "use" => {
                            let exported = public.then_some(true);
                            public = false;
                            at = self.import(&tokens, at + 1, file, here, exported);
                            continue;
                        }
                        "mod" => {
                            if let (Some(name), Some(TokenTree::Group(body))) =
                                (next, tokens.get(at + 2))
                            {
                                let inside = [here, &[name]].concat();
                                self.scan(body.stream(), file, &inside);
                                at += 3;
                                continue;
                            }
                        }
                        "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                            self.items.extend(next);
                        }
                        "fn" => self.functions.extend(next),
                        _ => {
                            let continued = at > 0 && punct(tokens.get(at - 1), ':');
                            if colons(at + 1) && !continued {
                                let mut path = vec![keyword];
                                while colons(at + 1) {
                                    let Some(name) = word(at + 3) else { break };
                                    path.push(name);
                                    at += 3;
                                }
                                self.references.extend(self.absolute(&path, file, here));
                            }
                        }
                    }
                    public = false;
                }
                _ => (),
            }
            at += 1;
        }
    }

    /// Reads a `use` up to its semicolon. `exported` is `None` for a private import; otherwise it says whether users of
    /// the crate see the import.
    fn import(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        file: &[String],
        here: &[String],
        exported: Option<bool>,
    ) -> usize {
        let end = tokens[at..].iter().position(|t| punct(Some(t), ';'));
        let end = end.map_or(tokens.len(), |end| at + end);
        let mut leaves = Vec::new();
        use_tree(&tokens[at..end], &[], &mut leaves);
        for (path, name) in leaves {
            let Some(target) = self.absolute(&path, file, here) else { continue };
            // An item that is exported again from a child module is not used here.
            if exported.is_none() || !target.starts_with(here) {
                self.references.push(target.clone());
            }
            // Imports of a module without a file are visible only in that module.
            if file.len() == here.len() {
                self.imports.insert(name, (target, exported == Some(true)));
            }
        }
        end + 1
    }

    /// A path from the root of the crate; `None` if it leads out of the crate.
    fn absolute(&self, path: &[String], file: &[String], here: &[String]) -> Option<Segments> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([here, rest].concat()),
            "super" => {
                let above = &here[..here.len().checked_sub(1)?];
                match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(rest, file, above),
                    _ => Some([above, rest].concat()),
                }
            }
            child if here.len() == file.len() && self.children.contains_key(child) => {
                Some([here, path].concat())
            }
            _ => None,
        }
    }
}

fn punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether tokens begin with `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    match tokens {
        [hash, TokenTree::Group(attribute), ..] if punct(Some(hash), '#') => {
            let text: String = attribute.stream().to_string().split_whitespace().collect();
            text == "cfg(test)" || text.starts_with("cfg(all(test,")
        }
        _ => false,
    }
}

/// The leaves of a `use`: their paths, and the names under which they are imported.
fn use_tree(tokens: &[TokenTree], before: &[String], leaves: &mut Vec<(Segments, String)>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                    leaves.push((path, name.to_string()));
                }
                return;
            }
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inside.split(|token| punct(Some(token), ',')) {
                    use_tree(part, &path, leaves);
                }
                return;
            }
            TokenTree::Punct(sign) if sign.as_char() == '*' => path.push("*".into()),
            _ => (),
        }
        at += 1;
    }
    // `use a::{self}` is `use a`.
    if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    if let (Some(name), false) = (path.last().cloned(), tokens.is_empty()) {
        leaves.push((path, name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a crate that consists of these files and reads it.
    fn planted(files: &[(&str, &str)]) -> (tempfile::TempDir, Crate) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let read = Crate::read(&folder.path().join("lib.rs")).unwrap();
        (folder, read)
    }

    #[test]
    fn a_cycle_of_modules_is_found() {
        let (_folder, read) = planted(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use c::{C, deep::Deep as Other};"),
            // The modules depend on each other through a re-export and through a path in a macro.
            ("a.rs", "use crate::{b, Other};"),
            ("b.rs", "fn f() { assert!(crate::d::g(1)) }"),
            ("c/mod.rs", "pub(crate) mod deep; pub struct C;"),
            ("c/deep.rs", "use super::super::a::f; pub struct Deep;"),
            ("d.rs", "pub(crate) fn g(x: u8) -> bool { x == crate::a::ONE }"),
        ]);
        let cycles = read.cycles();
        assert_eq!(
            cycles,
            [
                "crate::a -> crate::c::deep -> crate::a",
                "crate::b -> crate::d -> crate::a -> crate::b"
            ]
        );
    }

    #[test]
    fn parents_and_children_can_form_a_cycle() {
        let child = ("a/child.rs", "use super::Shared;");
        let parent = |more: &str| format!("mod child; pub use child::f; pub struct Shared; {more}");
        for (more, cycle) in [("", false), ("fn g() { child::f() }", true)] {
            let (_folder, read) =
                planted(&[("lib.rs", "mod a;"), ("a/mod.rs", &parent(more)), child]);
            assert_eq!(!read.cycles().is_empty(), cycle, "{more}");
        }
    }

    #[test]
    fn comments_and_tests_make_no_cycle() {
        let (_folder, read) = planted(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "//! See [`crate::B`].\nuse std::a::B; // crate::b::B\npub struct A;"),
            (
                "b.rs",
                "use crate::a::A; mod inner { use super::super::a::A; use super::B; use crate::b::C; }\n\
                 pub struct B; pub struct C; #[cfg(all(test, unix))] mod more { use crate::B; }\n\
                 #[cfg(test)]\nmod tests { use super::*; use crate::b::B; }",
            ),
        ]);
        assert_eq!(read.cycles(), [""; 0]);
    }

    #[test]
    fn public_items_are_found_where_they_are_defined() {
        let (folder, read) = planted(&[
            ("lib.rs", "mod a; pub mod b; mod c; pub use a::{A, deep::{Deep, make}}; use c::C;"),
            ("a/mod.rs", "pub mod deep; pub struct A; impl A { pub fn fit(&self) {} }"),
            ("a/deep.rs", "pub enum Deep {} pub fn make() {}"),
            ("b.rs", "pub const RATE: f64 = 1.0;"),
            ("c.rs", "pub struct C;"),
        ]);
        let find = |path: &str| {
            let found = read.find(&path.split("::").collect::<Vec<_>>());
            found.map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string())
        };
        for (path, file) in [
            ("A", Some("a/mod.rs")),
            ("A::fit", Some("a/mod.rs")),
            ("A::gone", None),
            ("Deep", Some("a/deep.rs")),
            ("make", Some("a/deep.rs")),
            ("b", Some("b.rs")),
            ("b::RATE", Some("b.rs")),
            ("C", None),
            ("c::C", None),
            ("Gone", None),
        ] {
            assert_eq!(find(path).as_deref(), file, "{path}");
        }
    }
}
