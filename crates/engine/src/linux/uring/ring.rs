//! Makes the ring with the newest set of features that this kernel accepts, or gives the reason why there is none.

use fsdyno_job::{EngineName, EngineOptions};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::setup::EngineSetupError;

/// Largest number of entries of a submission queue; the kernel refuses more.
const ENTRIES_MAX: u32 = 32_768;

/// Milliseconds after which an idle submission thread goes to sleep.
const SUBMISSION_THREAD_IDLE_MS: u32 = 1000;

/// Features that may make a ring cheaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingFeatures {
    /// No indirection between the queue and its entries (Linux 6.6).
    pub(super) no_array: bool,
    /// Only this thread submits (Linux 6.0).
    pub(super) single_issuer: bool,
    /// This thread finishes completions when it waits, without interrupts (Linux 6.1).
    pub(super) deferred: bool,
    /// Completions do not interrupt this thread; they wait until it enters the kernel (Linux 5.19).
    pub(super) cooperative: bool,
}

impl RingFeatures {
    const NONE: RingFeatures =
        RingFeatures { no_array: false, single_issuer: false, deferred: false, cooperative: false };

    /// The sets to try, the newest first. A submission thread excludes the two features that wait for this thread.
    fn attempts(submission_thread: bool) -> &'static [RingFeatures] {
        const SINGLE: RingFeatures = RingFeatures { single_issuer: true, ..RingFeatures::NONE };
        const COOPERATIVE: RingFeatures = RingFeatures { cooperative: true, ..RingFeatures::NONE };
        const DEFERRED: RingFeatures = RingFeatures { deferred: true, ..SINGLE };
        if submission_thread {
            &[RingFeatures { no_array: true, ..SINGLE }, SINGLE, RingFeatures::NONE]
        } else {
            &[RingFeatures { no_array: true, ..DEFERRED }, DEFERRED, COOPERATIVE, RingFeatures::NONE]
        }
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let RingFeatures { no_array, single_issuer, deferred, cooperative } = self;
        [
            (no_array, "NO_SQARRAY"),
            (single_issuer, "SINGLE_ISSUER"),
            (deferred, "DEFER_TASKRUN"),
            (cooperative, "COOP_TASKRUN"),
        ]
        .into_iter()
        .filter_map(|(used, name)| used.then_some(name))
    }
}

/// Makes a ring for `depth` requests, on the thread that will use it.
pub(super) fn create(depth: u32, options: &EngineOptions) -> Result<(IoUring, RingFeatures), EngineSetupError> {
    let mut refusal = libc::EINVAL;
    for &savings in RingFeatures::attempts(options.sqthread_poll) {
        match attempt(depth, options, savings) {
            Ok(ring) => return Ok((ring, savings)),
            Err(error) => refusal = error.raw_os_error().unwrap_or(libc::EIO),
        }
        // Only an unknown flag is a reason to try an older set.
        if refusal != libc::EINVAL {
            break;
        }
    }
    Err(setup_refused(refusal, depth, disabled_by_sysctl()))
}

/// Makes a ring of entries of any size, without features that change where completions come from.
pub(crate) fn plain_ring<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    options: &EngineOptions,
) -> Result<IoUring<S, C>, EngineSetupError> {
    let code = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    attempt(depth, options, RingFeatures::NONE).map_err(|error| setup_refused(code(error), depth, disabled_by_sysctl()))
}

fn attempt<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    depth: u32,
    options: &EngineOptions,
    savings: RingFeatures,
) -> std::io::Result<IoUring<S, C>> {
    let mut builder = IoUring::builder();
    builder.dontfork();
    if savings.no_array {
        builder.setup_no_sqarray();
    }
    if savings.single_issuer {
        builder.setup_single_issuer();
    }
    if savings.deferred {
        builder.setup_defer_taskrun().setup_taskrun_flag();
    }
    if savings.cooperative {
        builder.setup_coop_taskrun().setup_taskrun_flag();
    }
    if options.hipri {
        builder.setup_iopoll();
    }
    if options.sqthread_poll {
        builder.setup_sqpoll(SUBMISSION_THREAD_IDLE_MS);
        if let Some(processor) = options.sqthread_poll_cpu {
            builder.setup_sqpoll_cpu(processor);
        }
    }
    // A submission thread may free entries only after their requests have completed and others were queued.
    let entries = if options.sqthread_poll { depth.saturating_mul(2) } else { depth }.min(ENTRIES_MAX);
    if savings != RingFeatures::NONE {
        // Each request completes once. Without this, the queue of completions has twice the entries, and takes twice the
        // cache.
        builder.setup_cqsize(depth.max(entries)).setup_clamp();
    }
    builder.build(entries)
}

