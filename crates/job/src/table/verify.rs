//! Rows: checks of what is read.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Status::*};
use crate::typed::VerifyKind;
use crate::value::{self, Refusal, Word};

const KINDS: &[Choice] = &[
    Choice::new("0", "No check"),
    Choice::new("none", "No check").hidden(),
    Choice::new("md5", "MD5"),
    Choice::new("crc64", "CRC-64"),
    Choice::new("crc32", "CRC-32"),
    Choice::new("crc32c-intel", "CRC-32C"),
    Choice::new("crc32c", "CRC-32C"),
    Choice::new("crc16", "CRC-16"),
    Choice::new("crc7", "CRC-7"),
    Choice::new("sha1", "SHA-1"),
    Choice::new("sha256", "SHA-256, of which 64 bits are kept, as by fio"),
    Choice::new("sha512", "SHA-512"),
    Choice::new("sha3-224", "SHA-3 of 224 bits"),
    Choice::new("sha3-256", "SHA-3 of 256 bits"),
    Choice::new("sha3-384", "SHA-3 of 384 bits"),
    Choice::new("sha3-512", "SHA-3 of 512 bits"),
    Choice::new("xxhash", "xxHash"),
    Choice::new("meta", "Only the header"),
    Choice::new("pattern", "The whole block is verify_pattern"),
    Choice::new("pattern_hdr", "verify_pattern after a header"),
    Choice::new("null", "Pretend to check"),
];

/// fio's least interval, bytes: two headers without digests.
const INTERVAL_MIN: i64 = 80;

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("verify", word(KINDS, set_kind))
        .default("0").help("Write checksums with the data and check them"),
    option("do_verify", boolean(|d, on| d.written.verify.read_back = on))
        .default("1").help("Read back after writing"),
    option("verify_interval", integer(INTERVAL_MIN, COUNT_MAX, |d, n| {
        d.written.verify.interval = Some(count(n));
    })).tier(3).help("Bytes between two headers; a block that is not a multiple of it has one header"),
    option("verify_offset", integer(0, COUNT_MAX, |d, n| d.written.verify.header_offset = count(n)))
        .tier(3).help("Position of the header in its interval"),
    option("verify_pattern", text(|d, text| {
        d.written.verify.pattern = Some(value::verify_pattern(text)?);
        Ok(())
    })).help("The bytes to write and expect: \"text\", 'file', 0xhex, a number, %o (the offset), or several in a row"),
    option("verify_pattern_interval", size(0, |d, n| {
        d.written.verify.pattern_interval = u32::try_from(n).unwrap_or(u32::MAX);
    })).tier(3).default("0").help("Begin verify_pattern, and its %o, anew after this number of bytes of a block"),
    option("verify_fatal", boolean(|d, on| d.written.verify.fatal = on))
        .default("0").help("The first mismatch ends the job, whatever continue_on_error says"),
    option("verify_dump", boolean(|d, on| d.written.verify.dump = on))
        .tier(3).default("0").help("Save the expected and the received block in files, in --aux-path"),
    option("verify_async", integer(0, COUNT_MAX, |d, n| d.written.verify.threads = count(n)))
        .default("0").help("Threads that check, of each clone; 0: the clone itself checks"),
    option("verify_async_cpus", text(|d, text| {
        d.written.verify.thread_processors = value::cpu_list(text)?;
        Ok(())
    })).tier(3).help("Processors of those threads"),
    option("verify_backlog", size(0, |d, n| d.written.verify.backlog.writes = n))
        .default("0").help("Check after every N writes; 0: after all"),
    option("verify_backlog_batch", size(0, |d, n| d.written.verify.backlog.batch = n))
        .tier(3).default("0").help("Number of blocks to check then; 0: as many as verify_backlog"),
    option("verify_only", flag(|d, on| d.written.verify.only = on))
        .tier(3).help("Check what an earlier run wrote"),
    option("verify_state_save", boolean(|d, on| d.written.verify.state_save = on))
        .default("1").help("Save the progress of the writes, as fio 3.33 does: local-JOB-NUMBER-verify.state in --aux-path"),
    option("verify_state_load", boolean(|d, on| d.written.verify.state_load = on))
        .tier(3).default("0").help("Check only as far as the state says that the writing job saved"),
    option("verify_write_sequence", boolean(|d, on| d.written.verify.fresh &= on))
        .tier(3).default("1").help("After writing, check that headers are of the last write"),
    option("verify_header_seed", boolean(|d, on| d.written.verify.fresh &= on))
        .tier(3).default("1").help("After writing, check that headers are of this run"),
    option("verify_policy", text(|d, text| {
        d.written.verify.only_synced = only_synced(text)?;
        Ok(())
    })).tier(3).default("completed").help("What is checked: completed writes, or fsynced: those before the last fsync"),
    option("experimental_verify", boolean(ignore))
        .tier(3).default("0").help("Check by replaying the sequence")
        .status(WithoutEffect("always done: the sequence of the writes is made again from the seed, and takes no memory")),
    option("verifysort", boolean(ignore))
        .tier(4).help("Formerly whether checks go in order").status(WithoutEffect(DEPRECATED)),
    option("verifysort_nr", integer(0, COUNT_MAX, ignore))
        .tier(4).help("Formerly how many checks are sorted").status(WithoutEffect(DEPRECATED)),
    option("trim_percentage", integer(0, 100, |d, n| d.written.trims.percent = count(n)))
        .tier(4).default("0").help("Percent of the written blocks to trim, with trim_backlog"),
    option("trim_verify_zero", boolean(|d, on| d.written.trims.read_as_zeroes = on))
        .tier(4).default("1").help("Check that trimmed blocks read as zeroes"),
    option("trim_backlog", size(0, |d, n| d.written.trims.backlog = n))
        .tier(4).default("0").help("Trim after every N writes"),
    option("trim_backlog_batch", integer(0, COUNT_MAX, |d, n| d.written.trims.batch = u64::from(count(n))))
        .tier(4).default("0").help("Number of blocks to trim then; 0: as many as trim_backlog"),
];

