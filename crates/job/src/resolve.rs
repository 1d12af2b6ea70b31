//! Makes typed jobs of jobs as written: applies defaults and values, then checks the rules across options.

mod reporting;

use crate::diagnostic::{Diagnostic, Origin, Warning, WarningCode};
use crate::direction::Direction;
use crate::draft::{CommandPriority, Draft, WrittenValues};
use crate::raw::{Assignment, RawJob, written_options};
use crate::settings::Settings;
use crate::sources::Sources;
use crate::typed::*;
use crate::value::{Reading, Refusal};
use reporting::{check_logs, check_steady_state, finish_windows};

mod pattern;
mod traces;
mod work;

/// Typed jobs, with remarks and errors.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The jobs in the order in which they start.
    pub jobs: Vec<Job>,
    /// Defaults in force at the end, canonical names and texts as typed.
    pub global_options: Vec<(String, String)>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// What is wrong.
    pub errors: Vec<Diagnostic>,
}

/// Applies the options of each job onto the defaults before it, and gives up each job as written when it is done. `sources` gives the files that patterns name.
pub fn resolve(raw_jobs: Vec<RawJob>, settings: &Settings, sources: &mut dyn Sources) -> Resolved {
    let mut resolved = Resolved::default();
    let mut defaults = Draft::default();
    let mut default_options: Vec<Assignment> = Vec::new();
    // If a default was refused, the rules across options would judge values that the user did not mean.
    let mut defaults_whole = true;
    for raw in raw_jobs {
        if raw.resets_defaults {
            defaults = Draft::default();
            default_options.clear();
            defaults_whole = true;
        }
        if raw.global {
            defaults_whole &= apply_all(&mut defaults, &raw, &mut resolved, sources);
            // The defaults do not name a job.
            defaults.job.display_name = None;
            default_options.extend(raw.assignments);
            continue;
        }
        let mut draft = defaults.clone();
        draft.job.name.clone_from(&raw.name);
        draft.job.starts_file = raw.starts_file;
        let whole = apply_all(&mut draft, &raw, &mut resolved, sources);
        draft.job.options = written_options(&raw.assignments).into();
        if whole && defaults_whole {
            let assignments = default_options.iter().cloned().chain(raw.assignments).collect();
            let rules = Rules { assignments, settings, resolved: &mut resolved, job: raw.name };
            if let Some(mut job) = draft.finish(rules) {
                resolved.jobs.last().into_iter().for_each(|before| job.share_with(before));
                resolved.jobs.push(job);
            }
        }
    }
    resolved.global_options = written_options(&default_options);
    if settings.warnings_fatal {
        make_warnings_fatal(&mut resolved);
    }
    resolved
}

/// Applies the options in their order. Returns false if one was refused; then the job is dropped.
fn apply_all(draft: &mut Draft, raw: &RawJob, resolved: &mut Resolved, sources: &mut dyn Sources) -> bool {
    let mut whole = true;
    for assignment in &raw.assignments {
        let applied = apply(draft, raw, assignment, &mut resolved.warnings);
        if let Err(refusal) = applied.and_then(|()| read_patterns(&mut draft.written, sources)) {
            whole = false;
            let (name, text) = (assignment.row.name, assignment.shown());
            let mut error = Diagnostic::refused(&assignment.origin, name, text, &refusal);
            if !raw.on_command_line {
                error.closing = Some(format!("fio: job {} dropped", raw.name));
            }
            resolved.errors.push(error);
        }
    }
    whole
}

