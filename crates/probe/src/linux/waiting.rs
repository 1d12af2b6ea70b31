//! What a thread of this process waits for in the kernel. Another thread reads it, because a stuck thread cannot
//! report it.

use std::time::Duration;

use super::{Look, read_text};
use crate::{Fact, NotVisible, Waiting};

/// The meaning of a call's arguments.
#[derive(Clone, Copy)]
enum Arguments {
    /// Descriptor, buffer, length, offset.
    Transfer,
    /// Descriptor, vectors and their number, offset.
    Vectors,
    /// Descriptor, offset, length.
    Range,
    /// Descriptor, mode, offset, length.
    Space,
    /// Descriptor.
    File,
    /// No arguments about one file.
    Other,
}

/// The calls that a worker can be stuck in: number, word, arguments (x86-64).
#[cfg(target_arch = "x86_64")]
const CALLS: &[(u32, &str, Arguments)] = &[
    (0, "read", Arguments::File),
    (1, "write", Arguments::File),
    (3, "close", Arguments::File),
    (17, "read", Arguments::Transfer),
    (18, "write", Arguments::Transfer),
    (19, "read", Arguments::File),
    (20, "write", Arguments::File),
    (295, "read", Arguments::Vectors),
    (296, "write", Arguments::Vectors),
    (327, "read", Arguments::Vectors),
    (328, "write", Arguments::Vectors),
    (26, "msync", Arguments::Other),
    (74, "fsync", Arguments::File),
    (75, "fdatasync", Arguments::File),
    (77, "ftruncate", Arguments::File),
    (2, "open", Arguments::Other),
    (257, "open", Arguments::Other),
    (87, "unlink", Arguments::Other),
    (263, "unlink", Arguments::Other),
    (262, "stat", Arguments::Other),
    (332, "stat", Arguments::Other),
    (137, "statfs", Arguments::Other),
    (267, "readlink", Arguments::Other),
    (89, "readlink", Arguments::Other),
    (217, "readdir", Arguments::File),
    (83, "mkdir", Arguments::Other),
    (258, "mkdir", Arguments::Other),
    (82, "rename", Arguments::Other),
    (264, "rename", Arguments::Other),
    (316, "rename", Arguments::Other),
    (266, "symlink", Arguments::Other),
    (208, "libaio's wait for requests", Arguments::Other),
    (209, "libaio's submission", Arguments::Other),
    (333, "libaio's wait for requests", Arguments::Other),
    (221, "fadvise", Arguments::Range),
    (277, "sync_file_range", Arguments::Range),
    (285, "fallocate", Arguments::Space),
    (306, "syncfs", Arguments::File),
    (426, "io_uring_enter", Arguments::Other),
];

/// The same calls with their numbers on aarch64.
#[cfg(target_arch = "aarch64")]
const CALLS: &[(u32, &str, Arguments)] = &[
    (63, "read", Arguments::File),
    (64, "write", Arguments::File),
    (57, "close", Arguments::File),
    (67, "read", Arguments::Transfer),
    (68, "write", Arguments::Transfer),
    (65, "read", Arguments::File),
    (66, "write", Arguments::File),
    (69, "read", Arguments::Vectors),
    (70, "write", Arguments::Vectors),
    (286, "read", Arguments::Vectors),
    (287, "write", Arguments::Vectors),
    (227, "msync", Arguments::Other),
    (82, "fsync", Arguments::File),
    (83, "fdatasync", Arguments::File),
    (46, "ftruncate", Arguments::File),
    (56, "open", Arguments::Other),
    (35, "unlink", Arguments::Other),
    (79, "stat", Arguments::Other),
    (291, "stat", Arguments::Other),
    (43, "statfs", Arguments::Other),
    (78, "readlink", Arguments::Other),
    (61, "readdir", Arguments::File),
    (34, "mkdir", Arguments::Other),
    (38, "rename", Arguments::Other),
    (276, "rename", Arguments::Other),
    (36, "symlink", Arguments::Other),
    (4, "libaio's wait for requests", Arguments::Other),
    (2, "libaio's submission", Arguments::Other),
    (292, "libaio's wait for requests", Arguments::Other),
    (223, "fadvise", Arguments::Range),
    (84, "sync_file_range", Arguments::Range),
    (47, "fallocate", Arguments::Space),
    (267, "syncfs", Arguments::File),
    (426, "io_uring_enter", Arguments::Other),
];

/// On other processors the numbers are not known, and the call is shown by its number.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: &[(u32, &str, Arguments)] = &[];

/// What the kernel shows of a thread that is not asleep.
const RUNNING: &str = "running";

/// A stuck thread is not asleep all the time: a timeout wakes it, and on a busy machine it waits for a processor before it
/// sleeps again. It is looked at this many times, with this pause.
const LOOKS_MAX: usize = 10;
const PAUSE: Duration = Duration::from_millis(2);

/// What the thread waits for. If it is not stuck, the answer is outdated when it arrives.
pub(crate) fn waiting_of(look: &Look, thread: u32) -> Fact<Waiting> {
    let place = look.proc.join(format!("self/task/{thread}/syscall"));
    let text = asleep(|| read_text(&place))?;
    let mut waiting = parse(&text).ok_or_else(|| NotVisible::new(place.display(), text.trim()))?;
    waiting.1.file = waiting.0.and_then(|fd| std::fs::read_link(look.proc.join(format!("self/fd/{fd}"))).ok());
    Ok(waiting.1)
}

