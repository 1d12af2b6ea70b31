//! Tests syncs, which the virtual device serves like any request.

use crate::run::{assert_close, simulate};

#[test]
fn a_sync_after_every_fourth_write() {
    // A sync follows every fourth write except the last, after which nothing waits for it.
    let ran = simulate("--rw=write --fsync=4");
    assert_eq!(ran.integer("write/total_ios"), 1000);
    assert_eq!(ran.integer("sync/total_ios"), 249);
    assert_eq!(ran.integer("sync/lat_ns/N"), 249);
    assert_eq!(ran.integer("write/lat_ns/max"), 100_000);
}

#[test]
fn data_syncs_are_syncs() {
    // fio 3.33 counts them among the short reads of its document.
    let ran = simulate("--rw=write --fdatasync=1");
    assert_eq!(ran.integer("sync/total_ios"), 999);
    assert_eq!(ran.integer("read/short_ios"), 0);
    assert_close(ran.float("sync/lat_ns/mean"), 100_000.0, "mean of the syncs");
}
