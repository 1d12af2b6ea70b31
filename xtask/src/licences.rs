//! Every dependency may be used under a permissive licence.

use crate::workspace::Workspace;

/// What may be depended on.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Checks every package of the workspace.
pub(crate) fn run() -> Result<bool, String> {
    let workspace = Workspace::load()?;
    let mut all_permissive = true;
    for package in &workspace.packages {
        let licence = package.licence.as_deref();
        if !licence.is_some_and(is_permissive) {
            all_permissive = false;
            println!(
                "{}: licence {} is not permissive: use another crate, or add the licence to xtask/src/licences.rs",
                package.name,
                licence.unwrap_or("(none given)")
            );
        }
    }
    Ok(all_permissive)
}

/// Whether an SPDX expression can be met with permissive licences alone. What cannot be parsed is not.
fn is_permissive(expression: &str) -> bool {
    // Older crates write `MIT/Apache-2.0`.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = Words { words: spaced.split_whitespace().collect(), next: 0 };
    words.either() == Some(true) && words.next == words.words.len()
}

/// A parser of `a OR b AND (c OR d)`; `AND` binds tighter.
struct Words<'text> {
    words: Vec<&'text str>,
    next: usize,
}

impl Words<'_> {
    fn take(&mut self, word: &str) -> bool {
        let taken = self.words.get(self.next) == Some(&word);
        self.next += usize::from(taken);
        taken
    }

    fn either(&mut self) -> Option<bool> {
        let mut met = self.both()?;
        while self.take("OR") {
            met |= self.both()?;
        }
        Some(met)
    }

    fn both(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.either()?;
            return self.take(")").then_some(met);
        }
        let mut name = self.words.get(self.next)?.to_string();
        self.next += 1;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.next)?);
            self.next += 1;
        }
        Some(PERMISSIVE.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::is_permissive;

    #[test]
    fn expressions() {
        for permissive in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-2.0-only OR MIT AND Zlib",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
        ] {
            assert!(is_permissive(permissive), "{permissive}");
        }
        for other in [
            "",
            "GPL-2.0-only",
            "MIT AND GPL-2.0-only",
            "(MIT OR GPL-2.0-only) AND MPL-2.0",
            "Apache-2.0 WITH Some-exception",
            "MIT MIT",
            "(MIT",
            "MIT OR",
        ] {
            assert!(!is_permissive(other), "{other}");
        }
    }
}