fn apply(draft: &mut Draft, raw: &RawJob, assignment: &Assignment, warnings: &mut Vec<Warning>) -> Result<(), Refusal> {
    let (row, text) = (assignment.row, assignment.text.as_deref());
    let mut reading = Reading::new(draft.job.reporting.kb_base);
    let mut remarks = Vec::new();
    let interpreted = row.interpret(text, &mut reading)?;
    row.kind.apply(draft, &interpreted.value)?;
    remarks.extend(interpreted.remark.map(|remark| (WarningCode::WithoutEffect, remark)));
    remarks.extend(reading.notes.into_iter().map(|note| (WarningCode::OddValue, format!("{}: {note}", row.name))));
    let job = (!raw.global).then(|| raw.name.clone());
    warnings.extend(remarks.into_iter().map(|(code, text)| Warning {
        code,
        job: job.clone(),
        origin: Some(assignment.origin.clone()),
        text,
    }));
    Ok(())
}

/// Reads the files that patterns name, and puts their bytes into the patterns.
fn read_patterns(written: &mut WrittenValues, sources: &mut dyn Sources) -> Result<(), Refusal> {
    let mut patterns = written.buffer_pattern.iter_mut().chain(&mut written.verify.pattern);
    patterns.try_for_each(|pattern| pattern.read_files(&mut |path| sources.pattern_file(path)))
}

fn make_warnings_fatal(resolved: &mut Resolved) {
    for warning in resolved.warnings.iter().filter(|warning| warning.is_fatal_when_asked()) {
        let mut error = Diagnostic::new(warning.origin.clone(), &warning.text);
        error.closing = Some("an error because of --warnings-fatal".to_owned());
        resolved.errors.push(error);
    }
}

/// What the rules across options need besides the draft.
struct Rules<'r> {
    /// Everything that applies to the job, defaults first.
    assignments: Vec<Assignment>,
    settings: &'r Settings,
    resolved: &'r mut Resolved,
    job: String,
}

impl Rules<'_> {
    /// Where this option was last written.
    fn origin(&self, name: &str) -> Option<Origin> {
        self.assignments.iter().rev().find(|assignment| assignment.row.name == name).map(|a| a.origin.clone())
    }

    fn warn(&mut self, code: WarningCode, option: &str, text: impl Into<String>) {
        let warning = Warning { code, job: Some(self.job.clone()), origin: self.origin(option), text: text.into() };
        self.resolved.warnings.push(warning);
    }

    /// Adds an error that stops a run. Under `--parse-only` it is a remark, because fio does not check so far then.
    fn refuse(&mut self, option: &str, text: impl Into<String>, help: &str) {
        if self.settings.parse_only {
            self.warn(WarningCode::OnlyParsed, option, text);
            return;
        }
        let mut error = Diagnostic::new(self.origin(option), text).help(help);
        error.closing = Some(format!("fio: job {} dropped", self.job));
        self.resolved.errors.push(error);
    }
}

