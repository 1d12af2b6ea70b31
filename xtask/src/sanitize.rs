//! Runs the tests of `os`, `engine`, `drive` and `run` under AddressSanitizer and ThreadSanitizer. Both need a nightly
//! toolchain. AddressSanitizer watches the heap through the allocator, whoever compiled the code. ThreadSanitizer must
//! see every access: an uninstrumented standard library orders accesses by fences that it does not see, which look like
//! races. So the standard library is built with it, from the component rust-src.

use std::path::Path;
use std::process::Command;

/// One sanitizer.
struct Sanitizer {
    /// The name in rustc.
    name: &'static str,
    /// Whether the standard library must be built with it.
    needs_source: bool,
    /// Its own settings: variable and value.
    settings: (&'static str, &'static str),
    /// Tests that are left out, with the reason.
    left_out: &'static [(&'static str, &'static str)],
}

const SANITIZERS: &[Sanitizer] = &[
    Sanitizer {
        name: "address",
        needs_source: false,
        // Memory that is left to the kernel on purpose is no leak.
        settings: ("ASAN_OPTIONS", "detect_leaks=0:handle_sigbus=0"),
        left_out: &[("untouched_memory_is_not_needed", "the sanitizer's own memory takes the place of a terabyte")],
    },
    Sanitizer {
        name: "thread",
        needs_source: true,
        settings: ("TSAN_OPTIONS", "halt_on_error=1:handle_sigbus=0"),
        left_out: &[("untouched_memory_is_not_needed", "the sanitizer's own memory takes the place of a terabyte")],
    },
];

/// Tests that count allocations, instructions or system calls: the sanitizer adds its own.
const COUNTING: &[&str] = &["allocation", "system_calls"];

/// Runs both sanitizers, or the named ones; false if one found something.
pub(crate) fn run(names: &[String]) -> Result<bool, String> {
    let Some(nightly) = answer("rustc", &["+nightly", "-vV"]) else {
        println!("skipped: no nightly toolchain: `rustup toolchain install nightly`");
        return Ok(true);
    };
    let target = nightly.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not tell its host")?;
    let sysroot = answer("rustc", &["+nightly", "--print", "sysroot"]).ok_or("rustc does not tell its sysroot")?;
    let has_source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std").exists();
    let mut well = true;
    for sanitizer in SANITIZERS.iter().filter(|known| names.is_empty() || names.iter().any(|name| name == known.name)) {
        if sanitizer.needs_source && !has_source {
            println!("skipped: {} sanitizer: `rustup component add rust-src --toolchain nightly`", sanitizer.name);
            continue;
        }
        well &= sanitizer.run(target)?;
    }
    Ok(well)
}

/// The output of a program, if it succeeds.
fn answer(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Sanitizer {
    fn run(&self, target: &str) -> Result<bool, String> {
        println!("== {} sanitizer", self.name);
        let tests = Command::new("rustup")
            .args(["run", "nightly", "cargo", "test", "--lib", "--tests"])
            .args(["-p", "fsdyno-os", "-p", "fsdyno-engine", "-p", "fsdyno-drive", "-p", "fsdyno-run"])
            .args(["--target", target, "--target-dir", &format!("target/sanitize-{}", self.name)])
            .args(self.needs_source.then_some("-Zbuild-std"))
            .arg("--")
            .args(self.left_out.iter().flat_map(|(test, _)| ["--skip", test]))
            .args(COUNTING.iter().flat_map(|test| ["--skip", test]))
            // Memory that the kernel maps itself (libaio's ring) is not seen: if a test gets the address of another
            // test's, it looks like a race. One test after the other avoids that.
            .arg("--test-threads=1")
            // Cargo passes on variables of the toolchain that runs this.
            .env_remove("CARGO")
            .env_remove("RUSTUP_TOOLCHAIN")
            // Through the C library the sanitizer sees memory that is mapped and unmapped.
            .env("RUSTFLAGS", format!("-Zsanitizer={} --cfg=rustix_use_libc", self.name))
            .env(self.settings.0, self.settings.1)
            .status()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        for (test, reason) in self.left_out {
            println!("left out: {test}: {reason}");
        }
        println!("left out: tests that count allocations or system calls: the sanitizer has some of its own");
        Ok(tests.success())
    }
}