fn set_kind(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.written.verify_kind = Some(match word.choice.word {
        "md5" => Some(VerifyKind::Md5),
        "crc64" => Some(VerifyKind::Crc64),
        "crc32" => Some(VerifyKind::Crc32),
        "crc32c" | "crc32c-intel" => Some(VerifyKind::Crc32c),
        "crc16" => Some(VerifyKind::Crc16),
        "crc7" => Some(VerifyKind::Crc7),
        "sha1" => Some(VerifyKind::Sha1),
        "sha256" => Some(VerifyKind::Sha256),
        "sha512" => Some(VerifyKind::Sha512),
        "sha3-224" => Some(VerifyKind::Sha3Of224),
        "sha3-256" => Some(VerifyKind::Sha3Of256),
        "sha3-384" => Some(VerifyKind::Sha3Of384),
        "sha3-512" => Some(VerifyKind::Sha3Of512),
        "xxhash" => Some(VerifyKind::Xxhash),
        "meta" => Some(VerifyKind::Meta),
        "pattern" => Some(VerifyKind::Pattern),
        "pattern_hdr" => Some(VerifyKind::PatternHeader),
        "null" => Some(VerifyKind::Null),
        "0" | "none" => None,
        other => return Err(Refusal::new(format!("{other} is not supported yet"))),
    });
    Ok(())
}

/// Reads a list of `completed` and `fsynced`. Both may stand together; the stricter one applies.
fn only_synced(text: &str) -> Result<bool, Refusal> {
    let mut only_synced = false;
    for word in text.split(',').map(str::trim) {
        match word {
            "completed" => {}
            "fsynced" => only_synced = true,
            _ => return Err(Refusal::new(format!("{word} is none of completed, fsynced"))),
        }
    }
    Ok(only_synced)
}
