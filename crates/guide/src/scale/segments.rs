//! The layout of a file that all nodes use in sequential order, as IOR's option `-s` makes it: each segment has a block of
//! each node, in the order of the ranks.

use fsdyno_text::quantity::count;

use super::ScaleOptions;
use crate::Problem;
use crate::requests::Requests;

/// Direct I/O needs requests of a multiple of this size on most storages, bytes.
const DIRECT_BYTES: u64 = 4096;

/// The blocks of a file in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// Bytes of a node's block in a segment.
    pub(super) block_bytes: u64,
    /// Bytes of a request.
    pub(super) transfer_bytes: u64,
}

impl Segments {
    /// Those of these requests; `None`: they are random, or each node has its own file.
    pub(super) fn of(options: &ScaleOptions, requests: &Requests) -> Option<Segments> {
        let transfer_bytes = requests.largest_bytes;
        let block_bytes = options.block_bytes.unwrap_or(transfer_bytes);
        let sequential = options.shared && !requests.access.starts_with("rand");
        sequential.then_some(Segments { block_bytes, transfer_bytes })
    }

    /// The options of a job with which each of `nodes` nodes uses its own blocks, `bytes_each` at most.
    pub(super) fn words(self, nodes: u32, bytes_each: u64) -> Vec<String> {
        let block = self.block_bytes;
        let each = bytes_each / block * block;
        let mut words = vec![
            format!("--size={}", each.saturating_mul(nodes.into())),
            format!("--io_size={each}"),
            "--zonemode=strided".to_owned(),
            format!("--zonesize={block}"),
            format!("--zonerange={block}"),
            format!("--zoneskip={}", block.saturating_mul((nodes - 1).into())),
            // A rank counts as a clone here.
            format!("--offset_increment={block}"),
        ];
        if !self.transfer_bytes.is_multiple_of(DIRECT_BYTES) {
            words.push("--direct=0".to_owned());
        }
        words
    }
}

/// Refuses blocks that requests do not fill, and blocks where there are no segments.
pub(super) fn check(options: &ScaleOptions, groups: &[Requests]) -> Result<(), Problem> {
    let Some(block) = options.block_bytes else { return Ok(()) };
    let unequal = |group: &Requests| Segments::of(options, group).is_none_or(|found| block % found.transfer_bytes != 0);
    match groups.iter().find(|group| unequal(group)) {
        None => Ok(()),
        Some(group) if Segments::of(options, group).is_some() => {
            Err(Problem::new(format!("a block of {} bytes is not a multiple of {}", count(block), group.block_size))
                .with_next("use a --block that is a multiple of --bs"))
        }
        Some(group) => {
            Err(Problem::new(format!("--block is for one file in segments, and {} has none", group.title()))
                .with_next("add --shared with --rw=read or --rw=write, or leave --block out"))
        }
    }
}