/// Reads what the kernel shows of a thread until it shows it asleep, or for the last time.
fn asleep(mut read: impl FnMut() -> Fact<String>) -> Fact<String> {
    for _ in 1..LOOKS_MAX {
        let text = read()?;
        if text != RUNNING {
            return Ok(text);
        }
        fsdyno_os::clock::sleep(PAUSE);
    }
    read()
}

/// The lowest of these signals that waits for a thread of this process to take it.
pub(crate) fn pending_signal(look: &Look, among: &[i32]) -> Option<i32> {
    pending(&read_text(&look.proc.join("self/status")).ok()?, among)
}

fn pending(status: &str, among: &[i32]) -> Option<i32> {
    let mask = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    among.iter().copied().filter(|signal| mask >> (signal - 1) & 1 == 1).min()
}

/// Reads the number of the call and its six arguments in hexadecimal; `-1` outside of a call; `running`.
fn parse(text: &str) -> Option<(Option<u64>, Waiting)> {
    let mut words = text.split_whitespace();
    let number: i64 = words.next()?.parse().ok()?;
    let arguments: Vec<u64> =
        words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).take(6).collect();
    let waiting = |operation: &str| Waiting { operation: operation.to_owned(), file: None, offset: None, length: None };
    if number < 0 {
        // The thread is in the kernel without a system call.
        return Some((None, waiting("an access to mapped memory")));
    }
    let Some((_, word, kind)) = CALLS.iter().find(|(known, ..)| i64::from(*known) == number) else {
        return Some((None, waiting(&format!("system call {number}"))));
    };
    let argument = |index: usize| arguments.get(index).copied();
    let (file, offset, length) = match kind {
        Arguments::Transfer => (argument(0), argument(3), argument(2)),
        Arguments::Vectors => (argument(0), argument(3), None),
        Arguments::Range => (argument(0), argument(1), argument(2)),
        Arguments::Space => (argument(0), argument(2), argument(3)),
        Arguments::File => (argument(0), None, None),
        Arguments::Other => (None, None, None),
    };
    Some((file, Waiting { offset, length, ..waiting(word) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_read_is_told_with_its_file_and_place() {
        let (fd, waiting) = parse("17 0x5 0x7f7c3c000000 0x1000 0x80000 0x0 0x0 0x7ffd 0x7f7c\n").unwrap();
        assert_eq!(fd, Some(5));
        let waiting = Waiting { file: Some("/data/a".into()), ..waiting };
        assert_eq!(waiting.to_string(), "read of /data/a at offset 524288, 4096 bytes");
    }

    #[test]
    fn a_signal_that_nobody_takes_is_seen() {
        let status = "SigPnd:\t0000000000000200\nShdPnd:\t0000000000004002\nSigBlk:\t0000000000000000\n";
        assert_eq!(
            (pending(status, &[15, 2]), pending(status, &[15]), pending(status, &[10])),
            (Some(2), Some(15), None)
        );
        assert_eq!(pending("State:\tS\n", &[2]), None);
    }

    #[test]
    fn what_is_no_call_is_not_taken_for_one() {
        assert_eq!(parse("running\n"), None);
        assert_eq!(parse("-1 0x7ffd 0x7f7c\n").unwrap().1.to_string(), "an access to mapped memory");
        assert_eq!(parse("9999 0x1\n").unwrap().1.to_string(), "system call 9999");
    }

    #[test]
    fn a_thread_that_runs_now_and_then_is_seen_in_its_call() {
        let look_after = |running: usize| {
            let mut looks = 0;
            let seen = asleep(|| {
                looks += 1;
                Ok(if looks > running { "0 0x3".to_owned() } else { RUNNING.to_owned() })
            });
            (seen.unwrap(), looks)
        };
        assert_eq!(look_after(0), ("0 0x3".to_owned(), 1));
        assert_eq!(look_after(LOOKS_MAX - 1), ("0 0x3".to_owned(), LOOKS_MAX));
        assert_eq!(look_after(LOOKS_MAX), (RUNNING.to_owned(), LOOKS_MAX));
        assert!(asleep(|| Err(NotVisible::new("a thread", "gone"))).is_err());
    }

    #[test]
    fn a_thread_that_waits_is_seen_waiting() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let work = move || {
            send.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            let _ = std::io::Read::read(&mut &reader, &mut [0]);
        };
        let thread = fsdyno_os::thread::begin("waits", 1 << 16, work).unwrap();
        let thread_id = receive.recv().unwrap();
        let seen = loop {
            match waiting_of(&Look::new(), thread_id) {
                // The call has not begun yet.
                Ok(waiting) if waiting.operation.starts_with("system call") => {}
                Err(reason) if reason.to_string().contains("running") => {}
                seen => break seen,
            }
            std::thread::yield_now();
        };
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        thread.join().unwrap();
        match seen {
            Ok(waiting) => assert_eq!(waiting.operation, "read"),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}
