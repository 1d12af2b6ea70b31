//! Adds up the passes of a phase of operations on names.

use fsdyno_results::evidence::{Storage, StorageClass};
use fsdyno_results::{Host, PhaseConditions, PhaseRecord, ReadWrite};

/// The passes of one phase on one storage, with the facts about the machine.
#[derive(Clone, Copy, Debug)]
pub struct Passes<'a> {
    /// The machine, with its clock.
    pub host: &'a Host,
    /// The storage of the names.
    pub storage: Option<&'a Storage>,
    /// Whether each operation makes its result durable.
    pub syncs: bool,
    /// The passes that did at least one operation.
    pub records: &'a [&'a PhaseRecord],
}

impl<'a> Passes<'a> {
    /// The phase's name, for its findings.
    pub(crate) fn name(&self) -> &'a str {
        self.records.first().map_or("", |record| &record.name)
    }

    /// Number of operations over all passes.
    pub(crate) fn operations(&self) -> u64 {
        self.sum(|record| record.operations)
    }

    /// Time of all workers over all passes, ns.
    pub(crate) fn thread_ns(&self) -> u64 {
        self.sum(|record| record.elapsed_ns.saturating_mul(u64::from(record.threads.max(1))))
    }

    /// The sum of a figure over the passes.
    pub(crate) fn sum(&self, figure: impl Fn(&PhaseRecord) -> u64) -> u64 {
        self.records.iter().fold(0, |sum, record| figure(record).saturating_add(sum))
    }

    /// The conditions of each pass; `None`: for one of them nothing was recorded.
    pub(crate) fn conditions(&self) -> Option<Vec<&'a PhaseConditions>> {
        let all: Option<Vec<_>> = self.records.iter().map(|record| record.conditions.as_ref()).collect();
        all.filter(|all| !all.is_empty())
    }

    /// The sum of a counter of the conditions; `None`: not visible in one of the passes.
    pub(crate) fn counter(&self, of: impl Fn(&PhaseConditions) -> Option<u64>) -> Option<u64> {
        self.conditions()?.into_iter().map(of).sum()
    }

    /// The sum of bytes of the conditions; `None`: not visible in one of the passes.
    pub(crate) fn bytes(&self, of: impl Fn(&PhaseConditions) -> Option<ReadWrite<u64>>) -> Option<ReadWrite<u64>> {
        let all = self.conditions()?;
        all.into_iter().try_fold(ReadWrite::default(), |sum, conditions| Some(of(conditions)?.plus(sum)))
    }

    /// The most operations at the same time.
    pub(crate) fn threads(&self) -> u64 {
        self.records.iter().map(|record| u64::from(record.threads)).max().unwrap_or(0).max(1)
    }

    /// Operations per second of each pass.
    pub(crate) fn rates(&self) -> Vec<f64> {
        self.records.iter().filter_map(|record| record.rate_per_s()).collect()
    }

    pub(crate) fn class(&self) -> StorageClass {
        self.storage.map_or(StorageClass::Unknown, |storage| storage.class)
    }
}
