//! Names and files that only Windows has.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use testkit::{Running, names, text, wait_until};

use crate::bench::{HOLD, Wine, directory, escaped, windows, wine};

/// Writes and verifies a file in this directory, given as an option of a job.
#[track_caller]
fn is_used(wine: &Wine, directory: &str) {
    for engine in ["--ioengine=psync", "--ioengine=windowsaio"] {
        let job = ["--name=a", "--filename=file", "--size=256k", "--bs=16k", "--rw=write", "--verify=crc32c", engine];
        let wrote = wine.job(&[&[directory], &job[..]].concat());
        assert_eq!((&wrote["write"]["total_ios"], &wrote["error"]), (&16.into(), &0.into()), "{directory} {engine}");
    }
}

/// Asks about it, and leaves nothing there.
#[track_caller]
fn is_asked(wine: &Wine, there: &Path, name: &str) {
    let before = names(there);
    let shape = ["--quick", "--size=4m", "--runtime=1", "--only=rand-read", "--no-store"];
    let measured = wine.fsdyno(&[&["measure", name], &shape[..]].concat());
    assert!(measured.contains("Measured with windowsaio"), "{name}: {measured}");
    assert_eq!(names(there), before, "{name}");
}

#[test]
fn a_job_file_with_lines_of_windows_is_read() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let ground = escaped(place.path());
    let ground = ground.trim_start_matches("--");
    let lines = ["[global]", ground, "size=64k", "; a comment", "", "[first]", "rw=write", "bs=16k ; another"];
    let job = place.path().join("job.fio");
    std::fs::write(&job, lines.join("\r\n") + "\r\n[second]\r\nrw=write\r\n").unwrap();
    let report = wine.fsdyno(&[&windows(&job)]);
    assert!(report.contains("first: (groupid=0") && report.contains("second: (groupid=0"), "{report}");
    assert_eq!(names(place.path()), ["first.0.0", "job.fio", "second.0.0"]);
}

/// 260 characters are the most that a path has which does not say that it is long.
#[test]
fn long_paths_are_used() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let long = place.path().join("x".repeat(150)).join("y".repeat(150));
    std::fs::create_dir_all(&long).unwrap();
    is_used(wine, &escaped(&long));
    is_used(wine, &escaped(&long).replace("=Z", r"=\\?\Z"));
    is_asked(wine, &long, &windows(&long));
    is_asked(wine, &long, &format!(r"\\?\{}", windows(&long)));
}

/// A drive without a letter: what Wine finds under this name it takes for one.
#[test]
fn a_volume_without_a_letter_is_used() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let name = "volume{0a1b2c3d-0000-4000-8000-00000000beef}";
    let link = wine.prefix.join("dosdevices").join(name);
    let _ = std::fs::remove_file(&link);
    symlink(place.path(), &link).unwrap();
    let volume = format!(r"\\?\{name}\");
    is_used(wine, &format!("--directory={volume}"));
    is_asked(wine, place.path(), &volume);
    std::fs::remove_file(&link).unwrap();
    assert_eq!(names(place.path()), ["file"]);
}

/// A share of a server: Wine has them in a folder.
#[test]
fn a_share_is_used() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let server = wine.prefix.join("dosdevices/unc/fsdyno-server");
    std::fs::create_dir_all(&server).unwrap();
    let link = server.join("share");
    let _ = std::fs::remove_file(&link);
    symlink(place.path(), &link).unwrap();
    is_used(wine, r"--directory=\\fsdyno-server\share");
    is_asked(wine, place.path(), r"\\fsdyno-server\share");
    std::fs::remove_file(&link).unwrap();
    assert_eq!(names(place.path()), ["file"]);
}

/// Another program has the file, and shares it with nobody.
#[test]
fn a_locked_file_is_refused_with_the_reason() {
    let Some(wine) = wine() else { return };
    let (place, sign) = (directory(), directory());
    let (file, held) = (place.path().join("file"), sign.path().join("held"));
    std::fs::write(&file, vec![7; 65_536]).unwrap();
    let words = [windows(&file), windows(&held)];
    let holder = Running::start(wine.command(&wine.helper(HOLD), sign.path()).args(&words));
    wait_until("sign", || held.exists());
    for access in ["--rw=read", "--rw=randwrite"] {
        let name = format!("--filename={}", escaped(&file).trim_start_matches("--directory="));
        let ran = wine.try_fsdyno(&[&name, "--name=a", "--size=64k", "--overwrite=1", access]);
        let said = text(&ran.stdout) + &text(&ran.stderr);
        assert!(!ran.status.success() && said.contains("another program has it open"), "{access}: {said}");
    }
    std::fs::remove_file(&held).unwrap();
    assert_eq!(holder.finish().status, Some(0));
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 65_536], "nothing was written");
}

/// The attribute is somebody's decision. Wine lets root write all the same, but removes nothing.
#[test]
fn a_read_only_file_stays_and_the_attribute_is_named() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let file = place.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).unwrap();
    let name = format!("--filename={}", escaped(&file).trim_start_matches("--directory="));
    let refused = wine.try_fsdyno(&[&name, "--name=a", "--rw=write", "--size=64k"]);
    let said = text(&refused.stdout) + &text(&refused.stderr);
    assert!(!refused.status.success() && said.contains("take it away with `attrib -r`"), "{said}");
    let unlinked = wine.try_fsdyno(&[&name, "--name=a", "--rw=read", "--bs=4", "--size=4", "--unlink=1"]);
    let said = text(&unlinked.stdout) + &text(&unlinked.stderr);
    assert!(said.contains("take it away with `attrib -r`"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    assert!(std::fs::metadata(&file).unwrap().permissions().readonly(), "the attribute was taken away");
}

/// What was never written takes no space; the record has both sizes.
#[test]
fn a_sparse_file_is_read_and_its_allocation_recorded() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let file = place.path().join("a.0.0");
    std::fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
    let (ground, record) = (escaped(place.path()), place.path().join("record.json"));
    let kept = format!("--record={}", windows(&record));
    let read = wine.job(&[&ground, "--name=a", "--rw=read", "--size=1m", "--bs=64k", &kept]);
    assert_eq!((&read["read"]["total_ios"], &read["error"]), (&16.into(), &0.into()));
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    let before = state_before(&record).expect("the file is in the evidence");
    assert_eq!((&before["size_bytes"], &before["allocated_bytes"]), (&(1 << 20).into(), &0.into()), "{before}");
}

/// The first state of a file in a record.
fn state_before(value: &serde_json::Value) -> Option<&serde_json::Value> {
    match value {
        serde_json::Value::Object(map) if map.contains_key("allocated_bytes") => Some(value),
        serde_json::Value::Object(map) => map.values().find_map(state_before),
        serde_json::Value::Array(values) => values.iter().find_map(state_before),
        _ => None,
    }
}
