//! The facts that all steps of a release share.

use std::path::PathBuf;

use super::tool::{cannot, command, output};

/// The file with all checksums.
pub(super) const SUMS: &str = "SHA256SUMS";

/// The project's address, which the workspace's manifest alone names: recipes, packages, lists of components and `cargo binstall`
/// have it from there.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The beginning of addresses that belong to nobody: a manifest has one until somebody publishes.
const PLACEHOLDER: &str = "https://example.org/";

/// The project's address; the error says that there is none.
pub(super) fn home() -> Result<&'static str, String> {
    real_address(REPOSITORY)
}

/// An address that is no placeholder.
pub(super) fn real_address(address: &str) -> Result<&str, String> {
    match address.starts_with(PLACEHOLDER) {
        true => {
            Err(format!("`repository` in Cargo.toml is a placeholder ({address}): write the project's address there"))
        }
        false => Ok(address),
    }
}

/// One release.
pub(super) struct Release {
    /// The version: `0.1.0`.
    pub(super) version: String,
    /// The revision of the packages.
    pub(super) revision: u32,
    /// The time of all files, seconds since 1970.
    pub(super) epoch: u64,
    /// The output folder.
    pub(super) output: PathBuf,
}

/// The result of a step: the files made, or why it is left out.
pub(super) type Made = Result<Vec<PathBuf>, String>;

impl Release {
    /// Removes the files of an earlier release, and nothing else: files that are not named in its checksums may be
    /// anybody's.
    pub(super) fn clear(&self) -> Result<(), String> {
        let folder = &self.output;
        std::fs::create_dir_all(folder).map_err(cannot("make", folder))?;
        let sums = std::fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
        let named = sums.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name);
        for name in named.filter(|name| !name.contains('/')).chain([SUMS]) {
            let _ = std::fs::remove_file(folder.join(name));
        }
        match std::fs::read_dir(folder).map_err(cannot("read", folder))?.flatten().next() {
            None => Ok(()),
            Some(other) => Err(format!("{} is no file of an earlier release: remove it", other.path().display())),
        }
    }

    /// The time in the format of documents and images.
    pub(super) fn time(&self) -> Result<String, String> {
        let date = output(command("date").args(["-u", &format!("-d@{}", self.epoch), "+%Y-%m-%dT%H:%M:%SZ"]))?;
        Ok(date.trim().to_owned())
    }

    /// Writes a file of the release.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.output.join(name);
        std::fs::write(&path, text).map_err(cannot("write", &path))?;
        Ok(path)
    }
}

/// The time of all files of a release: from SOURCE_DATE_EPOCH, or that of the last commit.
pub(super) fn epoch() -> Result<u64, String> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => output(command("git").args(["log", "-1", "--format=%ct"]))?,
    };
    text.trim().parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no number of seconds: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_no_address() {
        assert!(
            real_address("https://example.org/fsdyno")
                .unwrap_err()
                .contains("is a placeholder (https://example.org/fsdyno)")
        );
        assert_eq!(real_address("https://forge.test/a/fsdyno"), Ok("https://forge.test/a/fsdyno"));
    }

    #[test]
    fn an_earlier_release_is_removed_and_nothing_else() {
        let place = crate::workspace::target_directory().join(format!("release-{}", std::process::id()));
        let release = Release { version: "1".into(), revision: 1, epoch: 0, output: place.clone() };
        release.clear().unwrap();
        release.write("a.deb", "").unwrap();
        release.write(SUMS, "00  a.deb\n00  ../b\n").unwrap();
        release.clear().unwrap();
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
        release.write("letter.txt", "").unwrap();
        assert!(release.clear().unwrap_err().contains("letter.txt"));
        assert!(place.join("letter.txt").exists());
        std::fs::remove_dir_all(place).unwrap();
    }
}
