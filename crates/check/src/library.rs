//! Finds the profiles: those compiled in, and those in folders, which may replace them.

use std::fs;
use std::path::{Path, PathBuf};

use fsdyno_guide::Problem;
use fsdyno_guide::work_directory::reason;
use fsdyno_os::files::{SMALL_FILE_BYTES_MAX, read_text};
use fsdyno_stats::sort;

use crate::Profile;

mod compiled_in;

use compiled_in::compiled_in;

/// All profiles by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    entries: Vec<LibraryProfile>,
}

/// A profile with its source text.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryProfile {
    /// The profile.
    pub profile: Profile,
    /// Its TOML.
    pub text: String,
    /// The file that it was read from; `None`: compiled in.
    pub path: Option<PathBuf>,
}

impl Library {
    /// Loads the profiles compiled in, then those of the user's own folder (`$XDG_CONFIG_HOME/fsdyno/profiles`, if it
    /// exists), then those of `folder`. A profile replaces an earlier one of the same name.
    ///
    /// # Errors
    /// When `folder` cannot be read, or a file in a folder is no profile.
    pub fn load(folder: Option<&Path>) -> Result<Library, Problem> {
        let mut library = Library { entries: Vec::new() };
        for (file, text) in compiled_in() {
            library.add(Profile::read(&file, &text)?, text, None);
        }
        for folder in own_folder().filter(|folder| folder.is_dir()).iter().map(PathBuf::as_path).chain(folder) {
            library.add_folder(folder)?;
        }
        sort::by(&mut library.entries, |one, other| one.profile.name.cmp(&other.profile.name));
        Ok(library)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), Problem> {
        let unreadable = |path: &Path, error: &std::io::Error| {
            Problem::new(format!("cannot read the profiles in {}: {}", path.display(), reason(error)))
        };
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let path = entry.map_err(|error| unreadable(folder, &error))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
        sort::by(&mut paths, Ord::cmp);
        for path in paths {
            let text = read_text(&path, SMALL_FILE_BYTES_MAX).map_err(|error| unreadable(&path, &error))?;
            let profile = Profile::read(&path.display().to_string(), &text)?;
            self.add(profile, text, Some(path));
        }
        Ok(())
    }

    fn add(&mut self, profile: Profile, text: String, path: Option<PathBuf>) {
        self.entries.retain(|entry| entry.profile.name != profile.name);
        self.entries.push(LibraryProfile { profile, text, path });
    }

    /// All profiles, by name.
    pub fn entries(&self) -> &[LibraryProfile] {
        &self.entries
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// With the nearest name, when there is none.
    pub fn find(&self, name: &str) -> Result<&LibraryProfile, Problem> {
        let names = || self.entries.iter().map(|entry| entry.profile.name.as_str());
        self.entries.iter().find(|entry| entry.profile.name == name).ok_or_else(|| {
            Problem::new(format!("there is no profile `{name}`"))
                .with_meant(fsdyno_job::lookup::nearest(name, names()), "`fsdyno check --list` shows all")
        })
    }
}

/// The user's own folder: `$XDG_CONFIG_HOME/fsdyno/profiles`, or below `.config` in the home directory.
fn own_folder() -> Option<PathBuf> {
    Some(fsdyno_guide::configuration::directory()?.join("profiles"))
}

#[cfg(test)]
mod tests;
