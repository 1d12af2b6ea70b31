//! Checking what is read.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Status, Status::*};
use crate::typed::VerifyKind;
use crate::value::{self, Refusal, Word};

const VERIFY: &str = "written data is not checked yet";
const TRIM: &str = "trims are not built";
const SOON: Status = NotYet(VERIFY);

const KINDS: &[Choice] = &[
    Choice::new("0", "No check"),
    Choice::new("none", "No check").hidden(),
    Choice::new("md5", "MD5").status(SOON),
    Choice::new("crc64", "CRC-64").status(SOON),
    Choice::new("crc32", "CRC-32").status(SOON),
    Choice::new("crc32c-intel", "CRC-32C, by processor where it can").status(SOON),
    Choice::new("crc32c", "CRC-32C, by processor where it can").status(SOON),
    Choice::new("crc16", "CRC-16").status(SOON),
    Choice::new("crc7", "CRC-7").status(SOON),
    Choice::new("sha1", "SHA-1").status(SOON),
    Choice::new("sha256", "SHA-256").status(SOON),
    Choice::new("sha512", "SHA-512").status(SOON),
    Choice::new("sha3-224", "SHA-3 of 224 bits").status(SOON),
    Choice::new("sha3-256", "SHA-3 of 256 bits").status(SOON),
    Choice::new("sha3-384", "SHA-3 of 384 bits").status(SOON),
    Choice::new("sha3-512", "SHA-3 of 512 bits").status(SOON),
    Choice::new("xxhash", "xxHash").status(SOON),
    Choice::new("meta", "Only the header").status(SOON),
    Choice::new("pattern", "The whole block is verify_pattern").status(SOON),
    Choice::new("pattern_hdr", "verify_pattern after a header").status(SOON),
    Choice::new("null", "Pretend to check").status(SOON),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("verify", word(KINDS, set_kind))
        .default("0").help("Write checksums with the data and check them").status(Partial("verify=0 only")),
    option("do_verify", boolean(|d, on| d.written.verify.read_back = on))
        .default("1").help("Read back after writing").status(SOON),
    option("verify_interval", integer(0, COUNT_MAX, |d, n| {
        d.written.verify.interval = Some(count(n)).filter(|n| *n > 0);
    })).tier(3).help("Bytes between two headers").status(SOON),
    option("verify_offset", integer(0, COUNT_MAX, |d, n| d.written.verify.header_offset = count(n)))
        .tier(3).help("Where the header stands in its interval").status(SOON),
    option("verify_pattern", text(|d, text| {
        d.written.verify.pattern = Some(value::buffer_pattern(text)?);
        Ok(())
    })).help("The bytes to write and expect").status(SOON),
    option("verify_pattern_interval", boolean(ignore))
        .tier(3).default("0").help("Begin verify_pattern anew in each interval").status(SOON),
    option("verify_fatal", boolean(|d, on| d.written.verify.fatal = on))
        .default("0").help("The first mismatch ends the job").status(SOON),
    option("verify_dump", boolean(|d, on| d.written.verify.dump = on))
        .tier(3).default("0").help("Save the expected and the received block").status(SOON),
    option("verify_async", integer(0, COUNT_MAX, ignore))
        .default("0").help("Threads that check").status(SOON),
    option("verify_async_cpus", text(ignore_text))
        .tier(3).help("Processors of those threads").status(SOON),
    option("verify_backlog", size(0, |d, n| d.written.verify.backlog = n))
        .default("0").help("Check after every N writes").status(SOON),
    option("verify_backlog_batch", integer(0, COUNT_MAX, |d, n| d.written.verify.backlog_batch = u64::from(count(n))))
        .tier(3).default("0").help("How many to check then").status(SOON),
    option("verify_only", flag(|d, on| d.written.verify.only = on))
        .tier(3).help("Check what an earlier run wrote").status(SOON),
    option("verify_state_save", boolean(|d, on| d.written.verify.state_save = on))
        .default("1").help("Save how far the writes came when the job is cut short").status(SOON),
    option("verify_state_load", boolean(ignore))
        .tier(3).default("0").help("Check only as far as a saved state says").status(SOON),
    option("verify_write_sequence", boolean(ignore))
        .tier(3).default("1").help("Check the sequence number in headers").status(SOON),
    option("verify_header_seed", boolean(ignore))
        .tier(3).default("1").help("Check the seed in headers").status(SOON),
    option("verify_policy", text(ignore_text))
        .tier(3).help("Which overwritten blocks are checked").status(SOON),
    option("experimental_verify", boolean(ignore))
        .tier(3).default("0").help("Check by replaying the sequence").status(SOON),
    option("verifysort", boolean(ignore))
        .tier(4).help("Once whether checks go in order").status(WithoutEffect("deprecated in fio")),
    option("verifysort_nr", integer(0, COUNT_MAX, ignore))
        .tier(4).help("Once how many checks are sorted").status(WithoutEffect("deprecated in fio")),
    option("trim_percentage", integer(0, 100, ignore))
        .tier(4).default("0").help("Percent of blocks to trim").status(NotYet(TRIM)),
    option("trim_verify_zero", boolean(ignore))
        .tier(4).default("1").help("Check that trimmed blocks read as zeroes").status(NotYet(TRIM)),
    option("trim_backlog", size(0, ignore))
        .tier(4).default("0").help("Trim after every N writes").status(NotYet(TRIM)),
    option("trim_backlog_batch", integer(0, COUNT_MAX, ignore))
        .tier(4).default("0").help("How many to trim then").status(NotYet(TRIM)),
];

fn set_kind(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.written.verify_kind = match word.choice.word {
        "md5" => Some(VerifyKind::Md5),
        "crc64" => Some(VerifyKind::Crc64),
        "crc32" => Some(VerifyKind::Crc32),
        "crc32c" | "crc32c-intel" => Some(VerifyKind::Crc32c),
        "crc16" => Some(VerifyKind::Crc16),
        "crc7" => Some(VerifyKind::Crc7),
        "sha1" => Some(VerifyKind::Sha1),
        "sha256" => Some(VerifyKind::Sha256),
        "sha512" => Some(VerifyKind::Sha512),
        "xxhash" => Some(VerifyKind::Xxhash),
        "meta" => Some(VerifyKind::Meta),
        "pattern" => Some(VerifyKind::Pattern),
        "pattern_hdr" => Some(VerifyKind::PatternHeader),
        "null" => Some(VerifyKind::Null),
        "0" | "none" => None,
        other => return Err(Refusal::new(format!("{other} is not supported yet"))),
    };
    Ok(())
}
