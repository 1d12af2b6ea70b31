//! Tracks how far a branch of the tree has come: its rank's worker (source 0), and the branches of its children.

use std::path::PathBuf;

use crate::agreement::Views;
use crate::messages::{Lost, Reached, Records, Round};

/// The rounds of the present order.
#[derive(Debug)]
pub(super) struct Progress {
    order: u32,
    /// The last round of each source.
    reached: Vec<Option<Round>>,
    /// The round that was reported last.
    told: Option<Round>,
    seen: Views,
    files: Vec<(PathBuf, u64)>,
    bytes: u64,
    most: u64,
    records: Records,
    lost: Vec<Lost>,
}

impl Progress {
    /// The state before the first order.
    pub(super) fn new(children: usize) -> Progress {
        let reached = vec![None; children + 1];
        let (seen, records, files, lost) = (Views::default(), Records::default(), Vec::new(), Vec::new());
        Progress { order: 0, reached, told: None, seen, files, bytes: 0, most: 0, records, lost }
    }

    pub(super) fn begin(&mut self, order: u32) {
        *self = Progress { order, ..Progress::new(self.reached.len() - 1) };
    }

    pub(super) fn order(&self) -> u32 {
        self.order
    }

    /// Whether an order has begun that this source has not ended.
    pub(super) fn is_running(&self, source: usize) -> bool {
        self.order > 0 && self.reached[source] != Some(Round::Recorded)
    }

    /// A source has reached a round. Returns the round that the whole branch has reached, if that is new.
    pub(super) fn reach(&mut self, source: usize, reached: Reached) -> Option<Reached> {
        let Reached { order, round, seen, files, bytes, most, records, lost } = reached;
        if order != self.order || self.reached[source] >= Some(round) {
            return None;
        }
        self.reached[source] = Some(round);
        self.seen.extend(seen);
        self.files.extend(files);
        self.bytes += bytes;
        self.most = self.most.max(most);
        self.records.extend(records);
        self.lost.extend(lost);
        let round = self.reached.iter().copied().min().flatten()?;
        if self.told >= Some(round) {
            return None;
        }
        self.told = Some(round);
        let all = Reached {
            seen: std::mem::take(&mut self.seen),
            files: std::mem::take(&mut self.files),
            bytes: std::mem::take(&mut self.bytes),
            most: std::mem::take(&mut self.most),
            ..Reached::new(self.order, round)
        };
        if round < Round::Recorded {
            return Some(all);
        }
        Some(Reached { records: std::mem::take(&mut self.records), lost: std::mem::take(&mut self.lost), ..all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(round: Round) -> Reached {
        Reached::new(1, round)
    }

    fn round(reached: Option<Reached>) -> Option<Round> {
        reached.map(|reached| reached.round)
    }

    #[test]
    fn the_most_of_a_branch_wears_out_and_a_lost_rank_is_not_waited_for() {
        let mut progress = Progress::new(2);
        progress.begin(1);
        let worn = |most| Reached { most, ..at(Round::Worn) };
        assert!(progress.reach(0, worn(40)).is_none() && progress.reach(1, worn(70)).is_none());
        let all = progress.reach(2, at(Round::Recorded)).expect("two have worn out, and one is lost");
        assert_eq!((all.round, all.most), (Round::Worn, 70));
    }

    #[test]
    fn a_branch_is_where_its_last_is_and_who_leaves_a_round_out_is_past_it() {
        let mut progress = Progress::new(2);
        progress.begin(1);
        assert_eq!(round(progress.reach(0, at(Round::Agreed))), None);
        assert_eq!(round(progress.reach(1, at(Round::Recorded))), None, "it is lost");
        assert_eq!(round(progress.reach(2, at(Round::Agreed))), Some(Round::Agreed));
        assert_eq!(round(progress.reach(0, at(Round::Begins(0)))), None);
        assert_eq!(round(progress.reach(0, at(Round::Begins(0)))), None, "no news");
        assert_eq!(round(progress.reach(2, at(Round::Begins(1)))), Some(Round::Begins(0)));
        assert!(progress.is_running(0) && !progress.is_running(1));
        assert_eq!(round(progress.reach(2, at(Round::Recorded))), None);
        assert_eq!(round(progress.reach(0, at(Round::Recorded))), Some(Round::Recorded));
        assert_eq!(round(progress.reach(0, Reached::new(2, Round::Agreed))), None, "of another order");
    }
}
