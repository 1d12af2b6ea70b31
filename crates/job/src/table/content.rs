//! Rows: what is written into the blocks.

use super::JobRow;
use super::build::*;
use crate::option::Choice;
use crate::value;

const DEDUPE_MODES: &[Choice] =
    &[Choice::new("repeat", "The block before"), Choice::new("working_set", "One of the first blocks of the job")];

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
        .default("0").help("Percent of each buffer that compresses"),
    option("buffer_compress_chunk", integer(0, COUNT_MAX, |d, n| d.written.compress_chunk = count(n)))
        .default("512").help("Bytes of one piece, random in its first part; 0 is the block"),
    option("dedupe_percentage", integer(0, 100, |d, n| d.written.dedupe.percent = count(n)))
        .default("0").help("Percent of blocks that repeat earlier ones"),
    option("dedupe_mode", word(DEDUPE_MODES, |d, word| {
        let set = word.choice.word == "working_set";
        d.written.dedupe.working_set_percent = set.then_some(0);
        Ok(())
    })).tier(3).default("repeat").help("What dedupe_percentage repeats"),
    option("dedupe_working_set_percentage", integer(0, 100, |d, n| d.written.working_set_percent = count(n)))
        .tier(3).default("5").help("Size of the working set of dedupe_mode=working_set, in percent of the size"),
    option("dedupe_global", boolean(|d, on| d.written.dedupe.global = on))
        .tier(3).default("0").help("All jobs with this option repeat blocks of one working set"),
];
