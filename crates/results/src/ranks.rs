//! Ranks of a run on several nodes: when each was active by a common clock, and which ranks are missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fsdyno_stats::sort;

/// How the ranks of a run ran together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RanksRecord {
    /// Number of ranks that were started.
    pub ranks: u32,
    /// Ranks without results, in their order.
    pub missing: Vec<MissingRank>,
    /// When the ranks were active: one entry for each stage, ascending.
    pub windows: Vec<ActiveWindow>,
}

/// A rank without results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingRank {
    /// Its number, counted from 0.
    pub rank: u32,
    /// The machine that it ran on; `None`: the rank never reported it.
    pub node: Option<String>,
    /// Why there are no results: `it ended by signal 9`, `it did not answer within 30 s`.
    pub reason: String,
}

/// One rank's part in a run of several ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankRecord {
    /// Its number, counted from 0.
    pub rank: u32,
    /// Its clock compared with that of rank 0; `None`: they were not compared.
    pub clock: Option<ClockOffset>,
    /// When it was active: one entry for each stage, ascending.
    pub spans: Vec<ActiveSpan>,
    /// Whether it saw what rank 0 had made beside the run's files: then both are on the same storage. `None`: nothing was
    /// made, or nothing shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sees_first: Option<bool>,
}

/// A rank's clock minus the clock of rank 0, from the fastest of several round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockOffset {
    /// Difference before the run, ns.
    pub before_ns: i64,
    /// Difference after the run, ns; `None`: not compared again.
    pub after_ns: Option<i64>,
    /// Largest error of both differences: half of the slower of the two round trips, ns.
    pub error_ns: u64,
}

impl ClockOffset {
    /// How far the clocks moved apart during the run, ns; `None`: they were compared only once.
    pub fn moved_ns(&self) -> Option<u64> {
        self.after_ns.map(|after_ns| after_ns.abs_diff(self.before_ns))
    }
}

/// When a rank was active in a stage, ns since the agreed start, by the clock of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveSpan {
    /// The stage, counted from 0.
    pub stage: u32,
    /// Start of its first measured I/O.
    pub start_ns: i64,
    /// End of its last measured I/O.
    pub end_ns: i64,
}

/// When the ranks of a run were active in a stage; times as in [`ActiveSpan`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveWindow {
    /// The stage, counted from 0.
    pub stage: u32,
    /// Number of ranks that were active in it.
    pub ranks: u32,
    /// When the first rank began.
    pub first_start_ns: i64,
    /// When the last rank began: from here on all were active.
    pub last_start_ns: i64,
    /// When the first rank ended: until here all were active.
    pub first_end_ns: i64,
    /// When the last rank ended.
    pub last_end_ns: i64,
    /// Time in which ranks were active, summed over ranks, ns.
    pub rank_time_ns: u64,
}

impl ActiveWindow {
    pub(crate) fn of(span: &ActiveSpan) -> ActiveWindow {
        let ActiveSpan { stage, start_ns, end_ns } = *span;
        ActiveWindow {
            stage,
            ranks: 1,
            first_start_ns: start_ns,
            last_start_ns: start_ns,
            first_end_ns: end_ns,
            last_end_ns: end_ns,
            rank_time_ns: end_ns.saturating_sub(start_ns).try_into().unwrap_or(0),
        }
    }

    fn merge(&mut self, other: &ActiveWindow) {
        let ActiveWindow { stage: _, ranks, first_start_ns, last_start_ns, first_end_ns, last_end_ns, rank_time_ns } =
            self;
        *ranks += other.ranks;
        *first_start_ns = (*first_start_ns).min(other.first_start_ns);
        *last_start_ns = (*last_start_ns).max(other.last_start_ns);
        *first_end_ns = (*first_end_ns).min(other.first_end_ns);
        *last_end_ns = (*last_end_ns).max(other.last_end_ns);
        *rank_time_ns = rank_time_ns.saturating_add(other.rank_time_ns);
    }

    /// Time in which all ranks were active at once, ns; 0: never.
    pub fn all_active_ns(&self) -> u64 {
        self.first_end_ns.saturating_sub(self.last_start_ns).try_into().unwrap_or(0)
    }

    /// Time from the first start to the last end, ns.
    pub fn whole_ns(&self) -> u64 {
        self.last_end_ns.abs_diff(self.first_start_ns)
    }

    /// Time from the first start to the last start, ns.
    pub fn start_skew_ns(&self) -> u64 {
        self.last_start_ns.abs_diff(self.first_start_ns)
    }

    /// Time from the first end to the last end, ns.
    pub fn end_skew_ns(&self) -> u64 {
        self.last_end_ns.abs_diff(self.first_end_ns)
    }

    /// Share of the ranks' time in which not all ranks were active, 0 to 1; `None`: no time passed.
    pub fn outside(&self) -> Option<f64> {
        let inside = self.all_active_ns() as f64 * f64::from(self.ranks);
        (self.rank_time_ns > 0).then(|| (1.0 - inside / self.rank_time_ns as f64).clamp(0.0, 1.0))
    }
}

impl RanksRecord {
    /// Adds another record; the order makes no difference.
    pub(crate) fn merge(&mut self, other: RanksRecord) {
        let RanksRecord { ranks, missing, windows } = self;
        *ranks = (*ranks).max(other.ranks);
        missing.extend(other.missing);
        sort::by_key(missing, |missing| (missing.rank, missing.node.clone(), missing.reason.clone()));
        missing.dedup();
        for window in &other.windows {
            match windows.binary_search_by_key(&window.stage, |known| known.stage) {
                Ok(place) => windows[place].merge(window),
                Err(place) => windows.insert(place, *window),
            }
        }
    }
}
