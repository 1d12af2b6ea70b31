//! The role of a node among several: its rank, and whose files it uses in each phase.

use std::path::PathBuf;

use fsdyno_run::metadata::caches::Cache;

use super::phases::{READ, SmallFilesPhase};

/// The role of a node among those that run the phases together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRole {
    /// The node's rank, counted from 0.
    pub rank: u32,
    /// The number of ranks.
    pub ranks: u32,
    /// Two other ranks whose files this one uses in place of its own; twice the same if there is only one other.
    pub partners: [u32; 2],
    /// Whether the partners are on other machines, with caches of their own.
    pub elsewhere: bool,
    /// Whether the read of the rule and the removal also use another rank's files (`--shift`).
    pub shift: bool,
}

impl NodeRole {
    /// The role of the only node.
    pub const ALONE: NodeRole = NodeRole { rank: 0, ranks: 1, partners: [0; 2], elsewhere: false, shift: false };

    /// The rank whose files a phase uses. Phases that need cold caches use another rank's files, as mdtest does with
    /// its option -N; with `--shift` they use the second partner's, as the first partner's have been read, and files of
    /// the first partner are removed.
    pub(super) fn owner(&self, phase: &SmallFilesPhase) -> u32 {
        let is_cold = matches!(phase.cache, Cache::ColdNames | Cache::ColdData);
        match (phase.partner, is_cold, self.shift) {
            (Some(partner), ..) => self.partners[partner],
            (None, true, false) => self.partners[0],
            (None, true, true) => self.partners[1],
            (None, false, true) if [READ.pattern, "unlink"].contains(&phase.pattern) => self.partners[0],
            (None, false, _) => self.rank,
        }
    }

    /// Whether this machine has never accessed the files of a cold phase.
    pub(super) fn is_fresh(&self) -> bool {
        self.elsewhere && !(self.shift && self.partners[0] == self.partners[1])
    }

    /// The directory of a rank, relative to the question's; empty for rank 0, which uses the question's own. From rank
    /// [`RANKS_TOGETHER`] on, that number of ranks has a directory: `ranks-500/rank-612`.
    pub fn directory_of(rank: u32) -> PathBuf {
        let own = format!("rank-{rank}");
        match rank / RANKS_TOGETHER * RANKS_TOGETHER {
            _ if rank == 0 => PathBuf::new(),
            0 => PathBuf::from(own),
            first => PathBuf::from(format!("ranks-{first}")).join(own),
        }
    }
}

/// Most ranks whose directories lie in the same one. The question's own directory has in addition those of the other
/// ranks, and stays below 1,000 names up to 240,000 ranks.
const RANKS_TOGETHER: u32 = 500;

#[cfg(test)]
mod tests {
    use super::super::phases::{METADATA, WRITE};
    use super::*;

    fn named(pattern: &str) -> &'static SmallFilesPhase {
        METADATA.iter().find(|phase| phase.pattern == pattern).unwrap()
    }

    #[test]
    fn cold_phases_are_of_another_rank_and_with_shift_not_of_the_same_again() {
        let of_four = NodeRole { rank: 3, ranks: 4, partners: [0, 1], elsewhere: true, shift: false };
        let owners = |role: NodeRole| {
            [&WRITE, &READ, named("stat-hot"), named("stat-cold"), named("open-read"), named("unlink")]
                .map(|phase| role.owner(phase))
        };
        assert_eq!(owners(of_four), [3, 3, 3, 0, 0, 3]);
        assert_eq!(owners(NodeRole { shift: true, ..of_four }), [3, 0, 3, 1, 1, 0]);
        assert_eq!(owners(NodeRole::ALONE), [0; 6]);
        let of_two = NodeRole { rank: 1, ranks: 2, partners: [0, 0], shift: true, ..of_four };
        assert!(of_four.is_fresh() && !of_two.is_fresh() && !NodeRole::ALONE.is_fresh());
    }
}
