//! Rows: directions, offsets and sizes.

use super::JobRow;
use super::build::*;
use super::skew;
use crate::access::Access;
use crate::draft::Draft;
use crate::option::{Choice, Kind, Status::*};
use crate::typed::{Distribution, RandomGenerator};
use crate::value::{self, Reading, Refusal, Word};

const SEQUENTIAL_TAIL: &str = "bytes to skip after each I/O, negative for backwards";
const RANDOM_TAIL: &str = "I/Os per random offset";

const ACCESSES: &[Choice] = &[
    Choice::new("read", "Sequential read").tail(SEQUENTIAL_TAIL),
    Choice::new("write", "Sequential write").tail(SEQUENTIAL_TAIL),
    Choice::new("trim", "Sequential trim of a block device").tail(SEQUENTIAL_TAIL),
    Choice::new("randread", "Random read").tail(RANDOM_TAIL),
    Choice::new("randwrite", "Random write").tail(RANDOM_TAIL),
    Choice::new("randtrim", "Random trim of a block device").tail(RANDOM_TAIL),
    Choice::new("rw", "Sequential mix of reads and writes").tail(SEQUENTIAL_TAIL),
    Choice::new("readwrite", "Alias of rw").tail(SEQUENTIAL_TAIL),
    Choice::new("randrw", "Random mix of reads and writes").tail(RANDOM_TAIL),
    Choice::new("trimwrite", "Trim each block, then write it").tail(SEQUENTIAL_TAIL),
    Choice::new("randtrimwrite", "Trim a random block, then write it").tail(RANDOM_TAIL),
];

const SEQUENCERS: &[Choice] = &[
    Choice::new("sequential", "The I/Os of one random draw follow each other"),
    Choice::new("identical", "The I/Os of one random draw hit the same offset"),
];

const GENERATORS: &[Choice] = &[
    Choice::new("tausworthe", "fio's 32-bit generator and its block map"),
    Choice::new("lfsr", "A shift register that covers every block without a map"),
    Choice::new("tausworthe64", "fio's 64-bit generator"),
];

const DISTRIBUTIONS: &[Choice] = &[
    Choice::new("random", "Every block alike"),
    Choice::new("zipf", "Zipf").tail("theta[:centre]"),
    Choice::new("pareto", "Pareto").tail("h[:centre]"),
    Choice::new("normal", "Normal").tail("deviation in percent[:centre]"),
    Choice::new("zoned", "Shares of I/O for shares of the range").tail("percent/percent:..."),
    Choice::new("sequence", "These block numbers, in this order").tail("block,block,..."),
    Choice::new("zoned_abs", "Shares of I/O for sizes of the range").tail("percent/size:..."),
];

const PRECONDITION: &str = "it foresees the state of one kind of SSD: write the device twice instead (loops=2), then rw=randwrite with steadystate";

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("rw", word(ACCESSES, set_access))
        .tier(1).aliases(&["readwrite"]).default("read").help("Direction and order of the I/O"),
    option("rw_sequencer", word(SEQUENCERS, |d, word| {
        d.job.pattern.identical = word.choice.word == "identical";
        Ok(())
    })).tier(3).default("sequential").help("Offsets of the N I/Os of rw=randread:N"),
    option("bs", numbers(1, u64::MAX, |d, list| merge(&mut d.written.block_size, list, |size| size)))
        .tier(1).aliases(&["blocksize"]).default("4096").help("Bytes per I/O: reads,writes,trims"),
    option("bsrange", Kind::SizeRanges(|d, list| merge(&mut d.written.block_range, list, Some))).aliases(&["blocksize_range"]).help("Random block sizes between two ends, multiples of the smaller"),
    option("bssplit", text(set_split))
        .help("Block sizes with their shares, such as 4k/60:64k/40"),
    option("ba", numbers(1, u64::MAX, |d, list| merge(&mut d.written.block_align, list, Some)))
        .tier(3).aliases(&["blockalign"]).help("Offsets are multiples of this; turns the random map off"),
    option("bs_unaligned", flag(|d, on| d.job.pattern.unaligned_sizes = on))
        .tier(3).aliases(&["blocksize_unaligned"]).help("Do not round random block sizes"),
    option("bs_is_seq_rand", boolean(|d, on| d.job.pattern.sizes_by_sequence = on))
        .tier(3).default("0").help("bs=A,B gives sequential and random I/O their sizes, not reads and writes"),
    option("rwmixread", integer(0, 100, |d, n| d.job.pattern.read_percent = count(n)))
        .tier(1).default("50").help("Percent of reads in a mix"),
    option("rwmixwrite", integer(0, 100, |d, n| d.job.pattern.read_percent = 100 - count(n)))
        .default("50").help("Percent of writes in a mix; the last of rwmixread and rwmixwrite counts"),
    option("rwmixcycle", integer(0, COUNT_MAX, ignore))
        .tier(4).help("Formerly the length of a mix cycle").status(Rejected("deprecated in fio")),
    option("randrepeat", boolean(|d, on| d.written.repeat_random = on))
        .tier(1).aliases(&["allrandrepeat"]).default("1").help("Use the same random sequence in every run"),
    option("randseed", size(0, |d, seed| d.written.seed = Some(seed)))
        .default("0x89").help("Where the random sequence starts; outranks randrepeat"),
    option("norandommap", flag(|d, off| d.job.pattern.random_map = !off))
        .help("Let random I/O hit a block again before all were hit"),
    option("softrandommap", boolean(|d, on| d.job.pattern.soft_random_map = on))
        .tier(3).default("0").help("Continue without the random map if it would take too much memory"),
    option("random_generator", word(GENERATORS, set_generator))
        .help("Generator of random offsets; by default each block comes once per pass, in constant memory"),
    option("random_distribution", word(DISTRIBUTIONS, set_distribution))
        .default("random").help("How random offsets are spread"),
    option("percentage_random", numbers(0, 100, |d, list| merge(&mut d.job.pattern.random_percent, list, narrow)))
        .default("100").help("Percent of random offsets in random patterns: reads,writes,trims"),
    option("percentage_sequential", integer(0, 100, ignore))
        .tier(4).help("Formerly the opposite of percentage_random")
        .status(Rejected("deprecated in fio: use percentage_random")),
    option("random_sequence_stride", boolean(|d, on| d.written.sequence_strides = on))
        .tier(4).default("0").help("Move random_distribution=sequence on by its length after each turn"),
    option("sprandom", boolean(ignore))
        .tier(4).default("0").help("Random writes that bring an SSD to its steady state").status(Rejected(PRECONDITION)),
    option("spr_num_regions", integer(0, COUNT_MAX, ignore))
        .tier(4).default("100").help("Regions of sprandom").status(Rejected(PRECONDITION)),
    option("spr_op", floats(0.0, 1.0, 1, ignore_floats))
        .tier(4).default("0.15").help("Over-provisioning that sprandom assumes").status(Rejected(PRECONDITION)),
    option("spr_cs", size(0, ignore))
        .tier(4).default("0").help("Cache size that sprandom assumes").status(Rejected(PRECONDITION)),
    option("num_range", integer(0, 256, |d, n| d.written.trim_ranges = count(n)))
        .tier(4).default("1").help("Ranges in one trim").status(Partial("one range: these engines accept no more")),
    option("write_barrier", integer(0, COUNT_MAX, ignore))
        .tier(4).default("0").help("Every N-th write as a barrier")
        .status(Rejected("Linux has no barrier writes any more")),
];

