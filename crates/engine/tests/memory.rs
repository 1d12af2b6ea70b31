//! The memory reserve for the report of a run that has no memory left. A test program of its own: the limit that it sets holds
//! for all of its threads.

use engine::allocation::{Allocator, failed_bytes, reserve};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn address_space_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn an_allocation_that_fails_gets_what_was_put_by_and_is_known() {
    reserve();
    assert_eq!(failed_bytes(), None);
    let before = getrlimit(Resource::As);
    setrlimit(Resource::As, Rlimit { current: Some(address_space_bytes() + (1 << 20)), ..before }).unwrap();
    // The allocator has some room of its own first.
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(1000);
    let mut last = Ok(());
    while failed_bytes().is_none() && blocks.len() < 1000 {
        let mut block = Vec::new();
        last = block.try_reserve_exact(1 << 20);
        blocks.push(block);
    }
    let failed = failed_bytes();
    let beyond = Vec::<u8>::new().try_reserve_exact(1 << 30);
    setrlimit(Resource::As, before).unwrap();
    assert_eq!(failed, Some(1 << 20), "there is a limit");
    assert!(last.is_ok(), "the reserve takes its place: {last:?}");
    assert!(beyond.is_err());
}
