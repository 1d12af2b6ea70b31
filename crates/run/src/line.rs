//! Runs one command line, in steps: parse, examine the machine, plan, run, judge. The fio face, the questions and
//! `doctor` call these steps, and do their own work in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::control::Control;
use crate::other_ranks::{JointRun, OtherRanks};
use fsdyno_job::{Outcome, Request, Warning, WarningCode};
use fsdyno_os::files::Reach;
use fsdyno_probe::{HostFacts, Look};
use fsdyno_results::{Host, Node, Note, RANKS_APART, RunRecord, Severity};

use crate::account::blank_record;
use crate::conduct::{Heading, Observer, conduct};
use crate::control_groups;
use crate::descriptors;
use crate::layout::LayoutPart;
use crate::layout_steps::shared_files::fill_part;
use crate::plan::{self, Plan};
use crate::replay::{self, Replaying};
use crate::sources::MachineSources;
use crate::stop_rule::StopRule;

/// The words of a command line that asks for a run, parsed.
pub struct CommandLine {
    /// The words.
    pub words: Vec<String>,
    /// The parsed words.
    pub request: Request,
}

/// A line with the facts about the machine that it is to run on.
pub struct ProbedLine<'line> {
    line: &'line CommandLine,
    look: Look,
    facts: HostFacts,
    /// The jobs and logs of a line with replays.
    replaying: Option<Replaying>,
    /// Why the jobs cannot be planned: there are too many, or a log cannot be replayed.
    refused: Option<String>,
}

/// A line with its plan.
pub struct PlannedLine<'line> {
    line: &'line CommandLine,
    look: Look,
    host: Host,
    /// The plan.
    pub plan: Plan,
}

/// A line that can be run, with the storages that it will run on.
pub struct Ready<'line> {
    planned: PlannedLine<'line>,
    node: Node,
}

/// What the caller of a run provides.
pub struct Conditions<'a> {
    /// The program's version line, for the record.
    pub version: &'a str,
    /// Ends the run, and has the timeouts for what does not answer.
    pub control: Arc<Control>,
    /// The rule that ends the run.
    pub stop_rule: StopRule,
}

/// The note if a rule would have ended the run earlier, but several ranks run together.
const WHOLE_RUNTIME: &str =
    "ran for its whole runtime: on several nodes it does not end when the rate has settled, as each sees its own alone";

/// The note on `steadystate` with several ranks.
const STEADY_STATE_OF_EACH: &str =
    "steadystate is judged by each node for its own jobs: nodes may end at different times";

impl CommandLine {
    /// Parses the words of a run.
    ///
    /// # Errors
    /// A sentence, if they ask for no run or cannot be understood.
    pub fn parse(words: &[String]) -> Result<CommandLine, String> {
        match fsdyno_job::parse_command_line(words, &mut MachineSources) {
            Outcome::Run(request) => Ok(CommandLine { words: words.to_vec(), request: *request }),
            Outcome::Immediate(_) => Err(format!("{} asks for no run", words.join(" "))),
            Outcome::Rejected(rejection) => {
                let reasons: Vec<String> = rejection.errors.iter().map(|error| error.render(false)).collect();
                Err(reasons.join("\n").trim_end().to_string())
            }
        }
    }

    /// Examines the machine and the paths of the jobs; `next` is called with each path before it is accessed.
    pub fn look(&self, mut next: impl FnMut(&Path)) -> ProbedLine<'_> {
        // The code that parses options is not needed any more.
        fsdyno_os::process::release_program_pages();
        let look = Look::new();
        let (replaying, mut refused) = match replay::examine(&self.request.jobs) {
            Ok(replaying) => (replaying, None),
            Err(sentence) => (None, Some(sentence)),
        };
        let jobs = replaying.as_ref().map_or(self.request.jobs.as_slice(), |(jobs, _)| jobs);
        let mut facts = HostFacts::gather(&look, |host| {
            refused = refused.take().or_else(|| plan::refusal_of_crowd(jobs, host.memory_bytes));
            let paths = if refused.is_none() { plan::paths(jobs) } else { Vec::new() };
            paths.into_iter().inspect(|path| next(path))
        });
        if refused.is_none() {
            facts.ask_use(&look, plan::changed_paths(jobs));
        }
        ProbedLine { line: self, look, facts, replaying, refused }
    }
}

impl<'line> ProbedLine<'line> {
    /// Plans the run. `system_seed`: the seed of everything that must differ from run to run.
    ///
    /// # Errors
    /// Sentences on what cannot be run.
    pub fn plan(self, system_seed: u64) -> Result<PlannedLine<'line>, Vec<String>> {
        let ProbedLine { line, look, facts, replaying, refused } = self;
        if let Some(sentence) = refused {
            return Err(vec![sentence]);
        }
        let mut plan = match &replaying {
            Some((jobs, replays)) => plan::plan_replays(jobs, replays, &facts, system_seed),
            None => plan::plan(&line.request.jobs, &facts, system_seed),
        };
        plan.rejections.extend(descriptors::refusal(&plan, &facts.limits));
        plan.rejections.extend(control_groups::refusal(&plan, || look.blkio_mount()));
        plan.watched_max = descriptors::watched_max(&plan, &facts.limits);
        if plan.rejections.is_empty() {
            // The log files are opened next.
            descriptors::allow(&plan, &facts.limits);
            Ok(PlannedLine { line, look, host: facts.host, plan })
        } else {
            Err(plan.rejections)
        }
    }
}

