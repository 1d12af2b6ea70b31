//! Explains what the errno of a failed request may mean, given how the request was made.

use fsdyno_job::{EngineName, Protocol};
use fsdyno_workload::{Op, OpKind};

use crate::setup::EngineSetup;
use fsdyno_os::errno;
use fsdyno_os::memory;

/// A likely reason why a request failed with this errno, and what to do; `None` if the errno needs no explanation.
pub fn explain(setup: &EngineSetup<'_>, op: &Op, code: i32) -> Option<String> {
    if setup.name == EngineName::Exec {
        let name = &setup.options.program.name;
        return Some(match code {
            errno::EIO => format!("the program {name} has ended with an error: see what it printed"),
            _ => format!("the program {name} could not be started: give its path, or its name in PATH"),
        });
    }
    if setup.name.has_a_peer() {
        return Some(explain_peer(setup));
    }
    if setup.name == EngineName::E4defrag {
        return Some(explain_exchange(code).to_owned());
    }
    let file = setup.files.get(op.file as usize)?;
    let options = &setup.options;
    match code {
        errno::EINVAL if file.mode().direct && matches!(op.kind, OpKind::Read | OpKind::Write) => {
            let align = if setup.memory_align == 0 { memory::page_bytes() } else { setup.memory_align as usize };
            Some(file.explain_refused_transfer(op.offset, op.length, align))
        }
        errno::EOPNOTSUPP if options.hipri && setup.name == EngineName::IoUring => Some(
            "the device has no poll queues: add some to its driver (nvme: poll_queues=N as a module parameter), or \
             leave hipri out"
                .to_owned(),
        ),
        errno::EOPNOTSUPP if options.uncached => {
            Some("this kernel (before 6.14) or file system has no uncached buffered I/O: leave uncached out".to_owned())
        }
        errno::EOPNOTSUPP if options.nowait => {
            Some("this file system cannot report whether a transfer would wait: leave nowait out".to_owned())
        }
        errno::EOPNOTSUPP if op.kind == OpKind::Trim => {
            Some("the file system punches no holes, or the device discards nothing: leave trims out".to_owned())
        }
        errno::EINVAL if op.kind == OpKind::Trim => {
            Some("a trim begins and ends at a whole block of the device: use a bs and offset of 4k".to_owned())
        }
        errno::EAGAIN if options.nowait => Some(
            "with nowait a transfer that would wait fails instead: leave nowait out, or count such failures with \
             ignore_error=EAGAIN"
                .to_owned(),
        ),
        errno::EIO if setup.name == EngineName::Mmap && matches!(op.kind, OpKind::Read | OpKind::Write) => {
            let end = op.offset + op.length;
            Some(match file.size() {
                Ok(size) if size < end => format!(
                    "{} has {size} bytes now: another program shortened it while it was mapped; do not change it \
                     during the run",
                    file.path().display()
                ),
                _ => "a page of the mapped file could not be read: its storage failed (dmesg may say more)".to_owned(),
            })
        }
        errno::EFBIG if setup.name == EngineName::Mmap => Some(
            "a mapping cannot grow its file: let the job lay the file out at its full size (size=, not file_append)"
                .to_owned(),
        ),
        _ => None,
    }
}

/// What may be wrong at the other end of a connection.
fn explain_peer(setup: &EngineSetup<'_>) -> String {
    let network = &setup.options.network;
    let peer = network.host.as_deref().unwrap_or("the peer");
    let port = network.port;
    if network.protocol == Protocol::Vsock {
        return format!(
            "CID {peer}, port {port}: is a receiver there? CID 1, this machine itself, needs the kernel's vsock_loopback"
        );
    }
    format!("{peer}, port {port}: is a receiver there, and does it go on until the sender is done?")
}

/// Why the kernel does not exchange the blocks of two files.
fn explain_exchange(code: i32) -> &'static str {
    match code {
        errno::EINVAL => {
            "use rw=write or randwrite within a file that exists in full (overwrite=1 lays it out), and a donor of the \
             same file system"
        }
        _ => "only ext4 with extents exchanges blocks, those of two files that no other program writes",
    }
}
