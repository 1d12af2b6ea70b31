//! Rows: syncs, which make written data durable.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::value::{self, Refusal};

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("fsync", integer(0, COUNT_MAX, |d, n| d.job.durability.fsync_every = count(n)))
        .tier(1).default("0").help("fsync after every N writes"),
    option("fdatasync", integer(0, COUNT_MAX, |d, n| d.job.durability.fdatasync_every = count(n)))
        .tier(1).default("0").help("fdatasync after every N writes"),
    option("sync_file_range", text(set_sync_file_range))
        .tier(3).help("sync_file_range after every N writes: wait_before, write, wait_after with commas, then :N"),
    option("end_fsync", boolean(|d, on| d.job.durability.end_fsync = on))
        .tier(1).default("0").help("fsync when the I/O is done, within the measured time"),
    option("fsync_on_close", boolean(|d, on| d.job.durability.fsync_on_close = on))
        .default("0").help("fsync each file before it is closed"),
    option("end_syncfs", boolean(|d, on| d.job.durability.end_syncfs = on))
        .tier(3).default("0").help("syncfs when the I/O is done"),
];

/// Reads `sync_file_range`: names of flags with commas between, then a colon and the interval in writes.
fn set_sync_file_range(draft: &mut Draft, text: &str) -> Result<(), Refusal> {
    let (names, interval) = text.split_once(':').unwrap_or((text, "1"));
    let mut flags = 0;
    for name in names.split(',').map(str::trim) {
        flags |= match name {
            "wait_before" => 1,
            "write" => 2,
            "wait_after" => 4,
            _ => {
                return Err(Refusal::new(format!("{name} is none of wait_before, write, wait_after"))
                    .advise("such as sync_file_range=wait_before,write:8"));
            }
        };
    }
    let every = value::count(interval)?;
    draft.job.durability.sync_file_range = (every > 0).then_some((flags, every));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_interval() {
        let mut draft = Draft::default();
        set_sync_file_range(&mut draft, "wait_before,write:8").unwrap();
        assert_eq!(draft.job.durability.sync_file_range, Some((3, 8)));
        set_sync_file_range(&mut draft, "wait_after").unwrap();
        assert_eq!(draft.job.durability.sync_file_range, Some((4, 1)));
        assert!(set_sync_file_range(&mut draft, "all:8").is_err());
    }
}
