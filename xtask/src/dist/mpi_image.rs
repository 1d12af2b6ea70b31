//! Makes the OCI image for many nodes: Debian's Open MPI and sshd with the program built with MPI, for the user and the
//! paths that the MPI operator of Kubernetes uses. `mmdebstrap` makes its root, `umoci` the image; neither needs a
//! daemon.

use std::path::{Path, PathBuf};

use super::platform::PLATFORMS;
use super::release::{Made, Release};
use super::tool::{self, cannot, command, copy, output, write};
use super::{components, image, licences};
use crate::workspace::{cargo_command, folder, target_directory};

/// The packages of a node besides the essential ones.
const PACKAGES: &str = "--include=openmpi-bin,openssh-server";

/// Configuration of sshd, ssh and Open MPI, in the layout of the root.
const CONFIGURATION: &str = "deploy/mpi/image";

/// Documents that the image leaves out.
const WITHOUT: &[&str] = &["man/*", "doc/*", "locale/*", "info/*"];

/// The last changes to the root. The user gets a name, which sshd requires; the host keys that the package made are
/// removed, as everybody who has the image would have them.
const SETTLED: &str = r#"
echo 'mpi:x:1000:1000::/var/mpi:/bin/sh' >> "$1/etc/passwd" &&
echo 'mpi:x:1000:' >> "$1/etc/group" &&
echo 'mpi:*:1::::::' >> "$1/etc/shadow" &&
rm -f "$1"/etc/ssh/ssh_host_*"#;

/// Makes the image for this machine's CPU and Debian: the program's libraries are there.
pub(super) fn make(release: &Release, program: Option<&Path>, place: &Path) -> Made {
    let own = PLATFORMS.iter().find(|platform| platform.runs_here()).ok_or("this machine runs no program of Linux")?;
    output(command("mmdebstrap").arg("--version"))?;
    output(command("umoci").arg("--version"))?;
    let program = program.map_or_else(|| build("mpicc", "mpi"), |program| Ok(program.to_owned()))?;
    let root = place.join("mpi-root.tar");
    make_root(release, &program, &place.join("mpi-files"), &root)?;
    let layout = place.join("mpi-image");
    output(command("umoci").args(["init", "--layout"]).arg(&layout))?;
    let image = format!("{}:{}", layout.display(), release.version);
    let created = release.time()?;
    let umoci = |words: &[&str]| output(command("umoci").args(words)).map(drop);
    umoci(&["new", "--image", &image])?;
    let tar = root.to_str().ok_or("the folder's path is no text")?;
    umoci(&["raw", "add-layer", "--image", &image, "--history.created", &created, tar])?;
    let mut words = vec!["config", "--image", &image, "--no-history", "--created", &created, "--os", "linux"];
    words.extend(["--architecture", own.debian, "--config.user", "1000:1000", "--config.workingdir", "/var/mpi"]);
    umoci(&[&words[..], &["--config.label", "org.opencontainers.image.title=fsdyno-mpi"]].concat())?;
    umoci(&["gc", "--layout", layout.to_str().ok_or("the folder's path is no text")?])?;
    Ok(vec![image::archive(release, &layout, "mpi-image")?])
}

/// Builds the program with MPI separately, as it needs this machine's libraries.
/// `compiler`: that of the MPI library. cargo does not build anew when only the library has changed: each one has a folder
/// with its `name`.
pub(super) fn build(compiler: &str, name: &str) -> Result<PathBuf, String> {
    output(command(compiler).arg("--version"))?;
    let target = target_directory().join(format!("{name}-release"));
    let mut cargo = cargo_command();
    cargo.args(["build", "--release", "--locked", "--quiet", "-p=fsdyno", "--bin=fsdyno", "--features=mpi"]);
    cargo.env("MPICC", compiler);
    let built = cargo.arg("--target-dir").arg(&target).current_dir(folder()).status();
    match built.map_err(|error| format!("cannot run cargo: {error}"))?.success() {
        true => Ok(target.join("release/fsdyno")),
        false => Err("the program cannot be built with MPI".to_owned()),
    }
}

/// Makes an archive with Debian and everything that a node needs.
fn make_root(release: &Release, program: &Path, files: &Path, to: &Path) -> Result<(), String> {
    copy(program, &files.join("usr/bin/fsdyno"))?;
    let components = components::of_program(&[&format!("{}-unknown-linux-gnu", std::env::consts::ARCH)], "fsdyno/mpi")?;
    write(&files.join("licences/LICENCES-OF-DEPENDENCIES.txt"), licences::document(&components)?)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&folder().join(name), &files.join("licences").join(name))?;
    }
    output(command("cp").arg("-R").arg(folder().join(CONFIGURATION).join(".")).arg(files))?;
    output(command("chmod").arg("755").arg(files.join("usr/bin/fsdyno")))?;
    let added = to.with_extension("added");
    tool::tar(release.epoch, files, &added)?;
    let mut debian = command("mmdebstrap");
    debian.args(["--quiet", "--variant=essential", PACKAGES]).env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    debian.args(WITHOUT.iter().map(|name| format!("--dpkgopt=path-exclude=/usr/share/{name}")));
    debian.arg("--dpkgopt=path-include=/usr/share/doc/*/copyright");
    debian.arg(format!("--customize-hook=tar-in '{}' /", added.display()));
    debian.arg(format!("--customize-hook={SETTLED}")).arg(suite()?).arg(to);
    output(&mut debian).map(drop)
}

/// This machine's own Debian suite, whose archive can be reached.
fn suite() -> Result<String, String> {
    let path = Path::new("/etc/os-release");
    let facts = std::fs::read_to_string(path).map_err(cannot("read", path))?;
    let name = facts.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(str::to_owned).ok_or_else(|| "this machine is no Debian with a name".to_owned())
}