impl Draft {
    /// Applies the rules across options. `None` if options contradict each other.
    fn finish(self, mut rules: Rules<'_>) -> Option<Job> {
        let Draft { mut job, mut written } = self;
        let errors_before = rules.resolved.errors.len();
        if rules.origin("profile").is_some() {
            let text = "profile has no effect in a job file, as in fio: write --profile on the command line";
            rules.warn(WarningCode::WithoutEffect, "profile", text);
        }
        finish_files(&mut job, &written, &mut rules);
        pattern::finish(&mut job, &written, &mut rules);
        finish_submission(&mut job, &mut rules);
        finish_extent(&mut job, &mut rules);
        check_rates(&job, &mut rules);
        finish_content(&mut job, &mut written, &mut rules);
        finish_windows(&mut job.reporting, &written);
        finish_think_time(&mut job.pacing, &written);
        let trims = trims_among_writes(&job, &written, &mut rules);
        let verify = |kind| Verify { kind, trims, aux_path: rules.settings.aux_path.clone(), ..written.verify.clone() };
        job.verify = kind_of(&written).map(verify).map(Box::new);
        check_verify(&job, &mut rules);
        job.pacing.flow = Some(written.flow).filter(|flow| flow.weight > 0);
        if written.flow_negative {
            let text = "flow: weights are 1 to 1000; a job with a negative one is free, as with 0";
            rules.warn(WarningCode::OddValue, "flow", text);
        }
        check_states(&job, &mut rules);
        job.pacing.latency_target = Some(written.latency_target).filter(|target| target.target_ns > 0);
        job.reporting.steady_state = Some(written.steady_state).filter(|steady| steady.duration_ns > 0);
        check_steady_state(&job.reporting, &mut rules);
        check_logs(&job.reporting.logs, &mut rules);
        check_wait(&job, &mut rules);
        let huge_page_bytes = job.submission.huge_page_bytes;
        job.submission.memory.set_huge_page_bytes(huge_page_bytes);
        let hint = written.priority_hint.filter(|hint| *hint > 0);
        job.process.priority = match (written.priority, hint) {
            ((None, None), None) => None,
            // A level or a hint without a class is of the best-effort class, as in the kernel.
            ((class, level), hint) => {
                Some(IoPriority { class: class.unwrap_or(2), level: level.unwrap_or(0), hint: hint.unwrap_or(0) })
            }
        };
        finish_priorities(&mut job, &written.command_priority, &mut rules);
        warn_of_other_engines(&job, &mut rules);
        work::finish(&mut job, &mut rules);
        traces::finish(&mut job, written.merge, &mut rules);
        pattern::finish_beside_zones(&mut job, &mut rules);
        (rules.resolved.errors.len() == errors_before).then_some(job)
    }
}

fn finish_files(job: &mut Job, written: &WrittenValues, rules: &mut Rules<'_>) {
    if written.named_without_directory && written.named_in_directory {
        rules.refuse(
            "filename",
            "fio: filename was written both before and after directory",
            "write directory first, or use whole paths",
        );
    } else if written.named_without_directory && !job.files.directories.is_empty() {
        job.files.directories.clear();
        rules.warn(
            WarningCode::DirectoryAfterFilename,
            "directory",
            "directory was written after filename and does not apply to it, as in fio: write directory first",
        );
    }
    if job.files.append && job.pattern.access.reads {
        let text = "fio: file_append with a job that reads: behind the end of a file is nothing to read";
        rules.refuse("file_append", text, "use a job that only writes, or leave file_append out");
    }
    let registers = job.submission.engine_options.registered_files || job.submission.engine_options.sqthread_poll;
    if job.files.unlink_each_loop && (job.submission.engine.maps_files() || registers) {
        let text = "fio: unlink_each_loop with files that are mapped or registered: they would stay in use";
        rules.refuse("unlink_each_loop", text, "leave out registerfiles and sqthread_poll, or use another engine");
    }
    job.files.read_only = rules.settings.read_only;
    let engine = job.submission.engine;
    if rules.settings.read_only && engine.always_changes() {
        let text = format!("fio: ioengine={} changes its files, but fio is in read-only mode", engine.name());
        rules.refuse("ioengine", text, "use ioengine=filestat, or leave --readonly out");
    }
    if rules.settings.read_only && job.pattern.access.modifies() {
        let message = format!("fio: job <{}> has write or trim bit set, but fio is in read-only mode", rules.job);
        let mut error =
            Diagnostic::new(rules.origin("rw"), message).help("use rw=read or rw=randread, or leave --readonly out");
        error.closing = Some(format!("fio: failed parsing rw={}", job.pattern.access.name()));
        rules.resolved.errors.push(error);
    }
}

