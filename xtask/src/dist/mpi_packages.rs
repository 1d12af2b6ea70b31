//! Makes the packages of the program with MPI: `fsdyno-openmpi` and `fsdyno-mpich`, to be installed beside the static one.
//! A program with MPI needs the libraries of the distribution that it was built on, so that its packages are of this
//! machine's kind alone.

use std::path::{Path, PathBuf};

use super::packages::{self, Package};
use super::platform::{PLATFORMS, Platform};
use super::release::{Made, Release};
use super::tool::{cannot, command, copy, output, write};
use super::{components, licences, mpi_image, tree};
use crate::workspace::folder;

/// An MPI library.
pub(super) struct Library {
    pub(super) package: &'static str,
    summary: &'static str,
    /// The beginning of the names of its libraries' packages in Debian.
    linked: &'static str,
    /// Its compilers, of which the first one that is there is taken.
    compilers: &'static [&'static str],
    /// The packages with its launcher.
    of_debian: &'static str,
    of_rpm: &'static str,
}

pub(super) const LIBRARIES: &[Library] = &[
    Library {
        package: "fsdyno-openmpi",
        summary: "measures filesystems from many nodes with Open MPI",
        linked: "libopenmpi",
        compilers: &["mpicc.openmpi", "/usr/lib64/openmpi/bin/mpicc"],
        of_debian: "openmpi-bin",
        of_rpm: "openmpi",
    },
    Library {
        package: "fsdyno-mpich",
        summary: "measures filesystems from many nodes with MPICH",
        linked: "libmpich",
        compilers: &["mpicc.mpich", "/usr/lib64/mpich/bin/mpicc"],
        of_debian: "mpich",
        of_rpm: "mpich",
    },
];

impl Library {
    /// Makes its package, for this machine's CPU and distribution. `program`: a program that is there already.
    pub(super) fn make(&self, release: &Release, program: Option<&Path>, place: &Path) -> Made {
        let own =
            PLATFORMS.iter().find(|platform| platform.runs_here()).ok_or("this machine runs no program of Linux")?;
        let program = match program {
            Some(program) => program.to_owned(),
            None => mpi_image::build(self.compiler()?, self.package)?,
        };
        let tree = self.tree(release, own, &program, place)?;
        match Path::new("/etc/debian_version").exists() {
            true => packages::deb(release, &self.described(self.needs_of_debian(&tree, place)?), own, &tree),
            false => packages::rpm(release, &self.described(self.of_rpm.to_owned()), own, &tree),
        }
    }

    fn described(&self, needs: String) -> Package {
        Package { name: self.package, summary: self.summary, needs, is_whole: false }
    }

    fn compiler(&self) -> Result<&'static str, String> {
        let is_there = |compiler: &&&str| output(command(compiler).arg("--version")).is_ok();
        self.compilers
            .iter()
            .find(is_there)
            .copied()
            .ok_or(format!("none of {} is installed", self.compilers.join(", ")))
    }

    fn tree(&self, release: &Release, platform: &Platform, program: &Path, place: &Path) -> Result<PathBuf, String> {
        let tree = place.join(self.package);
        copy(program, &tree.join("bin").join(self.package))?;
        let components = components::of_program(&[&format!("{}-unknown-linux-gnu", platform.rust)], "fsdyno/mpi")?;
        let documents = tree.join("share/doc").join(self.package);
        let libc = ["glibc", "of the distribution", "LGPL-2.1-or-later"];
        write(&documents.join("fsdyno.cdx.json"), components::cyclonedx(release, &components, libc)?)?;
        write(&documents.join("LICENCES-OF-DEPENDENCIES.txt"), licences::document(&components)?)?;
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copy(&folder().join(name), &documents.join(name))?;
        }
        tree::set_modes_and_time(&tree, release.epoch)?;
        Ok(tree)
    }

    /// The packages of the libraries that the program is linked with, and of the launcher.
    fn needs_of_debian(&self, tree: &Path, place: &Path) -> Result<String, String> {
        let control = place.join(format!("{}-control", self.package));
        write(
            &control.join("debian/control"),
            format!("Source: fsdyno\n\nPackage: {}\nArchitecture: any\n", self.package),
        )?;
        let program = tree.join("bin").join(self.package);
        let program = program.canonicalize().map_err(cannot("find", &program))?;
        let mut found = command("dpkg-shlibdeps");
        let found = output(found.args(["-O", "--ignore-missing-info", "-e"]).arg(program).current_dir(control))?;
        let libraries = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
        let libraries = libraries.filter(|libraries| libraries.contains(self.linked));
        Ok(format!(
            "{}, {}",
            libraries.ok_or(format!("the program is not linked with {}", self.linked))?,
            self.of_debian
        ))
    }
}
