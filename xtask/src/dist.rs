//! `cargo xtask dist`: makes a release from the static programs: archives, Debian packages, RPMs, an OCI image,
//! licences and components of everything in them, and their checksums. The packages are made with dpkg-deb and
//! rpmbuild, not with cargo-deb and cargo-generate-rpm, which would need two descriptions of the same tree;
//! cargo-cyclonedx and cargo-about list what a build may use, while these lists contain what is compiled into the
//! static programs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

mod archives;
mod components;
mod image;
mod licences;
mod mpi_image;
mod mpi_packages;
mod packages;
mod platform;
mod release;
mod templates;
mod tool;
mod tree;

use std::path::{Path, PathBuf};

use crate::bench::program::BYTES_WITHOUT_OBJECTS_MAX;
use crate::workspace::target_directory;
use packages::Package;
use platform::{PLATFORMS, Platform};
use release::{Made, Release, epoch};

/// SOURCE_DATE_EPOCH names the time that all files bear instead of that of the last commit, `repository` in Cargo.toml the
/// project's address.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo xtask dist")]
struct Arguments {
    /// Only for x86_64-linux, aarch64-linux or x86_64-windows; may be repeated.
    #[arg(long, value_name = "NAME")]
    platform: Vec<String>,
    /// Only the programs, without anything around them.
    #[arg(long)]
    bare: bool,
    /// An image with Open MPI and sshd for many nodes too, of this machine's Debian.
    #[arg(long)]
    mpi_image: bool,
    /// The packages fsdyno-openmpi and fsdyno-mpich too, with RPM, and on a Debian for Debian.
    #[arg(long)]
    mpi_packages: bool,
    /// A program that was built with MPI, for the image and the packages, instead of a new build; may be repeated, once for
    /// each MPI library.
    #[arg(long, value_name = "FILE")]
    mpi_program: Vec<PathBuf>,
    /// Builds each program a second time, from a copy of the sources in another folder, and compares the bytes.
    #[arg(long)]
    twice: bool,
    /// A program that is there already, for the one platform that is named: it is not judged.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The number of the packages behind that of the version.
    #[arg(long, value_name = "N", default_value_t = 1)]
    revision: u32,
    /// Where the release is put [default: dist in the folder of the build].
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Makes a release; `Ok(false)`: a part of it was left out.
pub(crate) fn run(arguments: &[String]) -> Result<bool, String> {
    let Some(asked) = crate::words::asked::<Arguments>(arguments)? else { return Ok(true) };
    let platforms = crate::words::named(PLATFORMS, &asked.platform, |platform| platform.name)?;
    let release = Release {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: asked.revision,
        epoch: epoch()?,
        output: asked.output.clone().unwrap_or_else(|| target_directory().join("dist")),
    };
    let mut left_out = Vec::new();
    let mut programs = Vec::new();
    for platform in &platforms {
        match (&asked.program, platform.is_ready()) {
            (Some(program), _) if platforms.len() == 1 => programs.push((*platform, program.clone())),
            (Some(_), _) => return Err("--program is for one platform: name it with --platform".to_owned()),
            (None, Ok(())) => programs.push((*platform, platform.build(asked.twice, release.epoch)?)),
            (None, Err(reason)) => left_out.push(format!("{}: {reason}", platform.name)),
        }
    }
    for (platform, program) in &programs {
        println!("{}: {} bytes, {}", platform.name, size(program)?, program.display());
    }
    if (!asked.bare || asked.mpi_image || asked.mpi_packages) && !programs.is_empty() {
        make(&release, &asked, &programs, &mut left_out)?;
    }
    left_out.iter().for_each(|line| println!("left out: {line}"));
    let refused = |(platform, program): &(&Platform, PathBuf)| !platform.accepts(program);
    let refused = if asked.program.is_some() { 0 } else { programs.iter().filter(|program| refused(program)).count() };
    Ok(left_out.is_empty() && refused == 0)
}

/// Builds the static program of this machine and returns its path; the error says why there is none.
pub(crate) fn static_program() -> Result<PathBuf, String> {
    let own = PLATFORMS.iter().find(|platform| platform.runs_here()).ok_or("no static program runs on this machine")?;
    own.is_ready()?;
    own.build(false, epoch()?)
}

/// Whether the program without object stores is as small as it was before there were any.
pub(crate) fn without_objects() -> Result<bool, String> {
    let own = PLATFORMS.iter().find(|platform| platform.runs_here()).ok_or("no static program runs on this machine")?;
    own.is_ready()?;
    let bytes = own.bytes_without_objects(epoch()?)?;
    println!("{}: {bytes} bytes without object stores, at most {BYTES_WITHOUT_OBJECTS_MAX}", own.name);
    Ok(bytes <= BYTES_WITHOUT_OBJECTS_MAX)
}

/// Makes everything that is asked for around the programs, and the checksums.
fn make(
    release: &Release,
    asked: &Arguments,
    programs: &[(&Platform, PathBuf)],
    left_out: &mut Vec<String>,
) -> Result<(), String> {
    release.clear()?;
    let place = release.output.join("trees");
    let mut files = Vec::new();
    let mut take = |what: String, made: Made| match made {
        Ok(made) => files.extend(made),
        Err(reason) => left_out.push(format!("{what}: {reason}")),
    };
    if !asked.bare {
        wrap(release, programs, &place, &mut take)?;
    }
    if asked.mpi_image {
        take("mpi-image".to_owned(), mpi_image::make(release, asked.mpi_program.first().map(PathBuf::as_path), &place));
    }
    for library in mpi_packages::LIBRARIES.iter().filter(|_| asked.mpi_packages) {
        let made = library.make(release, &asked.mpi_program, &place, &mut take);
        take(library.package.to_owned(), made.map(|()| Vec::new()));
    }
    let sums = tool::sha256(&files)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lines: String = files.iter().zip(sums).map(|(file, sum)| format!("{sum}  {}\n", name(file))).collect();
    files.push(release.write(release::SUMS, &lines)?);
    std::fs::remove_dir_all(&place).map_err(tool::cannot("remove", &place))?;
    files.iter().for_each(|file| println!("{}", file.display()));
    Ok(())
}

/// Makes the parts that each release has.
fn wrap(
    release: &Release,
    programs: &[(&Platform, PathBuf)],
    place: &Path,
    take: &mut dyn FnMut(String, Made),
) -> Result<(), String> {
    let documents = tree::Documents::make(release, programs, &place.join("documents"))?;
    take("components".to_owned(), Ok(vec![release.write("fsdyno.cdx.json", &documents.components)?]));
    for (platform, program) in programs {
        let tree = documents.tree(release, platform, program, &place.join(platform.name))?;
        take(format!("archive for {}", platform.name), archives::make(release, platform, &tree));
        if platform.is_linux() {
            take(format!("deb for {}", platform.name), packages::deb(release, &Package::whole(), platform, &tree));
            take(format!("rpm for {}", platform.name), packages::rpm(release, &Package::whole(), platform, &tree));
        }
    }
    take("image".to_owned(), image::make(release, programs, place));
    for template in templates::TEMPLATES {
        take(template.name.to_owned(), template.fill(release, release::home()));
    }
    Ok(())
}

fn size(program: &Path) -> Result<u64, String> {
    Ok(std::fs::metadata(program).map_err(tool::cannot("find", program))?.len())
}