impl<'line> PlannedLine<'line> {
    /// Examines the storages that the files are on. It connects to servers, which takes some seconds where one does not
    /// answer; no file is opened.
    pub fn identify_storages(self) -> Ready<'line> {
        // The code that plans is not needed any more.
        fsdyno_os::process::release_program_pages();
        let storages = self.plan.storages.iter().map(|place| self.look.storage_of(&place.path, place.writes)).collect();
        let host = self.host.clone();
        let node = Node { name: fsdyno_probe::host_name().unwrap_or_default(), host, storages, ..Node::default() };
        Ready { planned: self, node }
    }
}

impl Ready<'_> {
    /// The record before the first I/O: plans without results.
    pub fn preflight(&self) -> RunRecord {
        let mut record = RunRecord::new("", 0);
        let plan = &self.planned.plan;
        record.nodes = vec![self.node.clone()];
        record.jobs = plan.workers.iter().map(|worker| *blank_record(worker)).collect();
        record.notes.clone_from(&plan.notes);
        record
    }

    /// Makes sure that all ranks know this run and see the same machine and storage; returns notes on differences.
    /// [`Ready::run`] does it first.
    ///
    /// # Errors
    /// A sentence, where they cannot run together.
    pub fn agree(&self, other_ranks: &dyn OtherRanks) -> Result<Vec<Note>, String> {
        let first = self.planned.plan.workers.first();
        let directory = first.and_then(|worker| match &worker.reach {
            Reach::Beneath(directory) => Some(directory.path()),
            Reach::ByPath => None,
        });
        other_ranks.agree(&JointRun {
            words: &self.planned.line.words,
            seed: first.map_or(0, |worker| worker.run_mark),
            directory,
            preflight: &self.preflight(),
            places: &self.planned.plan.storages,
        })
    }

    /// Fills the part of this rank in files that the first rank has made; returns the bytes.
    pub fn fill_part(&self, made: &[(PathBuf, u64)], part: LayoutPart, control: &Control) -> u64 {
        fill_part(&self.planned.plan, made, part, control)
    }

    /// Runs the line to its end; returns the record with its findings.
    pub fn run(self, conditions: Conditions<'_>, observer: &mut dyn Observer) -> RunRecord {
        let agreed = conditions.control.other_ranks().map(|other_ranks| self.agree(other_ranks));
        let PlannedLine { line, look, mut plan, .. } = self.planned;
        if let Some(other_ranks) = conditions.control.other_ranks() {
            plan.read_from(other_ranks);
        }
        // With several ranks, none may end before the others.
        let settles = matches!(conditions.stop_rule, StopRule::Settled { .. });
        let stop_rule = if settles && agreed.is_some() { StopRule::AsWritten } else { conditions.stop_rule };
        if stop_rule != conditions.stop_rule {
            plan.notes.push(Note::new("not-settled", Severity::Info, WHOLE_RUNTIME));
        }
        if agreed.is_some() && plan.workers.iter().any(|worker| worker.job.reporting.steady_state.is_some()) {
            plan.notes.push(Note::new("steadystate-of-each", Severity::Info, STEADY_STATE_OF_EACH));
        }
        let apart = match agreed {
            Some(Ok(notes)) => {
                plan.notes.extend(notes);
                None
            }
            Some(Err(sentence)) => {
                plan.refuse_all(RANKS_APART, &sentence);
                Some(sentence)
            }
            None => None,
        };
        let heading = Heading {
            version: conditions.version.to_owned(),
            command: fsdyno_job::words_without_secrets(&line.words, &line.request.jobs),
            global_options: line.request.global_options.clone(),
            node: self.node,
            notes: line.request.warnings.iter().map(note_of).collect(),
            stop_rule,
            idle_profile: line.request.settings.idle_profile,
            look,
        };
        let control = Arc::clone(&conditions.control);
        let mut record = conduct(plan, heading, conditions.control, observer);
        if let Some(sentence) = &apart {
            say_why(&mut record, sentence);
        }
        if let Some(other_ranks) = control.other_ranks() {
            record = other_ranks.gather(record);
        }
        record.findings = fsdyno_findings::of_run(&record);
        // The code that runs jobs is not needed for the report.
        fsdyno_os::process::release_program_pages();
        record
    }
}

fn note_of(warning: &Warning) -> Note {
    // A depth that is not reached has a finding.
    let harmless = matches!(warning.code, WarningCode::SynchronousDepth | WarningCode::FilesAdded);
    let severity = if harmless { Severity::Info } else { Severity::Caution };
    Note { job: warning.job.clone(), ..Note::new(format!("{:?}", warning.code), severity, warning.text.clone()) }
}
/// Sets the reason why ranks cannot run together as the error of their jobs.
fn say_why(record: &mut RunRecord, sentence: &str) {
    let errors = record.jobs.iter_mut().filter_map(|job| job.error.as_mut());
    for error in errors.filter(|error| error.function == RANKS_APART) {
        error.text = sentence.trim_start_matches("fio: ").to_owned();
    }
}
