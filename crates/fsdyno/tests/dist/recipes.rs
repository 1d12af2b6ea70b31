//! Tests the recipes of `deploy/` for other package managers: each with the reader of its own language where it installs here,
//! and those that copy files on the tree of a release.

use std::path::Path;
use std::process::Command;

use testkit::{TestDirectory, workspace};

use crate::{have, release, run};

/// A recipe as a release fills it, with checksums of nothing. The project's own templates are tested in xtask.
fn filled(path: &str) -> String {
    let mut text = std::fs::read_to_string(workspace().join("deploy").join(path)).unwrap();
    for (bits, digits) in [("256", 64), ("512", 128)] {
        let begin = format!("@sha{bits} ");
        while let Some(at) = text.find(&begin) {
            let end = at + 1 + text[at + 1..].find('@').expect("its end");
            text.replace_range(at..=end, &"0".repeat(digits));
        }
    }
    let address = "https://example.org/fsdyno";
    text.replace("@version@", env!("CARGO_PKG_VERSION"))
        .replace("@home@", address)
        .replace("@url@", &format!("{address}/releases/download/v{}", env!("CARGO_PKG_VERSION")))
        .replace("@maintainer@", "A <a@example.org>")
}

/// Runs `package()` of a recipe in a shell, in the folder above an unpacked archive; the files of the package are in `made`.
fn package(place: &Path, shell: &str, recipe: &str) {
    let script = format!(
        "set -e; export CARCH={} srcdir={2} pkgdir={2}/made; . {2}/{1}; cd \"${{builddir:-$srcdir}}\"; package",
        std::env::consts::ARCH,
        recipe,
        testkit::word(place)
    );
    run(Command::new(shell).args(["-c", &script])).good();
    let program = place.join("made/usr/bin/fsdyno");
    assert!(run(Command::new(program).arg("--version")).good().stdout.starts_with("fsdyno "));
    assert!(place.join("made/usr/share/man/man1/fsdyno.1").exists());
}

/// makepkg refuses to run as root, also where it only reads. It asks pacman for nothing then.
const MAKEPKG: &str = "export PACMAN=true; chmod 777 .
    [ \"$(id -u)\" = 0 ] || exec makepkg --printsrcinfo
    exec setpriv --reuid 65534 --regid 65534 --clear-groups makepkg --printsrcinfo";

#[test]
fn the_recipe_of_arch_linux_is_read_and_copies_a_release() {
    let recipe = filled("aur/PKGBUILD.in");
    let place = testkit::directory();
    std::fs::write(place.path().join("PKGBUILD"), &recipe).unwrap();
    if release::unpacked(place.path()).is_some() {
        package(place.path(), "bash", "PKGBUILD");
        let unit =
            std::fs::read_to_string(place.path().join("made/usr/lib/systemd/system/fsdyno-check@.service")).unwrap();
        assert!(unit.contains("/usr/bin/fsdyno") && !unit.contains("/usr/local/"), "{unit}");
    }
    if !have(&["makepkg"]) {
        return;
    }
    let read = |place: &Path| run(Command::new("sh").args(["-c", MAKEPKG]).current_dir(place).env("HOME", place));
    let shown = read(place.path()).good().stdout;
    assert!(shown.contains("\tarch = aarch64\n") && shown.contains("pkgname = fsdyno-bin"), "{shown}");
    std::fs::write(place.path().join("PKGBUILD"), recipe.replace("pkgrel=1", "pkgrel=a b")).unwrap();
    assert_ne!(read(place.path()).status, Some(0), "it finds errors");
}

#[test]
fn the_recipe_of_alpine_is_read_and_copies_a_release() {
    let place = testkit::directory();
    std::fs::write(place.path().join("APKBUILD"), filled("alpine/APKBUILD.in")).unwrap();
    if release::unpacked(place.path()).is_some() {
        package(place.path(), "sh", "APKBUILD");
    }
    if have(&["apkbuild-lint"]) {
        run(Command::new("apkbuild-lint").arg("APKBUILD").current_dir(place.path())).good();
    }
    if have(&["shellcheck"]) {
        // The variables are those of Alpine's own shell.
        let words = ["--shell=sh", "--exclude=SC2034,SC2154", "APKBUILD"];
        let check = || run(Command::new("shellcheck").args(words).current_dir(place.path()));
        check().good();
        let faulty = filled("alpine/APKBUILD.in").replace("\"$pkgdir\"/usr/share/\n", "$pkgdir/usr/share/\n");
        std::fs::write(place.path().join("APKBUILD"), faulty).unwrap();
        assert_ne!(check().status, Some(0), "it finds errors");
    }
}

/// What Scoop's schema of manifests asks of the fields that this one has.
#[test]
fn the_manifest_of_scoop_has_its_fields_and_no_others() {
    let manifest: serde_json::Value = serde_json::from_str(&filled("scoop/fsdyno.json.in")).unwrap();
    let fields = |value: &serde_json::Value| {
        let mut fields: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        fields.sort();
        fields
    };
    let known = ["architecture", "bin", "description", "extract_dir", "homepage", "license", "version"];
    assert_eq!(fields(&manifest), known);
    assert_eq!(fields(&manifest["architecture"]), ["64bit"]);
    assert_eq!(fields(&manifest["architecture"]["64bit"]), ["hash", "url"]);
    let hash = manifest["architecture"]["64bit"]["hash"].as_str().unwrap();
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
    let folder = manifest["extract_dir"].as_str().unwrap();
    assert!(
        manifest["architecture"]["64bit"]["url"].as_str().unwrap().ends_with(&format!("/{folder}.zip")),
        "{manifest}"
    );
}

#[test]
fn the_recipe_of_nix_is_read_and_names_an_archive_for_each_cpu() {
    if !have(&["nix-instantiate"]) {
        return;
    }
    let place = TestDirectory::new();
    place.write("fsdyno.nix", filled("nix/fsdyno.nix.in"));
    let script = "{ system }: let made = import ./fsdyno.nix {
        lib.licenses = { mit = 1; asl20 = 2; };
        fetchurl = wanted: wanted.url;
        stdenvNoCC = { hostPlatform = { inherit system; }; mkDerivation = make: make { }; };
      }; in made.src";
    place.write("read.nix", script);
    for cpu in ["x86_64", "aarch64"] {
        let mut command = Command::new("nix-instantiate");
        command.args(["--eval", "--strict", "read.nix", "--argstr", "system"]).arg(format!("{cpu}-linux"));
        let read = run(command.current_dir(place.path("")).env("HOME", place.path("")).env("NIX_REMOTE", "dummy://"));
        assert!(read.good().stdout.trim_end().ends_with(&format!("-{cpu}-linux.tar.gz\"")), "{cpu}");
    }
}

#[test]
fn the_recipe_of_homebrew_is_ruby_and_for_linux_alone() {
    let recipe = filled("homebrew/fsdyno.rb.in");
    assert!(recipe.contains("depends_on :linux") && !recipe.contains("macos"), "{recipe}");
    if have(&["ruby"]) {
        let place = TestDirectory::new();
        place.write("fsdyno.rb", &recipe);
        run(Command::new("ruby").arg("-c").arg(place.path("fsdyno.rb"))).good();
    }
}
