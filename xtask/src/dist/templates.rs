//! Fills the templates of `deploy/` for other package managers with version, addresses and checksums.

use super::packages::maintainer;
use super::release::{Made, Release};
use super::tool::{cannot, sha256, sums};
use crate::workspace::folder;

/// One of them.
pub(super) struct Template {
    path: &'static str,
    /// The name of the file that it makes.
    pub(super) name: &'static str,
    /// The archives that it refers to.
    archives: &'static [&'static str],
}

const LINUX: &[&str] = &["x86_64-linux.tar.gz", "aarch64-linux.tar.gz"];

pub(super) const TEMPLATES: &[Template] = &[
    Template { path: "deploy/homebrew/fsdyno.rb.in", name: "fsdyno.rb", archives: LINUX },
    Template { path: "deploy/aur/PKGBUILD.in", name: "PKGBUILD", archives: LINUX },
    Template { path: "deploy/alpine/APKBUILD.in", name: "APKBUILD", archives: LINUX },
    Template { path: "deploy/nix/fsdyno.nix.in", name: "fsdyno.nix", archives: LINUX },
    Template { path: "deploy/scoop/fsdyno.json.in", name: "fsdyno.json", archives: &["x86_64-windows.zip"] },
];

impl Template {
    /// Fills the template, if its archives exist and the project has an address.
    pub(super) fn fill(&self, release: &Release, home: Result<&str, String>) -> Made {
        let home = home?;
        let path = folder().join(self.path);
        let mut text = std::fs::read_to_string(&path).map_err(cannot("read", &path))?;
        for archive in self.archives {
            let path = release.output.join(format!("fsdyno-{}-{archive}", release.version));
            if !path.exists() {
                return Err(format!("it names an archive that was not made: {}", path.display()));
            }
            let path = [path];
            text = text.replace(&format!("@sha256 {archive}@"), &sha256(&path)?[0]);
            text = text.replace(&format!("@sha512 {archive}@"), &sums("sha512sum", &path)?[0]);
        }
        let text = text.replace("@home@", home).replace("@maintainer@", &maintainer());
        // The manifest tells `cargo binstall` the same.
        let archives = format!("{home}/releases/download/v{}", release.version);
        let text = text.replace("@version@", &release.version).replace("@url@", &archives);
        Ok(vec![release.write(self.name, &text)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::tool::{command, output};

    #[test]
    fn templates_have_the_sums_of_the_archives() {
        let place = crate::workspace::target_directory().join(format!("templates-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let release = Release { version: "1.2.3".into(), revision: 1, epoch: 0, output: place.clone() };
        let fill = |template: &Template| template.fill(&release, Ok("https://example.org/fsdyno"));
        assert_eq!(TEMPLATES[0].fill(&release, Err("no address".into())), Err("no address".into()));
        assert!(fill(&TEMPLATES[0]).unwrap_err().contains("was not made"));
        let archives: Vec<&str> = TEMPLATES.iter().flat_map(|template| template.archives).copied().collect();
        for archive in &archives {
            release.write(&format!("fsdyno-1.2.3-{archive}"), archive).unwrap();
        }
        let files: Vec<_> = TEMPLATES.iter().flat_map(|template| fill(template).unwrap()).collect();
        let texts: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        for archive in archives {
            assert!(texts.contains(&format!("/releases/download/v1.2.3/fsdyno-1.2.3-{archive}")), "{archive}");
            assert!(texts.contains(&sha256(&[place.join(format!("fsdyno-1.2.3-{archive}"))]).unwrap()[0]), "{archive}");
        }
        assert_eq!(texts.matches("\"https://example.org/fsdyno\"").count(), 4, "the project's address");
        assert!(texts.contains("url='https://example.org/fsdyno'"), "{texts}");
        let filled = |text: &str| text.replace(&maintainer(), "").replace("\"$@\"", "");
        assert!(!filled(&texts).contains('@'), "{texts}");
        let manifest = std::fs::read_to_string(place.join("fsdyno.json")).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&manifest).is_ok(), "{manifest}");
        // The recipes of Arch Linux and Alpine are scripts.
        assert!(output(command("bash").arg("-n").arg(place.join("PKGBUILD"))).is_ok());
        assert!(output(command("sh").arg("-n").arg(place.join("APKBUILD"))).is_ok());
        let formula = std::fs::read_to_string(place.join("fsdyno.rb")).unwrap();
        assert!(formula.contains("depends_on :linux") && !formula.contains("macos"), "{formula}");
        std::fs::remove_dir_all(place).unwrap();
    }
}
