//! The platforms of a release, and how their programs are built: linked without anything of the building machine, and
//! with the same bytes wherever the sources are.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::tool::{cannot, command, output};
use crate::bench::program;
use crate::workspace::{cargo_command, folder, target_directory};

/// A system and a CPU architecture.
#[derive(Debug)]
pub(super) struct Platform {
    /// The name in archives.
    pub(super) name: &'static str,
    /// The name in rustc.
    pub(super) target: &'static str,
    /// The linker: Rust's own needs nothing else; Windows' libraries come with another one.
    linker: &'static str,
    /// The C compiler for the parts of TLS that are no Rust; "": the program has no TLS.
    c_compiler: &'static str,
    /// The names of the architecture in Rust, Debian and OCI.
    pub(super) rust: &'static str,
    pub(super) debian: &'static str,
}

pub(super) const PLATFORMS: &[Platform] = &[
    Platform {
        name: "x86_64-linux",
        target: "x86_64-unknown-linux-musl",
        linker: "rust-lld",
        c_compiler: "gcc",
        rust: "x86_64",
        debian: "amd64",
    },
    Platform {
        name: "aarch64-linux",
        target: "aarch64-unknown-linux-musl",
        linker: "rust-lld",
        c_compiler: "aarch64-linux-gnu-gcc",
        rust: "aarch64",
        debian: "arm64",
    },
    Platform {
        name: "x86_64-windows",
        target: "x86_64-pc-windows-gnu",
        linker: "x86_64-w64-mingw32-gcc",
        c_compiler: "",
        rust: "x86_64",
        debian: "",
    },
];

/// Linker options that make a static program smaller. Relocations of a position-independent program take one bit each
/// instead of 24 bytes: 0.18 MB less. Rust's musl reads such lists; glibc only in new versions. Functions and constants
/// with the same bytes are stored once, 0.09 MB less, as Rust does for Microsoft's systems: no code compares their
/// addresses.
const SMALLER: &[&str] = &[
    "-Clink-arg=--pack-dyn-relocs=relr",
    "-Clink-arg=--icf=all",
    "-Clink-arg=--ignore-data-address-equality",
    "-Clink-arg=-O2",
];

/// Each function keeps the address of its frame in a register. Its unwinding table needs one entry instead of one for each
/// register that it saves: 0.34 MB less, for 1 to 3 % more instructions in the loop. Profilers such as perf read the stack
/// of such a program without debug information.
const FRAME_POINTERS: &str = "-Cforce-frame-pointers=yes";

/// Without this, Windows programs contain the time of their linking.
const NO_TIME: &[&str] = &["-Clink-arg=-Wl,--no-insert-timestamp"];

impl Platform {
    pub(super) fn is_linux(&self) -> bool {
        self.target.contains("linux")
    }

    /// Whether its program runs on this machine.
    pub(super) fn runs_here(&self) -> bool {
        self.is_linux() && cfg!(target_os = "linux") && self.rust == std::env::consts::ARCH
    }