fn finish_submission(job: &mut Job, rules: &mut Rules<'_>) {
    let submission = &mut job.submission;
    let depth = submission.depth;
    if submission.batch == 0 || submission.batch > depth {
        submission.batch = depth;
    }
    submission.batch_complete_min = submission.batch_complete_min.min(depth);
    if submission.batch_complete_max == 0 && submission.batch_complete_min == 0 {
        submission.batch_complete_max = depth;
    }
    submission.batch_complete_max = submission.batch_complete_max.max(submission.batch_complete_min);
    submission.depth_low = submission.depth_low.filter(|low| *low < depth);
    if !(submission.memory_align == 0 || submission.memory_align.is_power_of_two()) {
        let text = format!("fio: iomem_align={} is not a power of two", submission.memory_align);
        rules.refuse("iomem_align", text, "use a power of two such as 4096");
    }
    if submission.engine_options.atomic {
        // The kernel writes atomically only with direct I/O.
        submission.direct = true;
        if !submission.engine.writes_atomically() {
            let text = format!("fio: ioengine={} has no atomic writes", submission.engine.name());
            rules.refuse("atomic", text, "use pvsync2, libaio or io_uring");
        }
    }
    let commands = &submission.engine_options.commands;
    if commands.protection != Protection::default() && submission.engine == EngineName::IoUring {
        let text = "fio: ioengine=io_uring sends no metadata here";
        rules.refuse(
            "md_per_io_size",
            text,
            "use ioengine=io_uring_cmd, or leave md_per_io_size and its companions out",
        );
    }
    if commands.write == DeviceWrite::Stream && commands.stream == 0 {
        rules.refuse(
            "stream_id",
            "fio: sg_write_mode=write_stream needs a stream_id",
            "open a stream, and write its number",
        );
    }
    if submission.is_synchronous() && depth > 1 {
        rules.warn(
            WarningCode::SynchronousDepth,
            "iodepth",
            "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
        );
    }
}

/// Decides which requests have another priority than the job's.
fn finish_priorities(job: &mut Job, written: &CommandPriority, rules: &mut Rules<'_>) {
    let asks = |direction: Direction| written.percent[direction].is_some_and(|percent| percent > 0);
    let splits = |direction: Direction| !written.split[direction].is_empty();
    let transfers = [Direction::Read, Direction::Write];
    if transfers.into_iter().any(asks) && transfers.into_iter().any(splits) {
        let text = "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive";
        rules.refuse("cmdprio_bssplit", text, "leave one of them out");
        return;
    }
    for direction in transfers {
        let or = |number: Option<u64>, other| number.unwrap_or(other);
        let common = IoPriority {
            class: or(written.class[direction], 1) as u8,
            level: or(written.level[direction], 0) as u8,
            hint: or(written.hint[direction], 0) as u16,
        };
        let any_size = written.percent[direction].map(|percent| (None, percent as u32, None));
        let by_size = written.split[direction].iter().map(|(bytes, percent, own)| (Some(*bytes), *percent, *own));
        let shares = any_size.into_iter().chain(by_size).filter(|share| share.1 > 0);
        let shares: Vec<PriorityShare> = shares
            .map(|(block_bytes, percent, own)| PriorityShare { block_bytes, percent, priority: own.unwrap_or(common) })
            .collect();
        for size in shares.iter().map(|share| share.block_bytes) {
            let sum: u32 = shares.iter().filter(|share| share.block_bytes == size).map(|share| share.percent).sum();
            if sum > 100 {
                let text = format!("fio: cmdprio_bssplit total percentage for bs: {} exceeds 100", size.unwrap_or(0));
                rules.refuse("cmdprio_bssplit", text, "lower a percentage");
                return;
            }
        }
        job.submission.engine_options.priority_shares[direction] = shares;
    }
}

fn finish_extent(job: &mut Job, rules: &mut Rules<'_>) {
    if job.extent.time_based && job.extent.runtime_ns == 0 {
        job.extent.time_based = false;
        rules.warn(
            WarningCode::TimeBasedWithoutRuntime,
            "time_based",
            "fio: time_based requires a runtime/timeout setting",
        );
    }
    if job.extent.ramp_ns > 0 && job.extent.ramp_bytes > 0 {
        rules.refuse(
            "ramp_size",
            "fio: job rejected: cannot specify both ramp_time and ramp_size",
            "keep the one that the warm-up is measured by",
        );
    }
    if job.extent.io_size == Some(Amount::Bytes(0)) {
        job.extent.io_size = None;
    }
    if job.files.size == Some(Amount::Bytes(0)) {
        job.files.size = None;
    }
}

