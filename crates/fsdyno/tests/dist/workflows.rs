//! Tests the steps of the release workflow that can be run here, and what workflows use of others.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use testkit::{TestDirectory, names, workspace};

use crate::{have, run};

fn workflow(name: &str) -> String {
    std::fs::read_to_string(workspace().join(".github/workflows").join(name)).unwrap()
}

/// The steps of the release workflow that compare the tag and the repository with the manifest.
#[test]
fn a_release_of_another_version_or_of_a_placeholder_ends_before_it_is_made() {
    let workflow = workflow("release.yml");
    let steps: Vec<&str> = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).collect();
    let compares = |step: &&str| step.starts_with("test ");
    assert_eq!(steps.iter().position(|step| !compares(step)), Some(2), "they come first: {steps:?}");
    assert!(steps.last().unwrap().starts_with("gh release create "), "{steps:?}");
    let passes = |tag: &str, server: &str, repository: &str| {
        steps.iter().filter(|step| compares(step)).all(|step| {
            let mut shell = Command::new("sh");
            shell.args(["-ec", step]).current_dir(workspace()).env("GITHUB_REF_NAME", tag);
            run(shell.env("GITHUB_SERVER_URL", server).env("GITHUB_REPOSITORY", repository)).status == Some(0)
        })
    };
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let (server, repository) = env!("CARGO_PKG_REPOSITORY").rsplit_once('/').unwrap();
    assert_eq!(passes(tag, server, repository), server != "https://example.org", "a placeholder is refused");
    assert!(!passes(tag, "https://forge.test", repository) && !passes("v0.0.0", server, repository));
}

/// An action by its commit is the one that was read; a tag can be moved.
#[test]
fn actions_are_named_by_their_commits() {
    let mut used = 0;
    for name in names(&workspace().join(".github/workflows")) {
        for line in workflow(&name).lines().filter(|line| line.contains("uses:")) {
            let commit = line.split_once('@').and_then(|(_, rest)| rest.split_once(" # v")).map(|(commit, _)| commit);
            let is_hash = |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(commit.is_some_and(is_hash), "{name}: {line}");
            used += 1;
        }
    }
    assert!(used > 3, "{used}");
}

/// The key is made here; the step signs without a terminal, and the command of docs/install.md checks the signature.
#[test]
fn the_checksums_are_signed_by_the_key_that_the_workflow_is_given() {
    let workflow = workflow("release.yml");
    let at = |part: &str| workflow.find(part).unwrap_or_else(|| panic!("{part}"));
    assert!(at("cargo xtask dist ") < at("--detach-sign") && at("--detach-sign") < at("gh release create"));
    let check = "gpg --verify SHA256SUMS.asc SHA256SUMS";
    assert!(std::fs::read_to_string(workspace().join("docs/install.md")).unwrap().contains(check));
    if !have(&["gpg"]) {
        return;
    }
    let place = TestDirectory::with(&["maker", "runner", "reader", "target/dist"]);
    place.write("target/dist/SHA256SUMS", "00  file\n");
    let shell = |home: &str, key: &str, script: &str| {
        std::fs::set_permissions(place.path(home), std::fs::Permissions::from_mode(0o700)).unwrap();
        let script = format!("trap 'gpgconf --kill all' EXIT\n{script}");
        let mut shell = Command::new("sh");
        shell.args(["-ec", &script]).current_dir(place.path("")).env("GNUPGHOME", place.path(home));
        run(shell.env("FSDYNO_SIGNING_KEY", key))
    };
    let make = "gpg --batch --quiet --passphrase '' --quick-generate-key release@example.org ed25519 sign never
        gpg --batch --armor --export > key.pub; gpg --batch --armor --export-secret-keys";
    let key = shell("maker", "", make).good().stdout;
    let step: Vec<&str> = workflow.lines().filter(|line| line.contains("gpg")).collect();
    shell("runner", &key, &step.join("\n")).good();
    let checks = || shell("reader", "", &format!("gpg --batch --import key.pub; cd target/dist; {check}"));
    checks().good();
    place.write("target/dist/SHA256SUMS", "01  file\n");
    assert_ne!(checks().status, Some(0), "other checksums");
}