/// Converts a number whose range the grammar has checked.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn set_access(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let access = Access::named(word.choice.word).ok_or_else(|| Refusal::new("there is no such access"))?;
    let kb_base = draft.job.reporting.kb_base;
    let modifier = match word.tail.as_deref() {
        None | Some("") => None,
        Some(tail) if access.random => Some(value::count(tail)?.into()),
        Some(tail) => Some(value::integer(tail, &mut Reading::new(kb_base))?),
    };
    let modifier = modifier.filter(|n| *n != 0);
    (draft.job.pattern.access, draft.job.pattern.modifier) = (access, modifier);
    Ok(())
}

fn set_generator(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.pattern.generator = Some(match word.choice.word {
        "lfsr" => RandomGenerator::Lfsr,
        "tausworthe64" => RandomGenerator::Tausworthe64,
        _ => RandomGenerator::Tausworthe,
    });
    Ok(())
}

fn set_distribution(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let tail = word.tail.as_deref();
    draft.job.pattern.distribution = match word.choice.word {
        "zipf" => skew::zipf(tail).map(|(theta, centre)| Distribution::Zipf(theta, centre))?,
        "pareto" => skew::pareto(tail).map(|(h, centre)| Distribution::Pareto(h, centre))?,
        "normal" => skew::normal(tail).map(|(deviation, centre)| Distribution::Normal(deviation, centre))?,
        "zoned" => Distribution::Zoned(skew::zones(tail.unwrap_or_default())?),
        "zoned_abs" => Distribution::ZonedAbsolute(skew::zones_of_bytes(tail.unwrap_or_default())?),
        "sequence" => Distribution::Sequence { blocks: skew::sequence(tail.unwrap_or_default())?, strides: false },
        _ => Distribution::Uniform,
    };
    Ok(())
}

/// Reads `bssplit=size/percent:...`. Items without a percentage share the rest equally.
fn set_split(draft: &mut Draft, text: &str) -> Result<(), Refusal> {
    const MOST: usize = 64;
    let kb_base = draft.job.reporting.kb_base;
    let lists = value::per_direction(text, |item| {
        let parts = value::zones(item, false, |size| {
            let bytes = value::size(size, &mut Reading::new(kb_base))?;
            if bytes > 0 {
                Ok(bytes)
            } else {
                Err(Refusal::new(format!("{size} is not a valid block size (1 byte and up)")))
            }
        })?;
        if parts.len() > MOST {
            return Err(Refusal::new(format!("{} sizes, but the maximum is {MOST}", parts.len())));
        }
        share_rest(&parts)
    })?;
    for (direction, list) in lists.iter() {
        if let Some(parts) = list {
            draft.written.block_split[direction] = Some(parts.clone());
        }
    }
    Ok(())
}

fn share_rest(parts: &[(u64, Option<u32>)]) -> Result<Vec<(u64, u32)>, Refusal> {
    let percents: Vec<Option<u32>> = parts.iter().map(|part| part.1).collect();
    let shared = skew::share_rest(&percents).map_err(|given| {
        Refusal::new(format!("the percentages add up to {given}"))
            .advise("make them add up to 100, or leave some out to share the rest")
    })?;
    Ok(parts.iter().zip(shared).map(|(part, percent)| (part.0, percent)).filter(|part| part.1 > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shares_divide_the_rest() {
        assert_eq!(share_rest(&[(1, Some(50)), (2, None), (3, None)]), Ok(vec![(1, 50), (2, 25), (3, 25)]));
        assert_eq!(share_rest(&[(1, None), (2, None), (3, None)]), Ok(vec![(1, 34), (2, 33), (3, 33)]));
        assert_eq!(share_rest(&[(1, Some(100)), (2, None)]), Ok(vec![(1, 100)]));
        assert!(share_rest(&[(1, Some(50)), (2, Some(30))]).is_err());
        assert!(share_rest(&[(1, Some(50)), (2, Some(60))]).is_err());
    }
}