fn check_rates(job: &Job, rules: &mut Rules<'_>) {
    let pacing = &job.pacing;
    let both = Direction::ALL.into_iter().any(|direction| {
        pacing.rate[direction].is_some() && pacing.rate_iops[direction].is_some()
            || pacing.rate_min[direction].is_some() && pacing.rate_iops_min[direction].is_some()
    });
    if both {
        rules.refuse(
            "rate_iops",
            "fio: rate and rate_iops are mutually exclusive",
            "keep the one that limits your storage",
        );
    }
    for direction in Direction::ALL {
        let bytes = (pacing.rate_min[direction], pacing.rate[direction]);
        let iops = (pacing.rate_iops_min[direction], pacing.rate_iops[direction]);
        let exceeds = matches!(bytes, (Some(min), Some(rate)) if min > rate)
            || matches!(iops, (Some(min), Some(rate)) if min > rate);
        if exceeds {
            let text = format!("fio: minimum rate exceeds rate, ddir {}", direction as u8);
            rules.refuse("rate_min", text, &format!("lower the minimum of {}s", direction.name()));
        }
    }
}

/// With `thinktime_iotime` alone, blocks are not counted.
fn finish_think_time(pacing: &mut Pacing, written: &WrittenValues) {
    let uncounted = if pacing.think_interval_ns > 0 { u32::MAX } else { pacing.think_blocks };
    pacing.think_blocks = written.think_blocks.unwrap_or(uncounted);
}

fn finish_content(job: &mut Job, written: &mut WrittenValues, rules: &mut Rules<'_>) {
    let content = &mut job.content;
    content.pattern = written.buffer_pattern.take().map(|pattern| pattern.bytes);
    let set = written.dedupe.working_set_percent.map(|_| written.working_set_percent);
    let dedupe = Dedupe { working_set_percent: set, ..written.dedupe };
    content.dedupe = Some(dedupe).filter(|dedupe| dedupe.percent > 0);
    if dedupe.global && set.is_none() {
        let text = "dedupe_global has no effect without dedupe_mode=working_set";
        rules.warn(WarningCode::WithoutEffect, "dedupe_global", text);
    }
    content.compress =
        written.compress_percent.filter(|percent| *percent > 0).map(|percent| (percent, written.compress_chunk));
    // A buffer that is refilled or repeated for every write leaves nothing to scramble.
    if content.zero || content.refill || content.pattern.is_some() {
        content.scramble = false;
    }
}

/// A job can only wait for a job that is defined before it.
fn check_wait(job: &Job, rules: &mut Rules<'_>) {
    let Some(name) = &job.wait_for else { return };
    if !rules.resolved.jobs.iter().any(|earlier| earlier.name == *name) {
        let text = format!("{}: waitee job {name} unknown.", job.name);
        rules.refuse("wait_for", text, "name a job that is written before this one");
    }
}

/// The checksum or pattern of `verify`. `verify_pattern` without `verify` means a pattern with headers, as in fio.
fn kind_of(written: &WrittenValues) -> Option<VerifyKind> {
    let of_pattern = written.verify.pattern.as_ref().map(|_| VerifyKind::PatternHeader);
    written.verify_kind.unwrap_or(of_pattern)
}

/// `trim_percentage` trims nothing without `verify`, writes and a backlog, as in fio.
fn trims_among_writes(job: &Job, written: &WrittenValues, rules: &mut Rules<'_>) -> Option<TrimBacklog> {
    let trims = written.trims;
    if trims.percent == 0 || job.pattern.access.trims {
        return None;
    }
    if trims.backlog > 0 && kind_of(written).is_some() && job.pattern.access.writes {
        return Some(trims);
    }
    let text = "trim_percentage trims nothing: it needs trim_backlog, verify, and a job that writes";
    rules.warn(WarningCode::WithoutEffect, "trim_percentage", text);
    None
}

