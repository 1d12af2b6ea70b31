//! Merges the records of workers into the rows of a report: `group_reporting` and `unified_rw_reporting`.

use std::borrow::Cow;

use fsdyno_job::PerDirection;

use crate::direction::merge_all_or_none;
use crate::record::{
    DirectionRecord, JobRecord, Latency, LatencySlice, LostRequests, RunRecord, SurvivedErrors, SyncRecord,
};
use fsdyno_stats::Histogram;

impl RunRecord {
    /// One row per worker, or one per group for workers with `group_reporting`; workers with `stats=0` are left out.
    pub fn report_rows(&self) -> Vec<Cow<'_, JobRecord>> {
        rows(self.jobs.iter())
    }

    /// The same for the workers of one node.
    pub fn report_rows_of(&self, node: usize) -> Vec<Cow<'_, JobRecord>> {
        rows(self.jobs.iter().filter(|job| job.node == node))
    }
}

/// The row of a single worker is its record itself: copies of many would take as much memory as the run.
fn rows<'r>(jobs: impl Iterator<Item = &'r JobRecord>) -> Vec<Cow<'r, JobRecord>> {
    let mut rows: Vec<Cow<'r, JobRecord>> = Vec::new();
    for job in jobs.filter(|job| job.setup.shown) {
        match rows.last_mut() {
            Some(row) if row.group_reporting && job.group_reporting && row.group == job.group => {
                row.to_mut().merge(job);
            }
            _ => rows.push(Cow::Borrowed(job)),
        }
    }
    rows
}

impl JobRecord {
    /// Merges all of these records, without the values of each interval; `None` if there are none. It is here so that
    /// its callers do not each compile a copy of the code that clones a record.
    pub fn merged<'j>(jobs: impl IntoIterator<Item = &'j JobRecord>) -> Option<JobRecord> {
        let mut jobs = jobs.into_iter();
        let mut merged = jobs.next()?.clone();
        merged.latency_series = Vec::new();
        jobs.for_each(|job| merged.merge_totals(job));
        Some(merged)
    }

    /// Adds another worker of the same group, with the values of each interval.
    pub fn merge(&mut self, other: &JobRecord) {
        self.merge_totals(other);
        merge_series(&mut self.latency_series, &other.latency_series);
    }

    /// Adds another worker of the same group. The row keeps name, pid and setup of its first member, the options that
    /// all members share, and the first error.
    #[expect(clippy::too_many_lines, reason = "it takes a whole record apart, so that no new field is forgotten")]
    fn merge_totals(&mut self, other: &JobRecord) {
        let JobRecord {
            name: _,
            description: _,
            thread_number: _,
            node: _,
            group: _,
            group_reporting: _,
            clone: _,
            pid: _,
            setup: _,
            members,
            options,
            started_ms,
            error,
            lost,
            eta_s,
            directions,
            sync,
            zone_resets,
            final_sync_ns,
            unstored_bytes,
            lateness,
            close_ns,
            job_runtime_ms,
            user_ns,
            system_ns,
            spun_ns,
            run_queue_wait_ns,
            context_switches,
            major_faults,
            minor_faults,
            depth_levels,
            submit_sizes,
            complete_sizes,
            latency_ns_counts,
            latency_us_counts,
            latency_ms_counts,
            survived_errors,
            latency_depth: _,
            steady_state: _,
            engine_ways: _,
            timed_one_in,
            sampled_latency,
            plan: _,
            latency_series: _,
            conditions: _,
            object,
        } = self;
        *members += other.members;
        options.retain(|option| other.options.contains(option));
        *started_ms = earliest(*started_ms, other.started_ms);
        *error = error.take().or_else(|| other.error.clone());
        merge_lost(lost, other.lost.as_ref());
        *eta_s = (*eta_s).max(other.eta_s);
        let ios = |directions: &PerDirection<DirectionRecord>| directions.iter().map(|(_, moved)| moved.ios).sum();
        *sampled_latency = merge_all_or_none(
            sampled_latency.take(),
            other.sampled_latency.as_ref(),
            ios(directions),
            ios(&other.directions),
            |mine, others| others.iter().for_each(|(direction, other)| mine[direction].merge(other)),
        );
        other.directions.iter().for_each(|(direction, other)| directions[direction].merge(other));
        sync.merge(&other.sync);
        *zone_resets = zone_resets.iter().chain(&other.zone_resets).copied().reduce(u64::saturating_add);
        *final_sync_ns = (*final_sync_ns).max(other.final_sync_ns);
        match (lateness.as_mut(), &other.lateness) {
            (Some(mine), Some(other)) => mine.merge(other),
            (None, Some(other)) => *lateness = Some(other.clone()),
            (_, None) => {}
        }
        let unstored = unstored_bytes.iter().chain(&other.unstored_bytes).copied();
        *unstored_bytes = unstored.reduce(u64::saturating_add);
        *close_ns = (*close_ns).max(other.close_ns);
        *job_runtime_ms += other.job_runtime_ms;
        *user_ns += other.user_ns;
        *system_ns += other.system_ns;
        *spun_ns = spun_ns.iter().chain(&other.spun_ns).copied().reduce(u64::saturating_add);
        *run_queue_wait_ns = run_queue_wait_ns.zip(other.run_queue_wait_ns).map(|(mine, other)| mine + other);
        *context_switches += other.context_switches;
        *major_faults += other.major_faults;
        *minor_faults += other.minor_faults;
        add(depth_levels, &other.depth_levels);
        add(submit_sizes, &other.submit_sizes);
        add(complete_sizes, &other.complete_sizes);
        add(latency_ns_counts, &other.latency_ns_counts);
        add(latency_us_counts, &other.latency_us_counts);
        add(latency_ms_counts, &other.latency_ms_counts);
        *survived_errors = sum_of_errors(*survived_errors, other.survived_errors);
        *timed_one_in = (*timed_one_in).max(other.timed_one_in);
        match (object.as_mut(), &other.object) {
            (Some(mine), Some(other)) => mine.merge(other),
            (None, Some(other)) => *object = Some(other.clone()),
            (_, None) => {}
        }
    }

    /// The distributions, always in the same order.
    pub(crate) fn histograms(&mut self) -> Vec<&mut Histogram> {
        let JobRecord { directions, sync, sampled_latency, object, .. } = self;
        let mut histograms = Vec::new();
        object.iter_mut().for_each(|object| histograms.extend(object.histograms()));
        let mut all: Vec<&mut Latency> = vec![&mut sync.lat];
        let PerDirection { read, write, trim } = directions;
        for direction in [read, write, trim] {
            let DirectionRecord { slat, clat, lat, response, priorities, .. } = direction;
            all.extend(priorities.iter_mut().map(|one| &mut one.latency));
            all.extend([slat, clat, lat].into_iter().chain(response.as_mut()));
        }
        if let Some(sampled) = sampled_latency {
            let PerDirection { read, write, trim } = &mut **sampled;
            all.extend([read, write, trim]);
        }
        histograms.extend(all.into_iter().filter_map(|latency| latency.histogram.as_mut()));
        histograms
    }

    /// Stores the distributions in a tenth of the memory, until one changes.
    pub fn pack(&mut self) {
        self.histograms().into_iter().for_each(Histogram::pack);
    }

    /// Drops the values of each interval; their sums stay.
    pub(crate) fn drop_series(&mut self) {
        let PerDirection { read, write, trim } = &mut self.directions;
        for direction in [read, write, trim] {
            direction.bandwidth_samples.series = Vec::new();
            direction.iops_samples.series = Vec::new();
        }
        self.latency_series = Vec::new();
    }

    /// All directions as one, for `unified_rw_reporting`. Counts and samples add up; the longest runtime is kept.
    pub fn mixed(&self) -> DirectionRecord {
        let mut mixed = self.directions.read.clone();
        mixed.merge(&self.directions.write);
        mixed.merge(&self.directions.trim);
        mixed
    }
}

