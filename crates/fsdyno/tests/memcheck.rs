//! A short run of each engine under valgrind's memcheck: no access beyond what is allocated, no decision on memory that
//! nobody has written.

use std::process::Command;

/// The status of a run in which something was found.
const FOUND: i32 = 99;

#[test]
fn every_engine() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return println!("skipped: valgrind is not installed");
    }
    let engines = ["null", "sim", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring"];
    for engine in engines {
        match checked(engine, "--rw=randrw --verify=crc32c --iodepth=8 --fsync=16") {
            Ok(None) => println!("{engine}: nothing was found"),
            Ok(Some(said)) => panic!("{engine}:\n{said}"),
            // An older valgrind, or a kernel that it does not know.
            Err(reason) => println!("skipped: {engine}: {reason}"),
        }
    }
}

/// What memcheck has found; the reason, if the engine cannot run under it.
fn checked(engine: &str, words: &str) -> Result<Option<String>, String> {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable");
    let ran = Command::new("valgrind")
        .args(["-q", "--leak-check=no", &format!("--error-exitcode={FOUND}"), env!("CARGO_BIN_EXE_fsdyno")])
        .args([&format!("--ioengine={engine}"), "--name=a", "--filename=data", "--size=256k", "--bs=4k"])
        .args(words.split(' '))
        .current_dir(place.path())
        .output()
        .expect("valgrind is there");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let unknown = ["unhandled amd64-linux syscall", "unhandled arm64-linux syscall", "Function not implemented"];
    match (ran.status.code(), unknown.iter().find(|words| said.contains(**words))) {
        // Where a call is unknown that the program can do without, it does without.
        (Some(0), _) => Ok(None),
        (Some(FOUND), _) | (_, None) => Ok(Some(said)),
        (_, Some(words)) => Err(format!("valgrind does not know one of its system calls ({words})")),
    }
}
