//! Properties of the stacks besides their places.

use std::path::Path;

use fsdyno_results::ReadWrite;
use testkit::stack::place;

/// Whether long tests were asked for.
pub(crate) fn long_ones_are_wanted() -> bool {
    std::env::var_os("FSDYNO_LAB_LONG").is_some()
}

/// Bytes that the mount's interface has received and sent.
pub(crate) fn carried() -> ReadWrite<u64> {
    let card = place("LAB_WIRE");
    let counter = |name: &str| {
        let file = Path::new("/sys/class/net").join(&card).join("statistics").join(name);
        std::fs::read_to_string(&file).expect("the interface counts").trim().parse().expect("a number")
    };
    ReadWrite { read: counter("rx_bytes"), write: counter("tx_bytes") }
}
