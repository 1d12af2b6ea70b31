//! Tests of the memory reserve, for the report of a run without memory. This is a test program of its own, because
//! its limit applies to all of its threads.

use fsdyno_os::allocation::{Allocator, failed_bytes, may_be_abandoned, reserve, waits_for_memory};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn address_space_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// More memory than any machine has.
const BEYOND_ALL: usize = 1 << 46;

/// Set in the process that will end.
const ENDS: &str = "MEMORY_TEST_ENDS";

#[test]
fn an_allocation_that_fails_gets_what_was_put_by_and_is_known() {
    if std::env::var_os(ENDS).is_some() {
        drop(Vec::<u8>::with_capacity(BEYOND_ALL));
        unreachable!("there is no such memory");
    }
    ends_with_a_sentence();
    reserve();
    assert_eq!(failed_bytes(), None);
    let before = getrlimit(Resource::As);
    setrlimit(Resource::As, Rlimit { current: Some(address_space_bytes() + (1 << 20)), ..before }).unwrap();
    // The allocator has some free memory of its own, which is used up first.
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(1000);
    let mut last = Ok(());
    while failed_bytes().is_none() && blocks.len() < 1000 {
        let mut block = Vec::new();
        last = block.try_reserve_exact(1 << 20);
        blocks.push(block);
    }
    let failed = failed_bytes();
    setrlimit(Resource::As, before).unwrap();
    assert_eq!(failed, Some(1 << 20), "there is a limit");
    assert!(last.is_ok(), "the reserve takes its place: {last:?}");
    a_worker_waits();
}

/// Most threads cannot be abandoned, because there is no report without them.
fn ends_with_a_sentence() {
    let name = "an_allocation_that_fails_gets_what_was_put_by_and_is_known";
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let ended = again.args(["--exact", name, "--nocapture"]).env(ENDS, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("fsdyno: an allocation of 70368744177664 bytes failed, and the run ends"), "{said}");
}

fn a_worker_waits() {
    let (send, receive) = std::sync::mpsc::channel();
    let work = move || {
        send.send(fsdyno_os::thread::thread_id()).unwrap();
        may_be_abandoned();
        drop(Vec::<u8>::with_capacity(BEYOND_ALL));
    };
    let _ = fsdyno_os::thread::begin("worker", 1 << 16, work).unwrap();
    let thread = receive.recv().unwrap();
    while !waits_for_memory(thread) {
        std::thread::yield_now();
    }
    assert!(!waits_for_memory(fsdyno_os::thread::thread_id()));
}
