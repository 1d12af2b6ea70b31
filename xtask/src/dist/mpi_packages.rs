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
    /// The beginning of the file name of its library in Debian, and what other distributions call the same library.
    debian_library: &'static str,
    library: &'static str,
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
        debian_library: "libmpi.so.40",
        library: "libmpi.so.40",
        compilers: &["mpicc.openmpi", "/usr/lib64/openmpi/bin/mpicc"],
        of_debian: "openmpi-bin",
        of_rpm: "(openmpi or openmpi4)",
    },
    Library {
        package: "fsdyno-mpich",
        summary: "measures filesystems from many nodes with MPICH",
        linked: "libmpich",
        debian_library: "libmpich.so.12",
        library: "libmpi.so.12",
        compilers: &["mpicc.mpich", "/usr/lib64/mpich/bin/mpicc"],
        of_debian: "mpich",
        of_rpm: "mpich",
    },
];

impl Library {
    /// Makes its packages, for this machine's CPU: on a Debian for Debian, and for distributions with RPM. `take` gets each
    /// with its name. `programs`: those that are there already.
    pub(super) fn make(
        &self,
        release: &Release,
        programs: &[PathBuf],
        place: &Path,
        take: &mut dyn FnMut(String, Made),
    ) -> Result<(), String> {
        let own =
            PLATFORMS.iter().find(|platform| platform.runs_here()).ok_or("this machine runs no program of Linux")?;
        let program = match programs.iter().find(|program| self.is_linked(program)) {
            Some(program) => program.to_owned(),
            None if programs.is_empty() => mpi_image::build(self.compiler()?, self.package)?,
            None => return Err(format!("no program is linked with {}", self.linked)),
        };
        let tree = self.tree(release, own, &program, place)?;
        let is_debian = Path::new("/etc/debian_version").exists();
        if is_debian {
            let needs = self.needs_of_debian(&tree, place);
            let made = needs.and_then(|needs| packages::deb(release, &self.described(needs), own, &tree));
            take(format!("{} as deb", self.package), made);
        }
        let needs = self.needs_of_rpm(&tree, is_debian);
        let made = needs.and_then(|needs| packages::rpm(release, &self.described(needs), own, &tree));
        take(format!("{} as rpm", self.package), made);
        Ok(())
    }

    /// The launcher's package and the version of glibc that a program needs. The launcher's package has the library under
    /// the name that all distributions but Debian give it, which the program in the tree then has, too.
    fn needs_of_rpm(&self, tree: &Path, is_debian: bool) -> Result<String, String> {
        let program = tree.join("bin").join(self.package);
        if is_debian && self.library != self.debian_library {
            let names = ["--replace-needed", self.debian_library, self.library];
            output(command("patchelf").args(names).arg(&program))?;
        }
        let linked = output(command("readelf").args(["--wide", "--dynamic", "--version-info"]).arg(&program))?;
        if !linked.contains(&format!("[{}]", self.library)) {
            return Err(format!("the program is not linked with {}", self.library));
        }
        let versions = linked
            .split("GLIBC_2.")
            .skip(1)
            .filter_map(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u32>().ok());
        let newest = versions.max().ok_or("the program names no version of glibc")?;
        Ok(format!("{}, libc.so.6(GLIBC_2.{newest})(64bit)", self.of_rpm))
    }

    /// Whether a program needs its library, by Debian's name or that of others.
    fn is_linked(&self, program: &Path) -> bool {
        let needed = output(command("readelf").args(["--wide", "--dynamic"]).arg(program)).unwrap_or_default();
        [self.debian_library, self.library].iter().any(|name| needed.contains(&format!("[{name}]")))
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
        output(command("strip").arg(tree.join("bin").join(self.package)))?;
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