/// Checks that `verify` can find an error at all.
fn check_verify(job: &Job, rules: &mut Rules<'_>) {
    let Some(verify) = &job.verify else { return };
    let (kind, access) = (verify.kind, job.pattern.access);
    if !access.reads && !access.writes {
        let text = "verify checks nothing: a job that only trims neither writes nor reads data";
        rules.warn(WarningCode::WithoutEffect, "verify", text);
        return;
    }
    if matches!(kind, VerifyKind::Pattern | VerifyKind::PatternHeader) && verify.pattern.is_none() {
        rules.refuse(
            "verify",
            format!("fio: verify={} without verify_pattern", kind.name()),
            "set the bytes, such as verify_pattern=0xa5",
        );
    }
    let direction = if access.writes { Direction::Write } else { Direction::Read };
    let sizes = &job.pattern.block_size[direction];
    let interval = verify.interval.map_or(sizes.min(), |interval| sizes.min().min(interval.into()));
    let header = (VerifyKind::HEADER_LENGTH + kind.digest_length()) as u64;
    if sizes.max() > u32::MAX.into() {
        let text = "fio: verify with a block of 4 GiB or more: its header counts bytes with 32 bits";
        rules.refuse("verify", text, "lower bs");
    }
    if kind.has_header() && interval < header {
        let text = format!("fio: verify={}: its header of {header} bytes does not fit {interval} bytes", kind.name());
        rules.refuse("verify", text, "raise bs or verify_interval");
    }
    let moved = u64::from(verify.header_offset);
    if kind.has_header() && moved > 0 && (moved < header || moved.saturating_add(header) > interval) {
        let text = format!("fio: verify_offset={moved}: the header of {header} bytes does not fit there");
        rules.refuse("verify_offset", text, &format!("write 0, or {header} to {}", interval.saturating_sub(header)));
    }
    if job.files.unlink_each_loop && job.extent.loops > 1 {
        let text = "fio: unlink_each_loop removes what verify is to read back";
        rules.refuse("unlink_each_loop", text, "leave out loops, or unlink_each_loop");
    }
    if access.writes && verify.read_back && job.extent.time_based && verify.backlog.writes == 0 {
        rules.warn(
            WarningCode::NothingVerified,
            "verify",
            "fio: verification read phase will never start because write phase uses all of runtime",
        );
    }
}

/// Warns where a saved state is not used: a job that writes knows by itself what it wrote.
fn check_states(job: &Job, rules: &mut Rules<'_>) {
    let Some(verify) = &job.verify else { return };
    if verify.state_load && job.pattern.access.writes && !verify.only {
        let text =
            "verify_state_load has no effect: the job writes the blocks that it verifies. Add verify_only, or read";
        rules.warn(WarningCode::WithoutEffect, "verify_state_load", text);
    }
}

/// Warns of options of an engine that a later `ioengine` replaced.
fn warn_of_other_engines(job: &Job, rules: &mut Rules<'_>) {
    let engine = job.submission.engine.name();
    let others: Vec<&'static str> = rules
        .assignments
        .iter()
        .map(|assignment| assignment.row)
        .filter(|row| !row.engines.is_empty() && !row.engines.contains(&engine))
        .map(|row| row.name)
        .collect();
    for name in others {
        rules.warn(
            WarningCode::OtherEngine,
            name,
            format!("{name} has no effect: ioengine={engine} has no such option"),
        );
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;

/// Finishes a draft that no options were recorded for.
#[cfg(test)]
pub(crate) fn finish_alone(draft: Draft) -> Option<Job> {
    let rules = Rules {
        assignments: Vec::new(),
        settings: &Settings::default(),
        resolved: &mut Resolved::default(),
        job: String::new(),
    };
    draft.finish(rules)
}
