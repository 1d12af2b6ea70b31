//! What protects disks that are in use, and what an order to end leaves behind.

use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use testkit::{skip, text};

use crate::bench::{directory, escaped, wine};

/// A volume that no letter belongs to is read and written; a disk whose volumes are not visible is not written. A file
/// stands for the volume: Wine takes what is linked under this name for one.
#[test]
fn a_raw_volume_is_used_and_a_disk_that_may_be_in_use_is_not() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let image = place.path().join("image");
    std::fs::write(&image, vec![0u8; 4 << 20]).unwrap();
    let link = wine.prefix.join("dosdevices/x::");
    let _ = std::fs::remove_file(&link);
    symlink(&image, &link).unwrap();
    let shape = ["--name=a", "--size=1m", "--bs=64k", "--verify=crc32c", "--thread"];
    for engine in ["--ioengine=psync", "--ioengine=windowsaio"] {
        let wrote = wine.job(&[&shape[..], &[r"--filename=\\.\X\:", "--rw=write", engine]].concat());
        assert_eq!((&wrote["write"]["total_ios"], &wrote["error"]), (&16.into(), &0.into()), "{engine}");
    }
    std::fs::remove_file(&link).unwrap();
    assert!(std::fs::read(&image).unwrap()[..1 << 20].iter().any(|byte| *byte != 0), "the volume was written");

    let disk = [r"--filename=\\.\PhysicalDrive0", "--name=a", "--rw=write", "--size=1m"];
    let refused = wine.try_fsdyno(&disk);
    let said = text(&refused.stdout) + &text(&refused.stderr);
    assert!(!refused.status.success() && said.contains("refusing to write to it"), "{said}");
}

/// Wine turns the signal into what a console's Ctrl-C is.
#[test]
fn a_ctrl_c_ends_with_a_report_and_cleans_up() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let program = crate::bench::built("fsdyno", "fsdyno");
    let job = ["--name=a", "--rw=randread", "--size=1m", "--time_based", "--runtime=60", "--ioengine=psync"];
    let ground = escaped(place.path());
    let status = interrupted(wine.command(program).arg(ground).args(job), &place.path().join("a.0.0"));
    let Some((code, printed)) = status else { return skip("kill(1) is not there") };
    assert!(printed.contains("READ: bw="), "no report: {printed}");
    // As fio ends.
    assert_eq!(code, Some(128), "{printed}");

    let directory = crate::bench::windows(place.path());
    let question = ["measure", &directory, "--no-store", "--size=8m", "--only=rand-read", "--runtime=60"];
    let (_, printed) = interrupted(wine.command(program).args(question), place.path()).expect("it was there before");
    assert!(printed.contains("rand-read"), "no report: {printed}");
    let left = testkit::names(place.path());
    assert!(left.iter().all(|name| !name.starts_with("fsdyno-work")), "{left:?}");
}

/// The numbers of the processes that have this directory's name among their words.
fn processes_with(directory: &std::path::Path) -> Vec<String> {
    let name = directory.file_name().unwrap().to_string_lossy().into_owned();
    let named = |number: &String| {
        let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&name)
    };
    let all =
        std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    all.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(named).collect()
}

/// Starts a program, waits until something is being read, and sends the signal to it and its second process; its exit
/// status and what it printed.
fn interrupted(command: &mut Command, what: &std::path::Path) -> Option<(Option<i32>, String)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    testkit::wait_until("the run has begun", || {
        let entries = std::fs::read_dir(what).into_iter().flatten().flatten();
        what.is_file()
            || entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with("fsdyno-work"))
    });
    testkit::pause(3_000);
    // A console tells all of its processes.
    let told = |process: &String| Command::new("kill").args(["-INT", process]).status().is_ok();
    let all_told = processes_with(what.parent().filter(|_| what.is_file()).unwrap_or(what)).iter().all(told);
    if !all_told {
        child.kill().unwrap();
    }
    let mut printed = String::new();
    child.stdout.take().expect("it is a pipe").read_to_string(&mut printed).unwrap();
    let status = child.wait().unwrap();
    all_told.then(|| (status.code(), printed))
}
