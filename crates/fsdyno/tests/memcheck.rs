//! Runs each engine briefly under valgrind's memcheck: no access beyond allocated memory, no decision on uninitialised
//! memory.

use testkit::{Running, TestDirectory};

/// The status of a run with memcheck errors.
const FOUND: i32 = 99;

#[test]
fn every_engine() {
    if !testkit::has("valgrind") {
        return;
    }
    let engines = ["null", "sim", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring"];
    for engine in engines {
        match checked(engine, "--rw=randrw --verify=crc32c --iodepth=8 --fsync=16") {
            Ok(None) => println!("{engine}: nothing was found"),
            Ok(Some(output)) => panic!("{engine}:\n{output}"),
            // An older valgrind, or a kernel that it does not know.
            Err(reason) => testkit::skip(&format!("{engine}: {reason}")),
        }
    }
}

/// memcheck's errors; the error says why the engine cannot run under it.
fn checked(engine: &str, words: &str) -> Result<Option<String>, String> {
    let ran = Running::start(
        TestDirectory::new()
            .program("valgrind", &format!("-q --leak-check=no --error-exitcode={FOUND}"))
            .arg(testkit::program())
            .args([&format!("--ioengine={engine}"), "--name=a", "--filename=data", "--size=256k", "--bs=4k"])
            .args(words.split(' ')),
    )
    .finish();
    let output = ran.stdout + &ran.stderr;
    let unknown = ["unhandled amd64-linux syscall", "unhandled arm64-linux syscall", "Function not implemented"];
    match (ran.status, unknown.iter().find(|words| output.contains(**words))) {
        // If valgrind does not know a call that the program does not need, the program goes on without it.
        (Some(0), _) => Ok(None),
        (Some(FOUND), _) | (_, None) => Ok(Some(output)),
        (_, Some(words)) => Err(format!("valgrind does not know one of its system calls ({words})")),
    }
}
