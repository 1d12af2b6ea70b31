//! What is written.

use super::JobRow;
use super::build::*;
use crate::option::{Choice, Status::*};
use crate::value;

const COMPRESS: &str = "content is random, zero or a pattern";
const DEDUPE: &str = "blocks never repeat unless zero_buffers or buffer_pattern says so";

const DEDUPE_MODES: &[Choice] = &[
    Choice::new("repeat", "The block before"),
    Choice::new("working_set", "A block of a fixed set").status(NotYet(DEDUPE)),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("zero_buffers", flag(|d, on| d.job.content.zero = on))
        .help("Write zeroes"),
    option("refill_buffers", flag(|d, on| d.job.content.refill = on))
        .help("New random bytes for each write"),
    option("scramble_buffers", boolean(|d, on| d.job.content.scramble = on))
        .default("1").help("Change random bytes a little for each write, so that blocks differ"),
    option("buffer_pattern", text(|d, text| {
        d.written.buffer_pattern = Some(value::buffer_pattern(text)?);
        Ok(())
    })).help("Write these bytes over and over: \"text\", 'file', 0xhex, a number, or several in a row"),
    option("buffer_compress_percentage", integer(0, 100, |d, n| d.written.compress_percent = Some(count(n))))
        .default("0").help("Percent of each buffer that compresses").status(NotYet(COMPRESS)),
    option("buffer_compress_chunk", integer(0, COUNT_MAX, |d, n| d.written.compress_chunk = count(n)))
        .default("512").help("Bytes of one compressible piece").status(NotYet(COMPRESS)),
    option("dedupe_percentage", integer(0, 100, |d, n| d.job.content.dedupe_percent = count(n)))
        .default("0").help("Percent of blocks that repeat earlier ones").status(NotYet(DEDUPE)),
    option("dedupe_mode", word(DEDUPE_MODES, ignore_word))
        .tier(3).default("repeat").help("What dedupe_percentage repeats").status(Partial("repeat only")),
    option("dedupe_working_set_percentage", integer(0, 100, ignore))
        .tier(3).default("5").help("Size of the working set of dedupe_mode").status(NotYet(DEDUPE)),
    option("dedupe_global", boolean(ignore))
        .tier(3).default("0").help("Share repeated blocks between jobs").status(NotYet(DEDUPE)),
];
