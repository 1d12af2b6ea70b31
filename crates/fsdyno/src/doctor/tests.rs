//! Tests the page and the document of facts written by hand.

use fsdyno_job::EngineName;
use fsdyno_probe::{Limits, NotVisible};

use super::findings::{ClockFinding, EngineFinding, Findings, Floor};
use super::{json, judgement, text};

fn healthy() -> Findings {
    let floor = |iodepth, gtod_reduce, cpu_ns| Floor { iodepth, gtod_reduce, cpu_ns: Ok(cpu_ns) };
    Findings {
        version: "fio-3.42-fsdyno-9.9.9".to_owned(),
        debug_build: false,
        kernel: Ok("Linux 6.9.0".to_owned()),
        processors_online: Ok(8),
        processors_usable: Ok(2),
        memory_bytes: Ok(8_270_110_720),
        floors: vec![floor(1, false, 31.26), floor(1, true, 11.04), floor(64, false, 34.98), floor(64, true, 14.0)],
        clock: ClockFinding {
            source: "tsc".to_owned(),
            cost_ns: 9.87,
            frequency_hz: Some(2_500_000_000),
            fallback_reason: None,
        },
        engines: vec![
            EngineFinding { name: EngineName::Psync, available: Ok(()) },
            EngineFinding { name: EngineName::Libaio, available: Ok(()) },
            EngineFinding { name: EngineName::IoUring, available: Ok(()) },
        ],
        io_uring_features: Ok(vec!["SINGLE_ISSUER".to_owned(), "DEFER_TASKRUN".to_owned()]),
        limits: Limits {
            open_files: Ok(Some(1024)),
            open_files_hard: Ok(None),
            descriptors: Ok(4),
            locked_memory_bytes: Ok(Some(8 << 20)),
            aio_max_requests: Ok(65_536),
            aio_reserved_requests: Ok(128),
            io_uring_disabled: Ok(0),
            other_identities: Ok([true, true]),
            nodes: Ok(vec![(0, vec![0, 1])]),
            cgroup_memory_bytes: Ok(None),
        },
    }
}

/// Facts in which nothing is visible and nothing is allowed.
fn walled_in() -> Findings {
    let hidden = || NotVisible::new("/proc/x", "Permission denied");
    let refusal = "ioengine=io_uring: io_uring_setup: Operation not permitted; a seccomp profile forbids it, as \
                   container runtimes do by default: use ioengine=libaio";
    Findings {
        debug_build: true,
        kernel: Err(hidden()),
        processors_online: Err(hidden()),
        processors_usable: Err(hidden()),
        memory_bytes: Err(hidden()),
        floors: vec![Floor { iodepth: 64, gtod_reduce: false, cpu_ns: Err(hidden()) }],
        clock: ClockFinding {
            source: "clock_gettime".to_owned(),
            cost_ns: 812.0,
            frequency_hz: None,
            fallback_reason: Some("this processor family has none".to_owned()),
        },
        engines: vec![EngineFinding { name: EngineName::IoUring, available: Err(refusal.to_owned()) }],
        io_uring_features: Err(refusal.to_owned()),
        limits: Limits {
            open_files: Ok(Some(256)),
            open_files_hard: Err(hidden()),
            descriptors: Err(hidden()),
            locked_memory_bytes: Ok(Some(64 << 10)),
            aio_max_requests: Ok(1024),
            aio_reserved_requests: Err(hidden()),
            io_uring_disabled: Err(hidden()),
            other_identities: Err(hidden()),
            nodes: Err(hidden()),
            cgroup_memory_bytes: Ok(Some(64 << 20)),
        },
        ..healthy()
    }
}

/// The page, with a placeholder for the version.
fn page(findings: &Findings) -> String {
    text::page(findings, 80).replace(env!("CARGO_PKG_VERSION"), "9.9.9")
}

#[test]
fn page_of_a_healthy_machine() {
    insta::assert_snapshot!(page(&healthy()));
}

#[test]
fn page_of_a_machine_that_hides_and_forbids() {
    insta::assert_snapshot!(page(&walled_in()));
}

#[test]
fn document_of_a_healthy_machine() {
    insta::assert_snapshot!(json::document(&healthy()));
}

#[test]
fn document_of_a_machine_that_hides_and_forbids() {
    insta::assert_snapshot!(json::document(&walled_in()));
}

#[test]
fn a_healthy_machine_is_not_warned_about() {
    assert_eq!(judgement::warnings(&healthy()), Vec::<String>::new());
}

#[test]
fn requests_in_use_are_taken_off() {
    let mut findings = healthy();
    findings.limits.aio_reserved_requests = Ok(65_000);
    let warnings = judgement::warnings(&findings);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("leaves 536 of 65536"), "{warnings:?}");
}

#[test]
fn one_line_says_whether_this_machine_can_measure() {
    let line = |findings: &Findings| (judgement::Fitness::of(findings), judgement::verdict(findings));
    let ok = "ok: nothing was found that keeps a run from measuring the storage";
    assert_eq!(line(&healthy()), (judgement::Fitness::Ok, ok.to_owned()));
    let mut debug = healthy();
    debug.debug_build = true;
    let caution = "caution: runs work here; 1 warning of what their figures may suffer from";
    assert_eq!(line(&debug), (judgement::Fitness::Caution, caution.to_owned()));
    assert_eq!(line(&walled_in()).0, judgement::Fitness::Failed);
    // A simulated device moves no data.
    let mut simulated = healthy();
    simulated.engines = vec![EngineFinding { name: EngineName::Null, available: Ok(()) }];
    assert_eq!(line(&simulated).0, judgement::Fitness::Failed);
}

#[test]
fn the_capacity_names_the_rate_of_one_core() {
    let verdict = judgement::capacity(&healthy());
    assert!(
        verdict.starts_with(
            "At iodepth 64 fsdyno itself needs about 35 ns of CPU per I/O: one CPU can drive about 29 million I/Os \
             per second. A slower storage is the limit of a run."
        ),
        "{verdict}"
    );
    assert!(judgement::capacity(&walled_in()).contains("not visible: /proc/x: Permission denied"));
}

#[test]
fn the_page_fits_a_narrow_terminal() {
    for findings in [healthy(), walled_in()] {
        let page = text::page(&findings, 60);
        assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
    }
}
