//! What is given away.

use std::process::Command;

use testkit::{skip, text, workspace};

use crate::bench::{built, directory, wine};

/// The zip has the program, its licences and the README, and the program starts where it was unpacked.
#[test]
fn the_zip_has_all_that_belongs_to_it_and_the_program_starts() {
    let Some(wine) = wine() else { return };
    let tools = ["zip", "unzip"].map(|tool| Command::new(tool).arg("-v").output().is_ok());
    if tools != [true; 2] {
        return skip("zip or unzip is not installed");
    }
    let place = directory();
    let (release, program) = (place.path().join("release"), built("fsdyno", "fsdyno"));
    let ran = Command::new(env!("CARGO"))
        .args(["xtask", "dist", "--platform=x86_64-windows", "--program"])
        .arg(program)
        .arg("--output")
        .arg(&release)
        .current_dir(workspace())
        .output()
        .unwrap();
    let said = text(&ran.stdout) + &text(&ran.stderr);
    let name = format!("fsdyno-{}-x86_64-windows", env!("CARGO_PKG_VERSION"));
    let archive = release.join(format!("{name}.zip"));
    assert!(archive.exists(), "{said}");
    assert!(said.contains("SHA256SUMS"), "{said}");
    let unzipped = Command::new("unzip").arg("-q").arg(&archive).arg("-d").arg(place.path()).status().unwrap();
    assert!(unzipped.success());
    let tree = place.path().join(name);
    let documents = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "LICENCES-OF-DEPENDENCIES.txt", "CHANGELOG.md"];
    let missing =
        |name: &&str| std::fs::metadata(tree.join("share/doc/fsdyno").join(name)).map_or(0, |file| file.len()) == 0;
    assert_eq!(documents.iter().filter(|name| missing(name)).count(), 0, "{said}");
    let licences = std::fs::read_to_string(tree.join("share/doc/fsdyno/LICENCES-OF-DEPENDENCIES.txt")).unwrap();
    assert!(licences.contains("windows-sys"), "what only Windows needs has its licence");
    let started = wine.run(&tree.join("bin/fsdyno.exe"), &["--version"]);
    assert!(text(&started.stdout).starts_with("fsdyno "), "{}", text(&started.stderr));
}