/// The value of `kernel.io_uring_disabled` if it forbids io_uring: 1 for unprivileged users, 2 for all.
fn disabled_by_sysctl() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok()?;
    text.trim().parse().ok().filter(|value| *value > 0)
}

fn setup_refused(code: i32, depth: u32, disabled: Option<u32>) -> EngineSetupError {
    let advice = match (code, disabled) {
        (libc::EPERM, Some(value)) => format!(
            "kernel.io_uring_disabled={value} forbids it: the administrator can allow it with \
             `sysctl -w kernel.io_uring_disabled=0`, or use ioengine=libaio"
        ),
        (libc::EPERM, None) => {
            "a seccomp profile forbids it, as container runtimes do by default. Start the container \
                                with a profile that allows io_uring_setup, io_uring_enter and io_uring_register \
                                (docker: --security-opt seccomp=FILE), or use ioengine=libaio"
                .to_owned()
        }
        (libc::ENOSYS, _) => {
            "this kernel has no io_uring (it needs Linux 5.1 with CONFIG_IO_URING), or a sandbox hides \
                              it: use ioengine=libaio"
                .to_owned()
        }
        (libc::ENOMEM, _) => format!(
            "no memory for rings of iodepth={depth}: lower iodepth or numjobs, or raise the locked memory limit \
             (`ulimit -l`) on kernels before 5.12"
        ),
        (libc::EMFILE | libc::ENFILE, _) => "too many open files: raise `ulimit -n`, or lower numjobs".to_owned(),
        (libc::EINVAL, _) => "the kernel does not know an option of this ring (hipri, sqthread_poll, \
                              sqthread_poll_cpu), or that CPU does not exist: leave it out"
            .to_owned(),
        _ => "use ioengine=libaio".to_owned(),
    };
    EngineSetupError::Refused { engine: EngineName::IoUring, call: "io_uring_setup", code, advice }
}

/// The features of io_uring that this kernel offers here and now.
pub(crate) fn features() -> Result<Vec<&'static str>, EngineSetupError> {
    let (ring, savings) = create(1, &EngineOptions::default())?;
    let mut probe = io_uring::Probe::new();
    let probed = ring.submitter().register_probe(&mut probe).is_ok();
    let knows = |code| probed && probe.is_supported(code);
    let mut names: Vec<_> = savings.names().collect();
    let parameters = ring.params();
    let features = [
        (parameters.is_feature_nodrop(), "NODROP"),
        (parameters.is_feature_ext_arg(), "EXT_ARG"),
        (parameters.is_feature_sqpoll_nonfixed(), "SQPOLL_NONFIXED"),
        (knows(opcode::Read::CODE), "READ"),
        (knows(opcode::ReadFixed::CODE), "READ_FIXED"),
        (knows(opcode::Fsync::CODE), "FSYNC"),
        (knows(opcode::SyncFileRange::CODE), "SYNC_FILE_RANGE"),
    ];
    names.extend(features.into_iter().filter_map(|(present, name)| present.then_some(name)));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_their_cause() {
        let text = |code, disabled| setup_refused(code, 64, disabled).to_string();
        assert!(text(libc::EPERM, Some(2)).contains("kernel.io_uring_disabled=2"));
        assert!(text(libc::EPERM, None).contains("seccomp"));
        assert!(text(libc::ENOSYS, None).contains("Linux 5.1"));
        assert!(text(libc::ENOMEM, None).contains("iodepth=64"));
        assert!(text(libc::EPERM, None).starts_with("ioengine=io_uring: io_uring_setup: Operation not permitted"));
    }

    #[test]
    fn a_queue_of_completions_has_no_more_entries_than_the_iodepth() {
        let entries = |depth| {
            create(depth, &EngineOptions::default())
                .map(|(ring, savings)| (ring.params().cq_entries(), ring.params().sq_entries(), savings))
        };
        match entries(64) {
            Ok((of_completions, of_requests, savings)) if savings != RingFeatures::NONE => {
                assert_eq!((of_completions, of_requests), (64, 64));
                let (of_completions, of_requests, _) = entries(40_000).expect("the kernel clamps them");
                assert_eq!((of_completions, of_requests), (65_536, ENTRIES_MAX));
            }
            _ => testkit::skip("the kernel has no io_uring of Linux 5.19"),
        }
    }

    #[test]
    fn the_last_attempt_asks_for_nothing() {
        for submission_thread in [false, true] {
            assert_eq!(RingFeatures::attempts(submission_thread).last(), Some(&RingFeatures::NONE));
        }
        let refused = RingFeatures::attempts(true).iter().any(|savings| savings.deferred || savings.cooperative);
        assert!(!refused, "the kernel refuses both next to a submission thread");
    }
}