    /// The program's name.
    pub(super) fn program(&self) -> &'static str {
        if self.is_linux() { "fsdyno" } else { "fsdyno.exe" }
    }

    /// Whether it can be built here; the error says why not.
    pub(super) fn is_ready(&self) -> Result<(), String> {
        let folder = sysroot()?.join("lib/rustlib").join(self.target).join("lib");
        if !folder.exists() {
            return Err(format!("the target is not installed: rustup target add {}", self.target));
        }
        // Rust's own linker is not in PATH.
        match self.linker {
            "rust-lld" => Ok(()),
            linker => output(command(linker).arg("--version")).map(drop),
        }
    }

    /// Builds the program; returns its path.
    pub(super) fn build(&self, twice: bool, epoch: u64) -> Result<PathBuf, String> {
        if self.is_linux() && !self.has_objects() {
            println!("{}: without object stores, as {} is not installed", self.name, self.c_compiler);
        }
        let program = self.compile(&folder(), &target_directory(), epoch, self.has_objects())?;
        if twice {
            let copy = target_directory().join("dist-again");
            let _ = std::fs::remove_dir_all(&copy);
            copy_sources(&copy.join("sources"))?;
            let again = self.compile(&copy.join("sources"), &copy.join("target"), epoch, self.has_objects())?;
            let read = |path: &Path| std::fs::read(path).map_err(cannot("read", path));
            if read(&program)? != read(&again)? {
                return Err(format!("two builds differ: {} and {}", program.display(), again.display()));
            }
            std::fs::remove_dir_all(&copy).map_err(cannot("remove", &copy))?;
        }
        Ok(program)
    }

    /// Whether its program is built with object stores.
    fn has_objects(&self) -> bool {
        !self.c_compiler.is_empty() && output(command(self.c_compiler).arg("--version")).is_ok()
    }

    /// Builds the program without object stores, in a folder of its own; its length.
    pub(super) fn bytes_without_objects(&self, epoch: u64) -> Result<usize, String> {
        let program = self.compile(&folder(), &target_directory().join("without-objects"), epoch, false)?;
        std::fs::read(&program).map(|bytes| bytes.len()).map_err(cannot("read", &program))
    }

    fn compile(&self, sources: &Path, target: &Path, epoch: u64, objects: bool) -> Result<PathBuf, String> {
        let linker = format!("target.{}.linker='{}'", self.target, self.linker);
        let mut cargo = cargo_command();
        cargo.args(["rustc", "--release", "--locked", "--quiet", "-p=fsdyno", "--bin=fsdyno", "--target", self.target]);
        cargo.args(["--config", &linker]).arg("--target-dir").arg(target).current_dir(sources);
        let mut flags = flags(sources)?;
        flags.extend(self.is_linux().then(|| FRAME_POINTERS.to_owned()));
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env("SOURCE_DATE_EPOCH", epoch.to_string());
        cargo.args((!objects).then_some("--no-default-features"));
        if objects {
            cargo.env(format!("CC_{}", self.target.replace('-', "_")), self.c_compiler);
        }
        cargo.arg("--").args(if self.is_linux() { SMALLER } else { NO_TIME });
        let built = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
        if !built.success() {
            return Err(format!("{} cannot be built for {}", self.program(), self.target));
        }
        Ok(target.join(self.target).join("release").join(self.program()))
    }

    /// Whether the program can be released; objections are printed.
    pub(super) fn accepts(&self, path: &Path) -> bool {
        let mut objections = match std::fs::read(path) {
            Ok(bytes) if self.is_linux() => program::static_objections(&bytes),
            Ok(bytes) => program::objections(&bytes),
            Err(_) => vec!["it cannot be read"],
        };
        if self.rust == "aarch64" && objections.contains(&program::FIXED) {
            println!("{}: it has a fixed address: Rust links static programs for this target without PIE", self.name);
            objections.retain(|objection| *objection != program::FIXED);
        }
        objections.iter().for_each(|objection| eprintln!("missed: {}: {objection}", path.display()));
        objections.is_empty()
    }
}

/// The program as developers on this machine build it.
pub(super) fn development() -> Result<PathBuf, String> {
    let mut cargo = cargo_command();
    let built = cargo.args(["build", "--quiet", "--bin=fsdyno"]).current_dir(folder()).status();
    let built = built.map_err(|error| format!("cannot run cargo: {error}"))?;
    built.success().then(|| target_directory().join("debug/fsdyno")).ok_or("fsdyno cannot be built".to_owned())
}

/// Compiler flags that replace paths of the building machine in messages: the bytes then depend on the sources alone.
fn flags(sources: &Path) -> Result<Vec<String>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let crates = home.ok_or("neither CARGO_HOME nor HOME is set")?;
    let version = output(Command::new("rustc").arg("-vV"))?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown");
    let pairs = [
        (sources.display().to_string(), "/fsdyno".to_owned()),
        (crates.display().to_string(), "/cargo".to_owned()),
        (sysroot()?.join("lib/rustlib/src/rust").display().to_string(), format!("/rustc/{commit}")),
    ];
    Ok(pairs.into_iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")).collect())
}

/// The folder of rustc's libraries.
fn sysroot() -> Result<PathBuf, String> {
    Ok(output(command("rustc").args(["--print", "sysroot"]))?.trim().into())
}

/// Copies the files that git tracks, in their present state.
fn copy_sources(to: &Path) -> Result<(), String> {
    let tracked = output(command("git").args(["ls-files", "-z"]))?;
    for name in tracked.split('\0').filter(|name| !name.is_empty()) {
        super::tool::copy(&folder().join(name), &to.join(name))?;
    }
    Ok(())
}
