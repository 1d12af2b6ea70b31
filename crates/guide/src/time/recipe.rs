//! Reads recipes: TOML files with commands that people run, and the files that these begin with.

use std::path::Path;

use fsdyno_job::lookup::nearest;
use serde::Deserialize;

use super::options::TimedCommand;
use super::run::words_of_shell;
use crate::Problem;

/// A recipe.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// One line for people.
    pub title: String,
    /// What the recipe does, in words.
    pub about: String,
    /// Programs that must be installed; `a|b`: one of them.
    #[serde(default)]
    needs: Vec<String>,
    /// Shell lines that make the files, before the first phase of each run.
    prepare: Option<String>,
    phase: Vec<WrittenPhase>,
}

/// A phase as the file writes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPhase {
    name: String,
    title: String,
    /// The phase's shell lines.
    run: String,
}

/// The recipes that come with the program: name and text.
const OURS: [(&str, &str); 6] = [
    ("git", include_str!("../../recipes/git.toml")),
    ("untar", include_str!("../../recipes/untar.toml")),
    ("copy", include_str!("../../recipes/copy.toml")),
    ("find", include_str!("../../recipes/find.toml")),
    ("sqlite", include_str!("../../recipes/sqlite.toml")),
    ("build", include_str!("../../recipes/build.toml")),
];

/// Largest recipe, bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Longest name of a phase: names stand in tables, and in conditions after a dot.
const NAME_MAX: usize = 24;

impl Recipe {
    /// The recipe with this name, or in the file at this path.
    ///
    /// # Errors
    /// When there is none, it is no recipe, or a program that it needs is not installed.
    pub fn named(name: &str) -> Result<Recipe, Problem> {
        let recipe = match OURS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Recipe::parse(text, name)?,
            None if name.contains('/') || Path::new(name).extension().is_some() => {
                let text = fsdyno_os::files::read_text(&fsdyno_os::written::path(name), BYTES_MAX)
                    .map_err(|error| Problem::new(format!("cannot read the recipe {name}: {error}")))?;
                Recipe::parse(&text, name)?
            }
            None => {
                let names: Vec<&str> = OURS.iter().map(|(name, _)| *name).collect();
                let meant = nearest(name, names.iter().copied());
                let all = format!("the recipes are {}, or a file of your own: ./{name}.toml", names.join(", "));
                return Err(Problem::new(format!("there is no recipe `{name}`")).with_meant(meant, &all));
            }
        };
        for need in &recipe.needs {
            if !need.split('|').any(is_installed) {
                return Err(Problem::new(format!(
                    "the recipe {name} needs {}, which is not in PATH",
                    need.replace('|', " or ")
                ))
                .with_next("install it, or use another recipe"));
            }
        }
        Ok(recipe)
    }

    fn parse(text: &str, name: &str) -> Result<Recipe, Problem> {
        let recipe: Recipe = toml::from_str(text)
            .map_err(|error| Problem::new(format!("{name} is not a recipe: {}", error.message())))?;
        let is_plain = |name: &str| {
            (1..=NAME_MAX).contains(&name.len())
                && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
        };
        let mut names: Vec<&str> = Vec::new();
        for phase in &recipe.phase {
            if !is_plain(&phase.name) || names.contains(&phase.name.as_str()) {
                return Err(Problem::new(format!("{name}: the phase `{}` needs a name of its own", phase.name))
                    .with_next("use letters, digits and `-`"));
            }
            names.push(&phase.name);
        }
        if names.is_empty() {
            return Err(
                Problem::new(format!("{name} has no phase")).with_next("add [[phase]] with name, title and run")
            );
        }
        Ok(recipe)
    }

    /// The shell lines that make the files.
    pub fn prepare(&self) -> Option<String> {
        self.prepare.as_ref().map(|lines| format!("set -e\n{lines}"))
    }

    /// The phases as commands.
    pub fn phases(&self) -> Vec<TimedCommand> {
        let phase = |written: &WrittenPhase| TimedCommand {
            name: written.name.clone(),
            title: written.title.clone(),
            words: words_of_shell(&format!("set -e\n{}", written.run)),
        };
        self.phase.iter().map(phase).collect()
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_ours_can_be_read() {
        for (name, text) in OURS {
            let recipe = Recipe::parse(text, name).unwrap();
            assert!(!recipe.phases().is_empty() && recipe.about.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn what_is_no_recipe_is_refused_with_the_reason() {
        let refused = |text: &str| Recipe::parse(text, "x").unwrap_err().what;
        let head = "title = 'a'\nabout = 'b'\n";
        assert!(refused("title = 1").contains("not a recipe"));
        assert!(refused(&format!("{head}other = 2\nphase = []")).contains("other"));
        assert!(refused(&format!("{head}phase = []")).contains("no phase"));
        let phase = "[[phase]]\nname = 'a.b'\ntitle = 't'\nrun = 'r'\n";
        assert!(refused(&format!("{head}{phase}")).contains("`a.b`"));
        let twice = phase.replace("a.b", "a").repeat(2);
        assert!(refused(&format!("{head}{twice}")).contains("of its own"));
        assert!(Recipe::named("nonsense").unwrap_err().next.unwrap().contains("git, untar"));
    }
}
