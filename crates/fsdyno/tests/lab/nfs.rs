//! Tests NFS mounts of a real kernel.

use std::path::Path;
use std::process::Command;

use fsdyno_findings::limits::Limiter;
use fsdyno_results::{Row, Severity, Transfer};
use serde_json::Value;

use crate::bench::{Bench, near};
use crate::case_c::is_honest;
use crate::stack::carried;
use testkit::shell;
use testkit::stack::{inside_beside_others, place, show};
use testkit::{text, word};

/// Half of the guests' clock tick, by which their timers may be early, ns.
const TICK_NS: u64 = 5_000_000;

#[test]
fn version_4_2() {
    inside_beside_others("nfs::version_4_2", "nfs --vers 4.2 --nconnect 2", || {
        mount_is_read("4.2", 2, true);
        bytes_agree_with_the_interface();
        profiles_are_held_against_it();
    });
}

#[test]
fn version_3() {
    inside_beside_others("nfs::version_3", "nfs --vers 3 --soft", || {
        mount_is_read("3", 1, false);
        bytes_agree_with_the_interface();
    });
}

/// Compares `inspect` with what the lab mounted.
fn mount_is_read(version: &str, connections: u64, hard: bool) {
    let seen = Bench::new().inspect(&place("LAB_NFS"));
    let of = |pointer: &str| seen.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}: {seen:#}")).clone();
    assert_eq!(of("/storage/nfs/version"), version);
    assert_eq!(of("/storage/nfs/nconnect"), connections);
    assert_eq!(of("/storage/nfs/hard"), hard);
    assert_eq!(of("/storage/nfs/transport"), "tcp");
    for size in ["rsize", "wsize"] {
        let option = shell(&format!("grep ' /mnt/nfs ' /proc/mounts | grep -o '{size}=[0-9]*' | cut -d= -f2"));
        assert_eq!(of(&format!("/storage/nfs/{size}_bytes")).to_string(), option.trim());
    }
    assert_eq!(of("/storage/server/address"), "198.18.7.1:20490");
    assert_eq!(of("/storage/server/interface/value"), "vec0");
    assert!(of("/storage/server/connect_ns/value").as_u64().is_some_and(|ns| ns > 0));
    let soft = of("/storage/remarks").to_string().contains("soft: ");
    assert_eq!(soft, !hard, "a person should know");
}

/// Direct writes and reads: compares what the jobs moved with mountstats and with the interface.
fn bytes_agree_with_the_interface() {
    let bench = Bench::new();
    let nfs = place("LAB_NFS");
    for (access, way) in [("write", Transfer::Write), ("read", Transfer::Read)] {
        let before = carried();
        let line = format!("--name=job --filename={}/f --rw={access} --bs=1m --size=64m --direct=1", word(&nfs));
        let run = bench.fio(&line);
        let crossed = carried().since(before)[way];
        assert_eq!(run.status, 0, "{}", run.stderr);
        let (application, wire) = run.moved();
        assert_eq!(application[way], 64 << 20);
        assert!(wire.exclusive && wire.witness.contains("mountstats"));
        near(application[way], wire.bytes[way], 0.02, &format!("{access}: job and mountstats"));
        near(wire.bytes[way], crossed, 0.02, &format!("{access}: mountstats and interface"));
        let in_the_ledger = wire.interface_bytes.expect("the interface towards the server is known")[way];
        near(wire.bytes[way], in_the_ledger, 0.02, &format!("{access}: mountstats and the ledger's interface"));
        run.silent(&["nfs-data-cache", "direct-not-honoured", "writes-in-memory", "above-link-speed"]);
    }
}

