//! Makes the tree of installed files below /usr or /usr/local. Archives and packages contain the same tree.

use std::path::{Path, PathBuf};

use super::platform::{self, Platform};
use super::release::Release;
use super::tool::{cannot, command, copy, output, write};
use super::{components, licences};
use crate::workspace::folder;

/// The shells, and where each looks for completions; two shells have no such place.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "bash-completion/completions/fsdyno"),
    ("zsh", "zsh/site-functions/_fsdyno"),
    ("fish", "fish/vendor_completions.d/fsdyno.fish"),
    ("elvish", "fsdyno/completions/fsdyno.elv"),
    ("powershell", "fsdyno/completions/fsdyno.ps1"),
];

/// Files that are copied from the sources: their path there, and in the tree.
const FILES: &[(&str, &str)] = &[
    ("README.md", "share/doc/fsdyno/README.md"),
    ("CHANGELOG.md", "share/doc/fsdyno/CHANGELOG.md"),
    ("LICENSE-MIT", "share/doc/fsdyno/LICENSE-MIT"),
    ("LICENSE-APACHE", "share/doc/fsdyno/LICENSE-APACHE"),
    ("deploy/grafana/fsdyno.json", "share/fsdyno/grafana/fsdyno.json"),
    ("deploy/prometheus/fsdyno.rules.yaml", "share/fsdyno/prometheus/fsdyno.rules.yaml"),
];

/// systemd units, for installed packages.
pub(super) const UNITS: &[&str] = &["fsdyno-check@.service", "fsdyno-check@.timer"];

/// The units' folder in a tree.
pub(super) const UNITS_PLACE: &str = "lib/systemd/system";

/// The part of a tree that is the same on all platforms.
pub(super) struct Documents {
    /// The folder `share`, with man pages and completions.
    folder: PathBuf,
    /// The list of components.
    pub(super) components: String,
    licences: String,
}

impl Documents {
    /// Makes the documents with a program that runs here: one of the release, or else the developers'.
    pub(super) fn make(
        release: &Release,
        programs: &[(&Platform, PathBuf)],
        folder: &Path,
    ) -> Result<Documents, String> {
        let own = programs.iter().find(|(platform, _)| platform.runs_here());
        let program = own.map_or_else(platform::development, |(_, program)| Ok(program.clone()))?;
        let program = program.to_str().ok_or("the program's path is no text")?;
        let pages = folder.join("man/man1");
        output(command(program).arg("man").arg("--output").arg(&pages))?;
        for (shell, place) in COMPLETIONS {
            write(&folder.join(place), output(command(program).args(["completions", shell]))?)?;
        }
        let targets: Vec<&str> = programs.iter().map(|(platform, _)| platform.target).collect();
        let components = components::of_program(&targets, "")?;
        Ok(Documents {
            folder: folder.to_owned(),
            components: components::cyclonedx(release, &components, ["musl", components::OF_RUST, "MIT"])?,
            licences: licences::document(&components)?,
        })
    }

    /// Makes the whole tree of one platform.
    pub(super) fn tree(
        &self,
        release: &Release,
        platform: &Platform,
        program: &Path,
        place: &Path,
    ) -> Result<PathBuf, String> {
        let tree = place.join(format!("fsdyno-{}-{}", release.version, platform.name));
        copy(program, &tree.join("bin").join(platform.program()))?;
        output(command("cp").arg("-R").arg(&self.folder).arg(tree.join("share")))?;
        for (from, to) in FILES {
            copy(&folder().join(from), &tree.join(to))?;
        }
        for unit in UNITS.iter().filter(|_| platform.is_linux()) {
            let path = folder().join("deploy/systemd").join(unit);
            let text = std::fs::read_to_string(&path).map_err(cannot("read", &path))?;
            // An archive is unpacked below /usr/local.
            write(&tree.join(UNITS_PLACE).join(unit), text.replace("/usr/bin/", "/usr/local/bin/"))?;
        }
        let documents = tree.join("share/doc/fsdyno");
        write(&documents.join("LICENCES-OF-DEPENDENCIES.txt"), &self.licences)?;
        write(&documents.join("fsdyno.cdx.json"), &self.components)?;
        set_modes_and_time(&tree, release.epoch)?;
        Ok(tree)
    }
}

/// Sets fixed modes and one time for all files: everybody may read them and run programs, whatever umask the building
/// person has.
pub(super) fn set_modes_and_time(tree: &Path, epoch: u64) -> Result<(), String> {
    output(command("chmod").args(["-R", "u=rwX,go=rX"]).arg(tree))?;
    let programs = tree.join("bin");
    for entry in std::fs::read_dir(&programs).map_err(cannot("read", &programs))?.flatten() {
        output(command("chmod").arg("755").arg(entry.path()))?;
    }
    output(command("find").arg(tree).args(["-exec", "touch", "-h", &format!("--date=@{epoch}"), "{}", "+"]))?;
    Ok(())
}
