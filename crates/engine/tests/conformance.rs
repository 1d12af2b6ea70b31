//! The conformance kit: checks for every engine what `fsdyno_engine::Engine` promises.
//!
//! Engines come from the table of the job language. An engine that this machine refuses is skipped, and the reason is
//! printed.
#![expect(clippy::print_stdout, reason = "a check that is skipped says why")]

#[path = "conformance/bench.rs"]
mod bench;
#[path = "conformance/checks.rs"]
mod checks;
#[cfg(target_os = "linux")]
#[path = "conformance/operations.rs"]
mod operations;

use bench::{Spec, TestFile};
use checks::{Check, Run};
use fsdyno_job::EngineName;

/// Engines whose requests transfer data between a buffer and a file, or only count it. That of page_fault go to memory,
/// which `operations` tests.
fn transferring() -> impl Iterator<Item = EngineName> {
    EngineName::all().filter(|name| *name != EngineName::PageFault).filter(|name| {
        name.moves_data() || !name.has_paths() && !name.computes() && !name.has_a_peer() && !name.reaches_objects()
    })
}

fn check_engine(spec: &Spec) {
    for check in Check::ALL {
        let test_file = match TestFile::new(spec.direct) {
            Ok(test_file) => test_file,
            Err(reason) => return println!("skipped {:?}: {reason}", spec.name),
        };
        if let Err(reason) = test_file.with(spec, Run { check, spec, test_file: &test_file }) {
            return println!("skipped {:?}: {reason}", spec.name);
        }
    }
}

#[test]
fn every_engine_at_depths_of_one_some_and_no_power_of_two() {
    for name in transferring() {
        [1, 7, 16].iter().for_each(|depth| check_engine(&Spec::new(name, *depth)));
    }
}

#[test]
fn every_engine_with_direct_io() {
    for name in EngineName::all().filter(|name| name.moves_data()) {
        check_engine(&Spec { direct: true, ..Spec::new(name, 16) });
    }
}

/// The engines of any Unix; see CONTRIBUTING.md, "The first day on a Mac".
#[cfg(unix)]
#[test]
fn the_engines_of_any_unix() {
    for name in [EngineName::Psync, EngineName::Sync] {
        check_engine(&Spec { posix: true, ..Spec::new(name, 1) });
        check_engine(&Spec { posix: true, direct: true, ..Spec::new(name, 1) });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn calls_by_threads() {
    for name in EngineName::all().filter(|name| name.can_be_offloaded()) {
        [1, 7].iter().for_each(|depth| check_engine(&Spec { offload: true, ..Spec::new(name, *depth) }));
        check_engine(&Spec { offload: true, direct: true, ..Spec::new(name, 16) });
    }
}

#[test]
fn libaio_with_lists_of_buffers() {
    check_engine(&Spec::new(EngineName::Libaio, 7).with(|options| options.vectored = true));
    let offloaded = Spec { offload: true, ..Spec::new(EngineName::Libaio, 7) };
    check_engine(&offloaded.with(|options| options.vectored = true));
}

#[test]
fn sim_with_channels() {
    check_engine(&Spec::new(EngineName::Sim, 8).with(|options| {
        options.sim.channels = 3;
        options.sim.service_ns = 0;
    }));
}

#[test]
fn pvsync2_polled() {
    let polled = Spec { direct: true, ..Spec::new(EngineName::Pvsync2, 1) };
    check_engine(&polled.with(|options| (options.hipri, options.hipri_percentage) = (true, Some(40))));
}

#[test]
fn io_uring_with_registered_memory_and_files() {
    let spec = || Spec::new(EngineName::IoUring, 16);
    check_engine(&spec().with(|options| options.fixed_buffers = true));
    check_engine(&spec().with(|options| options.registered_files = true));
    check_engine(&spec().with(|options| (options.fixed_buffers, options.registered_files) = (true, true)));
}

#[test]
fn io_uring_vectored_and_by_workers() {
    let spec = || Spec::new(EngineName::IoUring, 16);
    check_engine(&spec().with(|options| options.nonvectored = Some(false)));
    check_engine(&spec().with(|options| options.force_async = 3));
}

#[test]
fn io_uring_with_a_submission_thread() {
    let spec = || Spec::new(EngineName::IoUring, 16);
    check_engine(&spec().with(|options| options.sqthread_poll = true));
    check_engine(&spec().with(|options| (options.sqthread_poll, options.sqthread_poll_cpu) = (true, Some(0))));
}
