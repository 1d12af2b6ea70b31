//! Tests that a run examines the machine once: the files on mounts and control groups are opened once, however many
//! files the jobs have. strace counts them.

use std::process::Command;

use testkit::TestDirectory;

/// How often each of these files is opened while the words run; the error says why strace is not available.
fn opened(place: &TestDirectory, words: &[&str], files: [&str; 2]) -> Result<[usize; 2], String> {
    let trace = place.path("trace");
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=openat", "-o"])
        .arg(&trace)
        .arg(testkit::program())
        .args(words)
        .current_dir(place.path("."))
        .output()
        .map_err(|error| format!("strace: {error}"))?;
    let stderr = String::from_utf8_lossy(&traced.stderr);
    if stderr.contains("ptrace") {
        return Err(stderr.into_owned());
    }
    assert!(traced.status.success(), "{words:?}: {stderr}");
    let text = place.read("trace");
    Ok(files.map(|file| text.lines().filter(|line| line.contains(&format!("\"{file}\""))).count()))
}

#[test]
fn mounts_and_control_groups_are_read_once_per_run() {
    let place = TestDirectory::new();
    let files = ["/proc/self/mountinfo", "/proc/self/cgroup"];
    let many = ["--name=a", "--rw=randrw", "--size=1m", "--bs=64k", "--nrfiles=4", "--numjobs=8", "--directory=."];
    let inspected = ["inspect", "."];
    for words in [&many[..], &inspected[..]] {
        match opened(&place, words, files) {
            Ok(counts) => assert_eq!(counts, [1, 1], "{words:?}"),
            Err(reason) => return testkit::skip(&reason),
        }
    }
}
