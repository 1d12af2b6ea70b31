//! The errors that a job survives.

use fsdyno_workload::Op;

/// Largest number of survived errors of one worker that are listed.
const LISTED_MAX: usize = 100;

/// Which errors the job survives.
#[derive(Clone, Debug)]
pub struct Survival {
    /// What the job asks for.
    pub policy: fsdyno_job::ErrorPolicy,
    /// `fill_device`: ENOSPC ends the job without error.
    pub fill_device: bool,
    /// Number of errors so far, and the first errno.
    pub counted: fsdyno_results::SurvivedErrors,
    /// `error_dump`: the first requests that failed.
    pub listed: Vec<(Op, i32)>,
    /// Number of further requests that failed and are not listed.
    pub unlisted: u64,
}

impl Survival {
    /// Nothing has failed yet.
    pub fn new(policy: fsdyno_job::ErrorPolicy, fill_device: bool) -> Survival {
        Survival { policy, fill_device, counted: Default::default(), listed: Vec::new(), unlisted: 0 }
    }

    /// Counts an error that the job may survive.
    pub(super) fn count(&mut self, code: i32) {
        if self.counted.total == 0 {
            self.counted.first = code;
        }
        self.counted.total += 1;
    }

    /// Lists a request whose error the job survives.
    pub(super) fn list(&mut self, op: &Op, code: i32) {
        match self.listed.len() < LISTED_MAX {
            _ if !self.policy.dump => {}
            true => self.listed.push((*op, code)),
            false => self.unlisted += 1,
        }
    }
}
