//! Which storage a path is on, as one value: filesystem, server, daemon, devices, and what limits them.

mod daemon;
mod mountstats;
mod secrets;

pub(super) use daemon::daemon_at as fuse_daemon_at;
pub(super) use mountstats::wire_counters as nfs_mount_statistics;
