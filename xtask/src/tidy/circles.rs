//! Checks that no cycle of files inside a crate is longer than two: a module and a part of it may use each other; three
//! modules that do can only be read together.
//!
//! An edge is a path, in a `use` or in code, to an item of another file. A re-export stands for the file of the item,
//! and a module that only re-exports its own parts does not use them. Not seen is what no path names: methods and
//! fields of a value, what a macro expands to, what is imported by `*` and used alone. Tests are free.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{File, Finding};

/// Names from the root of the crate: `["worker", "sentences"]`.
type Path = Vec<String>;

/// The modules of a crate that have a file of their own.
type Modules = BTreeMap<Path, Module>;

#[derive(Debug, Default)]
struct Module {
    file: String,
    uses: Vec<Use>,
    /// Names that it declares.
    items: BTreeSet<String>,
    /// Paths in its code.
    paths: Vec<Path>,
    /// Its test modules.
    tests: Vec<String>,
}

/// One name of a `use` declaration.
#[derive(Debug)]
struct Use {
    path: Path,
    /// The name in this file; `*`: everything in the path.
    name: String,
    is_public: bool,
}

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for file in files {
        if let Some((source, path)) = place(&file.path) {
            crates.entry(source).or_default().insert(path, Module::read(file));
        }
    }
    crates.values_mut().for_each(leave_tests_out);
    crates.values().flat_map(check_crate).collect()
}

/// The source folder of a file's crate, and its module.
fn place(path: &str) -> Option<(&str, Path)> {
    let (source, inside) = path.split_at(path.find("/src/")? + "/src/".len());
    let inside = inside.strip_suffix(".rs").filter(|inside| !inside.ends_with("_tests"))?;
    let names = inside.split('/').filter(|name| !["lib", "main", "mod"].contains(name));
    Some((source, names.map(str::to_string).collect()))
}

fn leave_tests_out(modules: &mut Modules) {
    let below = |(path, module): (&Path, &Module)| {
        module.tests.iter().map(|name| [&path[..], std::slice::from_ref(name)].concat()).collect::<Vec<Path>>()
    };
    let tests: Vec<Path> = modules.iter().flat_map(below).collect();
    modules.retain(|path, _| !tests.iter().any(|tests| path.starts_with(tests)));
}

fn check_crate(modules: &Modules) -> Vec<Finding> {
    let arrows: BTreeMap<&Path, BTreeSet<Path>> = modules.keys().map(|path| (path, arrows(modules, path))).collect();
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (from, to) in arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (*from, to))) {
        let Some(circle) = way_back(&arrows, to, from) else { continue };
        if seen.insert(circle.iter().cloned().collect::<BTreeSet<&Path>>()) {
            let files: Vec<&str> = circle.iter().map(|path| modules[*path].file.as_str()).collect();
            let text = format!("stands in a circle of {} files: {}", files.len(), files.join(" uses "));
            findings.push(Finding::new(
                files[0],
                format!("{text} uses the first again: move what they share into a file of its own"),
            ));
        }
    }
    findings
}

