//! Tests daemons that encrypt, use a server on this machine, or keep a cache: cold reads are not called cached, and
//! cached ones are.

use std::path::{Path, PathBuf};

use testkit::stack::{inside_beside_others, place};
use testkit::{shell, skip, word};

use crate::bench::{Bench, Run};

/// Whether all of these are installed; if not, prints that the test is skipped.
fn are_there(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| shell(&format!("type -P {program} || true")).is_empty());
    missing.iter().for_each(|program| skip(&format!("{program} is not installed")));
    missing.is_none()
}

fn read(at: &Path, more: &str) -> Run {
    let words = format!("--name=job --filename={} --rw=read --bs=1m --size=32m --readonly {more}", word(at));
    Bench::new().fio(&words)
}

/// A folder with a file of 32 MiB, and the mount point at which it is seen.
fn folders() -> (PathBuf, PathBuf) {
    let (real, at) = (place("LAB_LOCAL").join("real"), place("LAB_LOCAL").join("at"));
    shell(&format!("set -e; mkdir {0} {1}; head -c 32M /dev/urandom > {0}/file; sync", word(&real), word(&at)));
    cold(&real.join("file"));
    (real, at)
}

/// Drops the file's pages.
fn cold(file: &Path) {
    shell(&format!("sync {0}; dd if={0} iflag=nocache count=0 status=none", word(file)));
}

/// A daemon that encrypts `cipher` below `plain`: a file whose encrypted form is first not in memory, and then is.
fn encrypted(tool: &str, mount: &str) {
    if !are_there(&[tool]) {
        return;
    }
    let disk = place("LAB_LOCAL");
    shell(&format!(
        "set -e; cd {}; mkdir cipher plain; {mount} > /dev/null 2>&1; head -c 32M /dev/urandom > plain/file; sync; \
         for file in cipher/*; do dd if=$file iflag=nocache count=0 status=none; done",
        word(&disk)
    ));
    let file = disk.join("plain/file");
    read(&file, "").silent(&["fuse-cache", "not-visible", "memory-storage"]);
    read(&file, "--invalidate=0").invalid("fuse-cache");
    shell(&format!("umount {}", word(&disk.join("plain"))));
}

#[test]
fn an_encrypted_folder() {
    inside_beside_others("daemons::an_encrypted_folder", "ext4 --size-mb 256", || {
        let mount = "{ echo word > word; gocryptfs -init -q -nosyslog -scryptn 10 -passfile word cipher; \
                     gocryptfs -q -nosyslog -passfile word cipher plain; }";
        encrypted("gocryptfs", mount);
    });
}

#[test]
fn another_encrypted_folder() {
    inside_beside_others("daemons::another_encrypted_folder", "ext4 --size-mb 256", || {
        encrypted("encfs", "{ echo word | encfs --standard --stdinpass $PWD/cipher $PWD/plain; }");
    });
}

/// Bytes that crossed no network came from files of this machine: of a cache, or of the server itself.
#[test]
fn a_server_on_this_machine_behind_a_pipe() {
    inside_beside_others("daemons::a_server_on_this_machine_behind_a_pipe", "ext4 --size-mb 256", || {
        let server = "/usr/lib/openssh/sftp-server";
        if !are_there(&["sshfs", server]) {
            return;
        }
        let (real, at) = folders();
        let way = place("LAB_LOCAL").join("way");
        shell(&format!(
            "set -e; printf '#!/bin/sh\nexec {server}\n' > {way}; chmod +x {way}; \
             sshfs this:{real} {at} -o ssh_command={way}",
            way = word(&way),
            real = word(&real),
            at = word(&at)
        ));
        let cause = read(&at.join("file"), "").caution("fuse-cache").cause.clone();
        assert!(cause.contains("came from local files of sshfs"), "{cause}");
        read(&at.join("file"), "--invalidate=0").invalid("fuse-cache");
        shell(&format!("umount {}", word(&at)));
        read(&real.join("file"), "--direct=1").silent(&["fuse-cache", "not-visible"]);
    });
}

/// What a daemon's disk cache delivers is never called the storage's.
#[test]
fn a_daemon_with_a_cache_on_a_disk() {
    inside_beside_others("daemons::a_daemon_with_a_cache_on_a_disk", "ext4 --size-mb 256", || {
        if !are_there(&["rclone"]) {
            return;
        }
        let (real, at) = folders();
        let cache = place("LAB_LOCAL").join("cache");
        shell(&format!(
            "rclone mount :local:{real} {at} --daemon --vfs-cache-mode full --cache-dir {cache} --config /dev/null; \
             for attempt in $(seq 100); do mountpoint -q {at} && exit; sleep 0.1; done; exit 1",
            real = word(&real),
            at = word(&at),
            cache = word(&cache)
        ));
        for more in ["", "--invalidate=0"] {
            let run = read(&at.join("file"), more);
            let said = run.finding("not-visible").or(run.finding("fuse-cache"));
            assert!(said.is_some(), "{:?}", run.record.findings);
        }
        shell(&format!("umount {}", word(&at)));
        read(&real.join("file"), "--direct=1").silent(&["not-visible", "fuse-cache"]);
    });
}