impl SyncRecord {
    /// Adds another worker's syncs.
    pub fn merge(&mut self, other: &SyncRecord) {
        let SyncRecord { ios, lat } = self;
        *ios += other.ios;
        lat.merge(&other.lat);
    }
}

fn add<const N: usize>(counts: &mut [u64; N], more: &[u64; N]) {
    for (count, more) in counts.iter_mut().zip(more) {
        *count += more;
    }
}

/// The latencies of each interval, of all these workers together.
pub fn latency_series<'j>(jobs: impl IntoIterator<Item = &'j JobRecord>) -> Vec<LatencySlice> {
    let mut series = Vec::new();
    jobs.into_iter().for_each(|job| merge_series(&mut series, &job.latency_series));
    series
}

/// Adds the slices of another worker of the group: slices of the same interval add up.
fn merge_series(series: &mut Vec<LatencySlice>, others: &[LatencySlice]) {
    for other in others {
        match series.binary_search_by_key(&other.at_ms, |slice| slice.at_ms) {
            Err(place) => series.insert(place, other.clone()),
            Ok(place) => series[place].add(&other.classes),
        }
    }
}

impl LatencySlice {
    /// Adds the counts of other workers or other intervals.
    pub fn add(&mut self, more: &[(u16, u64)]) {
        for (class, count) in more {
            match self.classes.binary_search_by_key(class, |(class, _)| *class) {
                Ok(found) => self.classes[found].1 += count,
                Err(gap) => self.classes.insert(gap, (*class, *count)),
            }
        }
    }
}

fn earliest(first: Option<u64>, second: Option<u64>) -> Option<u64> {
    first.into_iter().chain(second).min()
}

fn merge_lost(lost: &mut Option<LostRequests>, other: Option<&LostRequests>) {
    let Some(other) = other else { return };
    let lost = lost.get_or_insert_default();
    lost.count += other.count;
    lost.oldest.extend(other.oldest.iter().cloned());
    lost.oldest.truncate(LostRequests::LISTED_MAX);
}

fn sum_of_errors(first: Option<SurvivedErrors>, second: Option<SurvivedErrors>) -> Option<SurvivedErrors> {
    match (first, second) {
        (Some(first), Some(second)) => Some(SurvivedErrors {
            total: first.total + second.total,
            first: if first.first != 0 { first.first } else { second.first },
        }),
        (first, second) => first.or(second),
    }
}