/// The shortest way from `to` back to `from` that is longer than one edge.
fn way_back<'a>(arrows: &'a BTreeMap<&'a Path, BTreeSet<Path>>, to: &'a Path, from: &'a Path) -> Option<Vec<&'a Path>> {
    let mut ways = VecDeque::from([vec![to]]);
    let mut seen = BTreeSet::from([to]);
    while let Some(way) = ways.pop_front() {
        let at = way[way.len() - 1];
        for next in arrows.get(at).into_iter().flatten() {
            if next == from {
                if at != to {
                    return Some([&[from], &way[..]].concat());
                }
            } else if seen.insert(next) {
                ways.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}

/// The modules whose items a module uses.
fn arrows(modules: &Modules, from: &Path) -> BTreeSet<Path> {
    let module = &modules[from];
    let shown = |used: &&Use| used.is_public;
    let declared = module.uses.iter().filter(|used| !shown(used)).filter_map(|used| match used.name.as_str() {
        "*" => Some(walk(modules, from, &used.path)?.0),
        _ => owner(modules, from, &used.path, 0),
    });
    let re_exported = module.uses.iter().filter(shown).filter_map(|used| owner(modules, from, &used.path, 0));
    let re_exported = re_exported.filter(|to| !to.starts_with(from));
    let in_code = module.paths.iter().filter_map(|path| owner(modules, from, path, 0));
    declared.chain(re_exported).chain(in_code).filter(|to| to != from).collect()
}

/// Most re-exports that are followed: a cycle of re-exports leads out of the crate.
const STEPS_MAX: usize = 8;

/// The module that has the item of a path; `None`: the item is in another crate, or the path names a module.
fn owner(modules: &Modules, from: &Path, path: &[String], steps: usize) -> Option<Path> {
    if steps > STEPS_MAX {
        return None;
    }
    let through = |module: &Path, rest: &[String]| {
        let used = modules[module].uses.iter().find(|used| used.name == rest[0])?;
        owner(modules, module, &[&used.path[..], &rest[1..]].concat(), steps + 1)
    };
    match walk(modules, from, path) {
        None => through(from, path),
        Some((_, [])) => None,
        Some((module, rest)) => through(&module, rest).or_else(|| brought(modules, &module, &rest[0])).or(Some(module)),
    }
}

/// The module whose item of this name another module imports by `*`.
fn brought(modules: &Modules, module: &Path, item: &str) -> Option<Path> {
    let Module { uses, items, .. } = &modules[module];
    let all = uses.iter().filter(|used| used.name == "*" && !items.contains(item));
    let mut sources = all.filter_map(|used| Some(walk(modules, module, &used.path)?.0));
    sources.find(|source| modules[source].items.contains(item))
}

/// Follows the modules of a crate: the last one, and the rest of the path. `None`: the path begins with none.
fn walk<'p>(modules: &Modules, from: &Path, path: &'p [String]) -> Option<(Path, &'p [String])> {
    let (mut at, mut rest) = (from.clone(), path);
    match path.first()?.as_str() {
        "crate" => (at, rest) = (Path::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {}
        name => {
            at.push(name.to_string());
            modules.contains_key(&at).then_some(())?;
            rest = &rest[1..];
        }
    }
    while let Some(name) = rest.first() {
        let next = match name.as_str() {
            "super" => at[..at.len().checked_sub(1)?].to_vec(),
            name => [&at[..], &[name.to_string()]].concat(),
        };
        if !modules.contains_key(&next) {
            break;
        }
        (at, rest) = (next, &rest[1..]);
    }
    Some((at, rest))
}

impl Module {
    /// Reads a file. If it is not valid Rust, the compiler reports it; here it uses nothing.
    fn read(file: &File) -> Module {
        let mut module = Module { file: file.path.clone(), ..Module::default() };
        let mut words = Vec::new();
        module.read_words(file.text.parse().unwrap_or_default(), &mut words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let declared = words.windows(2).filter(|pair| DECLARING.contains(&pair[0]));
        module.items = declared.map(|pair| pair[1].to_string()).collect();
        let mut at = 0;
        while at < words.len() {
            let before = at.checked_sub(1).map_or("", |before| words[before]);
            let next = words.get(at + 1).copied().unwrap_or_default();
            at += 1;
            match words[at - 1] {
                // `impl Trait + use<'a>` declares nothing.
                "use" if next != "<" => {
                    let tree = UseTree { words: &words, is_public: before == "pub" || before == ")" };
                    at = tree.read(at, Vec::new(), &mut module.uses);
                }
                word if is_word(word) && next == "::" => {
                    let mut path = vec![word.to_string()];
                    while words.get(at) == Some(&"::") && words.get(at + 1).is_some_and(|word| is_word(word)) {
                        path.push(words[at + 1].to_string());
                        at += 2;
                    }
                    module.paths.push(path);
                }
                _ => {}
            }
        }
        module
    }

    /// Reads the code's names, `::`, and other characters one by one; code for tests only is left out.
    fn read_words(&mut self, code: TokenStream, words: &mut Vec<String>) {
        let mut trees = code.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Punct(mark) if mark.as_char() == '#' && trees.peek().is_some_and(is_test_mark) => {
                    self.leave_out(&mut trees);
                }
                TokenTree::Punct(mark) => match words.last_mut() {
                    Some(last) if mark.as_char() == ':' && last == ":" => last.push(':'),
                    _ => words.push(mark.to_string()),
                },
                TokenTree::Ident(name) => words.push(name.to_string()),
                TokenTree::Literal(_) => words.push("0".to_string()),
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Parenthesis | Delimiter::None => ("(", ")"),
                    };
                    words.push(open.to_string());
                    self.read_words(group.stream(), words);
                    words.push(close.to_string());
                }
            }
        }
    }

    /// Skips an item of tests. A declared module is remembered, as its file is one of tests.
    fn leave_out(&mut self, trees: &mut impl Iterator<Item = TokenTree>) {
        let mut before = String::new();
        for tree in trees {
            match tree {
                TokenTree::Punct(mark) if mark.as_char() == ';' => return,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
                TokenTree::Ident(name) => {
                    if before == "mod" {
                        self.tests.push(name.to_string());
                    }
                    before = name.to_string();
                }
                _ => {}
            }
        }
    }
}

/// `[cfg(test)]`.
fn is_test_mark(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Keywords before the name of an item.
const DECLARING: [&str; 7] = ["struct", "enum", "trait", "type", "fn", "const", "static"];

struct UseTree<'w> {
    words: &'w [&'w str],
    is_public: bool,
}