/// A rule that every NFS violates, and a published test of it.
fn profiles_are_held_against_it() {
    let bench = Bench::new();
    let nfs = place("LAB_NFS");
    let check = |profile: &str, options: &[&str]| {
        let output = bench.run(&[&["check", profile, word(&nfs), "--expect=nfs"], options].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, output, _) = check("gitlab-nfs-gate", &[]);
    assert!(
        status == Some(1) && output.contains("gitlab-nfs-gate  FAIL  ") && output.contains("this is nfs4"),
        "{status:?}: {output}"
    );
    let (status, output, errors) = check("google-netapp-volumes", &["--scale-runtime=0.02", "--size-cap=16m"]);
    assert_eq!(status, Some(0), "it refers to figures and sets no limit: {output}\n{errors}");
    assert!(output.contains("google-netapp-volumes  REFERENCE  writes at depth 1"), "{output}");
}

/// The questions on the kernel's own server and its client, with the server's own filesystem for comparison.
#[test]
fn questions_on_the_kernels_server() {
    inside_beside_others("nfs::questions_on_the_kernels_server", "knfsd", || {
        questions_are_answered(&place("LAB_SERVER"), &place("LAB_NFS"));
    });
}

/// The same with ganesha, over a link.
#[test]
fn questions_on_ganesha() {
    inside_beside_others("nfs::questions_on_ganesha", "nfs", || {
        questions_are_answered(&place("LAB_LOCAL"), &place("LAB_NFS"));
    });
}

/// `measure`, `smallfiles`, `check` and `compare`, each as short as possible.
fn questions_are_answered(local: &Path, nfs: &Path) {
    let bench = Bench::new();
    let measured = bench.ask(&["measure", word(nfs), "--quick", "--size=8m", "--expect=nfs"]);
    assert!(measured.rows.iter().all(|row| row.figures().is_some()), "{:?}", measured.rows);
    assert!(measured.sentences.iter().any(|sentence| sentence.contains("in the client and takes")));

    let small = bench.ask(&["smallfiles", word(nfs), "--files=100", "--limit=1", "--expect=nfs"]);
    assert!(
        small.rows.iter().filter_map(|row| row.phase.as_ref()).all(|phase| phase.failures == 0),
        "{:?}",
        small.rows
    );

    let gate = bench.run(&["check", "gitlab-nfs-gate", word(nfs), "--expect=nfs"]);
    assert_eq!(gate.status.code(), Some(1), "{}", text(&gate.stderr));
    assert!(text(&gate.stdout).contains("gitlab-nfs-gate  FAIL  "), "{}", text(&gate.stdout));

    let places = [format!("local={}", word(local)), format!("nfs={}", word(nfs))];
    // The samples at both ends take a part of a second in a guest: for the wire's rate a turn must be much longer.
    for (patterns, turn) in [("read,randread,randwrite,randrw", "--runtime=1"), ("write", "--runtime=3")] {
        let options = ["--rounds=1", "--size=8m", turn, "--only", patterns, "--expect", "nfs=nfs"];
        let compared = bench.ask(&[&["compare", &places[0], &places[1]], &options[..]].concat());
        assert_eq!(compared.patterns(), patterns.split(',').collect::<Vec<_>>());
        let ended = |row: &Row| row.run.as_ref().is_some_and(|run| run.complete);
        assert!(compared.rows.iter().all(ended), "{:?}", compared.rows);
        // Both wrote what they reported: on NFS the wire's counters show it.
        compared.rows.iter().filter(|row| row.target == 1).for_each(|row| is_honest(row, f64::INFINITY));
    }
    let left = shell(&format!("find {} -name 'fsdyno-work*'", word(nfs)));
    assert_eq!(left, "", "nothing of the questions stays");
}

/// Effects of a client's caches on the figures, and the finding on each. The link carries 10 MB/s, far below the limit
/// of a busy machine's CPUs.
#[test]
fn caches_of_the_client() {
    inside_beside_others("nfs::caches_of_the_client", "nfs --rate-mbit 80", || {
        writes_that_the_link_cannot_carry();
        reads_from_the_clients_memory();
        stat_calls_that_never_left();
    });
}

/// T7: a buffered write reports more than the link carries; with the sync in its time it does not.
fn writes_that_the_link_cannot_carry() {
    let nfs = place("LAB_NFS");
    let line = format!("--directory={} --rw=write --bs=1m --size=16m", word(&nfs));
    let bench = Bench::with_link_mbit(80);
    let lost = bench.fio(&format!("--name=unsynced {line}"));
    let claimed = lost.record.jobs[0].directions.write.bandwidth();
    assert!(claimed > 20_000_000, "the trap itself: {claimed} B/s over 10 MB/s");
    let above = lost.invalid("above-link-speed");
    assert!(above.cause.contains("vec0 can carry (10.0 MB/s)"), "{}", above.cause);

    let unknown = Bench::new().fio(&format!("--name=unknown {line}"));
    unknown.silent(&["above-link-speed"]);
    let late = unknown.invalid("writes-in-memory");
    assert!(late.cause.contains("crossed the network") && late.cause.contains("nfs mountstats"), "{}", late.cause);

    let honest = bench.fio(&format!("--name=synced {line} --end_fsync=1"));
    honest.silent(&["above-link-speed", "writes-in-memory"]);
    // What the server does with the data is not visible from here; for a disk of this machine it is known.
    let said = honest.finding("server-durability").expect("it is not visible");
    assert!(said.severity == Severity::Info && said.cause.starts_with("not visible whether the server"), "{said:?}");
    let local = word(&place("LAB_LOCAL")).to_owned();
    let here = bench.fio(&format!("--name=here --directory={local} --rw=write --bs=1m --size=4m --end_fsync=1"));
    here.silent(&["server-durability"]);
    let durable = honest.record.jobs[0].directions.write.bandwidth();
    assert!((6_000_000..=10_600_000).contains(&durable), "{durable} B/s over 10 MB/s");
}

/// T8: what this client has just read comes from its memory; direct reads ask the server. What it has just written may
/// have been dropped: replies that overtake each other look like another client's writes.
fn reads_from_the_clients_memory() {
    let bench = Bench::new();
    let file = format!("{}/reread", word(&place("LAB_NFS")));
    shell(&format!("dd if=/dev/urandom of={file} bs=1M count=16 conv=fsync 2>/dev/null; cat {file} > /dev/null"));
    let line = format!("--name=reread --filename={file} --rw=read --bs=64k --size=16m --invalidate=0");
    let cached = bench.fio(&line);
    let finding = cached.invalid("nfs-data-cache");
    assert!(finding.cause.contains("16.0 MiB read by the job") && finding.cause.contains("100 %"), "{}", finding.cause);
    let honest = bench.fio(&format!("{line} --direct=1"));
    honest.silent(&["nfs-data-cache", "direct-not-honoured"]);
    assert_eq!(honest.moved().1.bytes.read, 16 << 20);
}

/// T9: attributes from the client's cache, reported for the phase that is meant to use it; a mount without the cache
/// asks for each.
fn stat_calls_that_never_left() {
    let bench = Bench::new();
    let hot = |place: &Path| {
        let study = bench.ask(&["smallfiles", word(place), "--files=200", "--limit=1", "--expect=nfs"]);
        let is_hot = |row: &&fsdyno_results::Row| {
            let phase = row.phase.as_ref();
            phase.is_some_and(|phase| phase.name.starts_with("stat") && phase.cache.as_deref() == Some("hot"))
        };
        study.rows.into_iter().find(|row| is_hot(&row)).expect("a phase of hot stat calls")
    };
    let cached = hot(&place("LAB_NFS"));
    let finding = cached.findings.iter().find(|finding| finding.id == "attribute-cache").expect("the trap is seen");
    show(&finding.cause);
    assert!(finding.cause.contains("attribute cache"), "{}", finding.cause);
    stat_calls_of_an_engine(&bench, &place("LAB_NFS"), true);
    shell("mkdir -p /mnt/noac && mount -t nfs -o $LAB_NFS_OPTIONS,noac,nosharecache 198.18.7.1:/export /mnt/noac");
    let asked = hot(Path::new("/mnt/noac"));
    assert!(asked.findings.iter().all(|finding| finding.id != "attribute-cache"), "{:?}", asked.findings);
    stat_calls_of_an_engine(&bench, Path::new("/mnt/noac"), false);
}

/// The same with fio's engines for stat calls, of files and of directories.
fn stat_calls_of_an_engine(bench: &Bench, at: &Path, cached: bool) {
    for engine in ["filestat", "dirstat"] {
        let words = "--rw=randread --bs=4k --filesize=4k --nrfiles=200 --openfiles=200 --loops=10";
        let run = bench.fio(&format!("--name={engine} --ioengine={engine} --directory={} {words}", word(at)));
        assert_eq!(run.status, 0, "{}", run.stderr);
        if cached {
            show(&run.caution("attribute-cache").cause);
        } else {
            run.silent(&["attribute-cache"]);
        }
    }
}

/// A round trip of two milliseconds is reported as the limit.
#[test]
fn a_server_that_is_far() {
    inside_beside_others("nfs::a_server_that_is_far", "nfs --delay-ms 2", || {
        let bench = Bench::new();
        let nfs = place("LAB_NFS");
        let connect_ns = bench.inspect(&nfs).pointer("/storage/server/connect_ns/value").and_then(Value::as_u64);
        assert!(connect_ns.is_some_and(|ns| ns >= 2_000_000), "{connect_ns:?} ns");
        let study = bench.ask(&["measure", word(&nfs), "--quick", "--size=8m", "--expect=nfs"]);
        let output = study.sentences.join("\n");
        show(&output);
        // The shortest of several; a busy machine can only add to it.
        let (_, rest) = output.split_once("A TCP connect to 198.18.7.1:20490 takes ").expect("the way is told");
        let connect_ms: f64 = rest.split_once(" ms, ").expect("in ms").0.parse().expect("a number");
        assert!(connect_ms >= 2.0, "{connect_ms} ms");
        assert!(
            output.contains("waits") && output.contains("in the client and takes"),
            "queue and way apart: {output}"
        );

        // Long enough that a hiccup of this machine does not decide which part is the longest.
        shell("tc qdisc change dev vec0 root handle 1: netem delay 20ms limit 100000");
        let line = "--rw=randread --bs=4k --size=4m --direct=1 --time_based --runtime=2";
        let run = bench.fio(&format!("--name=far --directory={} {line}", word(&nfs)));
        let limit = fsdyno_findings::limits::of_run(&run.record).expect("it is visible");
        show(&limit.evidence.to_string());
        assert_eq!(limit.limiter, Limiter::RoundTrip, "{limit:?}");
    });
}

/// A stall is a wait and no error; a dead server behind a soft mount is an error that ends the job; where nothing is
/// mounted any more nothing is measured.
#[test]
fn a_server_that_stalls_and_dies() {
    inside_beside_others("nfs::a_server_that_stalls_and_dies", "nfs --soft", || {
        let bench = Bench::new();
        let nfs = place("LAB_NFS");
        let line = format!("--directory={} --rw=randwrite --bs=4k --size=16m --direct=1 --time_based", word(&nfs));
        a_stall(&bench, &line);
        a_death(&bench, &line);
        an_empty_mount_point(&bench, &nfs);
    });
}

/// A shell line that begins a second after the job's file exists.
fn once_it_writes(job: &str, line: &str) -> std::process::Child {
    let file = place("LAB_NFS").join(format!("{job}.0.0"));
    let line = format!("until [ -e {} ]; do sleep 0.1; done; sleep 1; {line}", word(&file));
    Command::new("bash").args(["-c", &line]).spawn().expect("bash is there")
}

fn a_stall(bench: &Bench, line: &str) {
    let mut stall = once_it_writes("stall", "lab-server stall 2.5");
    let run = bench.fio(&format!("--name=stall {line} --runtime=7"));
    stall.wait().expect("it ends");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let write = &run.record.jobs[0].directions.write;
    let longest_ns = write.clat.moments.max;
    show(&format!("longest write: {longest_ns} ns"));
    assert!(longest_ns >= 2_500_000_000 - TICK_NS, "{longest_ns} ns");
    // One sample each half second: the longest time between two is the stall's.
    let times: Vec<u64> = write.bandwidth_samples.series.iter().map(|(at_ms, _)| *at_ms).collect();
    let gap_ms = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(gap_ms.is_some_and(|gap_ms| gap_ms >= 2_400), "{times:?}");
}

fn a_death(bench: &Bench, line: &str) {
    let mut kill = once_it_writes("death", "lab-server kill");
    let run = bench.fio(&format!("--name=death {line} --runtime=60"));
    kill.wait().expect("it ends");
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stderr.contains("/mnt/nfs/death.0.0: Input/output error: write offset="), "{}", run.stderr);
    let job = &run.record.jobs[0];
    assert_eq!(job.error.as_ref().map(|error| error.code), Some(5));
    assert!(job.directions.write.ios > 0 && run.record.complete, "what was done before is kept");
}

fn an_empty_mount_point(bench: &Bench, nfs: &Path) {
    shell("umount -l /mnt/nfs");
    for question in ["measure", "inspect"] {
        let refused = bench.run(&[question, "--expect", "nfs", word(nfs)]);
        assert_eq!(refused.status.code(), Some(2));
        let output = text(&refused.stderr);
        assert!(output.contains("/mnt/nfs should be nfs, but it is tmpfs"), "{output}");
        assert!(output.contains("mounted at /mnt\n"), "{output}");
    }
    assert_eq!(std::fs::read_dir(nfs).expect("it is a folder").count(), 0, "nothing was written there");
}