impl UseTree<'_> {
    /// Reads one tree from `at`; returns where it ends.
    fn read(&self, mut at: usize, mut path: Path, uses: &mut Vec<Use>) -> usize {
        loop {
            match self.words.get(at).copied().unwrap_or(";") {
                "{" => {
                    at += 1;
                    while !["}", ";"].contains(&self.words.get(at).copied().unwrap_or(";")) {
                        at = self.read(at, path.clone(), uses);
                        at += usize::from(self.words.get(at) == Some(&","));
                    }
                    return at + 1;
                }
                "::" => at += 1,
                "as" => {
                    self.bind(path, self.words.get(at + 1).copied().unwrap_or("_"), uses);
                    return at + 2;
                }
                "*" => {
                    self.bind(path, "*", uses);
                    return at + 1;
                }
                word if is_word(word) => {
                    path.push(word.to_string());
                    at += 1;
                }
                _ => {
                    // `use a::b::{self}` binds `b`.
                    path.pop_if(|last| last == "self");
                    let name = path.last().cloned().unwrap_or_default();
                    self.bind(path, &name, uses);
                    return at;
                }
            }
        }
    }

    fn bind(&self, path: Path, name: &str, uses: &mut Vec<Use>) {
        uses.push(Use { path, name: name.to_string(), is_public: self.is_public });
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles in a crate of these modules and texts.
    fn circles(modules: &[(&str, &str)]) -> Vec<String> {
        let file =
            |(name, text): &(&str, &str)| File { path: format!("crates/a/src/{name}.rs"), text: text.to_string() };
        let files: Vec<File> = modules.iter().map(file).collect();
        check(&files).into_iter().map(|finding| finding.text.replace("crates/a/src/", "")).collect()
    }

    fn has_circle(modules: &[(&str, &str)]) -> bool {
        !circles(modules).is_empty()
    }

    #[test]
    fn two_may_know_each_other_and_three_may_not() {
        let two = [("lib", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "fn f() { crate::a::g() }")];
        assert!(!has_circle(&two));
        let pairs = [("a", "use crate::b::B; use crate::c::C;"), ("b", "use crate::a::A;"), ("c", "use crate::a::A;")];
        assert!(!has_circle(&pairs), "two pairs are no circle of three");
        let three =
            [("a", "use crate::b::B;"), ("b", "use crate::c::{C, D};"), ("c", "fn f(a: super::a::A) {}"), ("lib", "")];
        let found = circles(&three);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("stands in a circle of 3 files: a.rs uses b.rs uses c.rs uses the first"),
            "{found:?}"
        );
    }

    #[test]
    fn paths_are_followed_through_names_and_re_exports() {
        let by_name = [("a", "use crate::b; fn f() { b::g() }"), ("b", "use crate::c as other; fn g() { other::h() }")];
        assert!(has_circle(&[&by_name[..], &[("c", "use crate::a::f;")]].concat()));
        assert!(!has_circle(&[&by_name[..], &[("c", "use crate::a; use extern_crate::f;")]].concat()), "a is not used");
        let re_exported =
            [("lib", "mod a; mod b; pub use a::A;"), ("a", "use crate::b::B;"), ("b", "use crate::c::C;")];
        assert!(has_circle(&[&re_exported[..], &[("c", "use crate::A;")]].concat()));
        assert!(!has_circle(&[&re_exported[..], &[("c", "")]].concat()));
        let by_star = [("lib", "pub use a::*; fn f() { b::g() }"), ("a", "pub struct A;"), ("b", "use crate::c::C;")];
        assert!(!has_circle(&[&by_star[..], &[("c", "use crate::A;")]].concat()), "A is a's");
        assert!(has_circle(&[&by_star[..], &[("c", "use crate::f;")]].concat()));
    }

    #[test]
    fn parts_and_their_module() {
        let parts = [("a", "mod one; mod two; use one::One; pub struct A;"), ("a/one", "use super::A;")];
        assert!(!has_circle(&[&parts[..], &[("a/two", "use super::one::One; use super::A;")]].concat()));
        let round = [("a/two", "use super::A;"), ("a/one", "use super::two::Two;")];
        assert!(has_circle(&[&parts[..1], &round[..]].concat()));
        let shown = ("a", "pub(crate) use one::One; pub struct A;");
        assert!(!has_circle(&[shown, round[0], round[1]]), "to re-export is not to use");
    }

    #[test]
    fn tests_and_sentences_are_free() {
        let tests = "#[cfg(test)]\nmod tests { use crate::a::A; }\n#[cfg(test)]\nmod more;\n// crate::a::A\n";
        let modules =
            [("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", tests), ("c/more", "use crate::a::A;")];
        assert!(!has_circle(&modules));
        assert!(!has_circle(&[modules[0], modules[1], ("c", "const TEXT: &str = \"crate::a::A\";")]));
        assert!(has_circle(&[modules[0], modules[1], ("c", "pub(in crate::a) fn f() { crate::a::g() }")]));
        assert!(!has_circle(&[modules[0], modules[1], ("c", "pub(in crate::a) fn f() {}")]));
    }
}
