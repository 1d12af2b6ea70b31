//! Checks profiles one after the other: gates, then tests, repeated while a verdict is undecided.

use std::path::Path;

use fsdyno_guide::Problem;
use fsdyno_guide::study::StudyRun;
use fsdyno_guide::work_directory::WorkDirectory;
use fsdyno_results::{Severity, Verdict, VerdictRow};
use fsdyno_run::StopRule;

use crate::gate::{self, Condition, Outcome};
use crate::ground::Ground;
use crate::judge::{self, Factors, NOT_DURABLE, ResolvedRequirement};
use crate::profile::{Profile, Test};
use crate::trial::Trial;
use crate::{CheckOptions, line};

/// A running check.
pub(crate) struct Session<'s, 'a> {
    study_run: &'s mut StudyRun<'a>,
    options: &'s CheckOptions,
    factors: Factors,
    /// Whether a judged test was made shorter or smaller than its profile says.
    pub(crate) shortened: bool,
}

impl<'s, 'a> Session<'s, 'a> {
    pub(crate) fn new(study_run: &'s mut StudyRun<'a>, options: &'s CheckOptions, factors: Factors) -> Session<'s, 'a> {
        Session { study_run, options, factors, shortened: false }
    }

    fn tier(&self) -> Option<&'s str> {
        self.options.tier.as_deref()
    }

    /// Gives the verdicts that need no file; returns the remaining profiles.
    pub(crate) fn look<'p>(&mut self, profiles: &[&'p Profile], path: &Path) -> Vec<&'p Profile> {
        let facts = fsdyno_probe::path_facts(path);
        let mut open = Vec::new();
        for profile in profiles {
            let answers: Vec<VerdictRow> = profile
                .gates
                .iter()
                .filter_map(|gate| {
                    Some(judge::gate_row(profile, gate, &gate::look(&gate.condition, &facts, self.factors.in_memory)?))
                })
                .collect();
            let broken = answers.iter().any(|answer| answer.verdict == Verdict::Fail);
            self.study_run.study.verdicts.extend(answers);
            let fstype = facts
                .fstype()
                .filter(|fstype| !profile.only_on.is_empty() && !gate::is_one_of(fstype, &profile.only_on));
            if let Some(fstype) = fstype {
                let reason = format!("this is {fstype}, and the profile is about {}", profile.applies_to);
                self.leave_out(profile, &reason);
            } else if broken {
                self.leave_out(profile, "a condition before it is not met: nothing was measured");
            } else if needs_files(profile) {
                open.push(*profile);
            }
        }
        open
    }

    /// Gives all requirements of a profile the verdict NOT APPLICABLE, for this reason.
    fn leave_out(&mut self, profile: &Profile, reason: &str) {
        for requirement in profile.requirements_of(self.tier()) {
            let Some(test) = profile.test(&requirement.test) else { continue };
            let asked = ResolvedRequirement::new(profile, requirement, self.factors, self.tier());
            let answer = asked.unanswered(test, &test.work.words(), Verdict::NotApplicable, reason.to_string());
            self.study_run.study.verdicts.push(answer);
        }
    }

    /// Runs the profiles and judges their requirements.
    pub(crate) fn run(&mut self, profiles: &[&Profile], ground: Ground<'_>) -> Result<(), Problem> {
        self.study_run.steps.1 = profiles.iter().map(|profile| self.measured(profile).len()).sum();
        self.study_run.more_steps = None;
        for profile in profiles {
            // The files of one profile must neither fill the storage nor warm it for the next.
            ground.directory().map_or(Ok(()), WorkDirectory::empty)?;
            if self.pass_gates(profile, ground)? {
                self.run_tests(profile, ground)?;
            } else {
                let tests = self.measured(profile).len();
                self.study_run.steps.1 = self.study_run.steps.1.saturating_sub(tests);
                self.leave_out(profile, "a condition before it is not met: nothing was measured");
            }
        }
        Ok(())
    }

    /// Examines the gates that need a file.
    fn pass_gates(&mut self, profile: &Profile, ground: Ground<'_>) -> Result<bool, Problem> {
        let mut pass = true;
        for gate in &profile.gates {
            let outcome = match (&gate.condition, ground.directory()) {
                (Condition::Function(function), _) => ground.answer(*function),
                (Condition::Lock(lock), Some(work)) => gate::try_lock(*lock, work),
                (Condition::Runs(words), Some(_)) => self.try_words(words, &gate.title, ground)?,
                _ => continue,
            };
            let answer = judge::gate_row(profile, gate, &outcome);
            pass &= answer.verdict != Verdict::Fail;
            self.study_run.study.verdicts.push(answer);
        }
        Ok(pass)
    }

    /// Runs a line that only has to end without an error; it is no row of the study.
    fn try_words(&mut self, words: &[String], title: &str, ground: Ground<'_>) -> Result<Outcome, Problem> {
        let line = ground.line(words, self.options.shortening)?;
        self.try_line(&line.words, title, ground)
    }

    fn try_line(&mut self, words: &[String], title: &str, ground: Ground<'_>) -> Result<Outcome, Problem> {
        let step = fsdyno_guide::watch::Step { title: title.to_string(), number: 1, of: 1, ..Default::default() };
        let conditions = fsdyno_guide::bench::Conditions {
            version: self.study_run.version,
            control: &self.study_run.control,
            stop_rule: StopRule::AsWritten,
            work: ground.directory(),
        };
        let record =
            match fsdyno_guide::bench::run_line(words, conditions, &step, &mut fsdyno_guide::watch::SilentWatcher) {
                Ok(record) => record,
                Err(problem) => return Ok(Outcome::Broken(problem.what)),
            };
        let error = record.jobs.iter().find_map(|job| job.error.as_ref());
        Ok(match error {
            Some(error) => Outcome::Broken(format!("it fails: {}: {}", error.function, error.text)),
            None => Outcome::Holds("it works".to_string()),
        })
    }

    fn run_tests(&mut self, profile: &Profile, ground: Ground<'_>) -> Result<(), Problem> {
        let mut all = Vec::new();
        for test in self.measured(profile) {
            all.push(self.run_test(profile, test, ground)?);
        }
        let mut answers = Vec::new();
        for requirement in profile.requirements_of(self.tier()) {
            let asked = ResolvedRequirement::new(profile, requirement, self.factors, self.tier());
            let unmeasured = profile.tests_of(self.tier()).into_iter().filter(|test| {
                requirement.rests_on(test) && !all.iter().any(|trial: &Trial<'_>| std::ptr::eq(trial.test, *test))
            });
            answers.extend(unmeasured.map(|test| {
                let reason = format!("{NOT_DURABLE}: not measured");
                asked.unanswered(test, &test.work.words(), Verdict::NotApplicable, reason)
            }));
            let of_requirement = all.iter().filter(|trial| requirement.rests_on(trial.test));
            for ran in of_requirement.map(|trial| trial.ran(&self.study_run.study.rows)) {
                self.shortened |= !ran.shortened.is_empty();
                answers.push(asked.answer(&ran));
            }
        }
        judge::compare_variants(&mut answers);
        self.study_run.study.verdicts.extend(answers);
        Ok(())
    }

    /// The tests of a profile by which a requirement can be judged here.
    fn measured<'p>(&self, profile: &'p Profile) -> Vec<&'p Test> {
        let requirements = profile.requirements_of(self.tier());
        let answers = |test: &&Test| {
            requirements.iter().filter(|requirement| requirement.rests_on(test)).any(|requirement| {
                let asked = ResolvedRequirement::new(profile, requirement, self.factors, self.tier());
                !asked.asks_memory_to_last(test)
            })
        };
        profile.tests_of(self.tier()).into_iter().filter(answers).collect()
    }

    /// Runs a test, and repeats it while a requirement is undecided and the cap allows it.
    fn run_test<'p>(&mut self, profile: &'p Profile, test: &'p Test, ground: Ground<'p>) -> Result<Trial<'p>, Problem> {
        let mut trial = Trial::planned(self.study_run, profile, test, ground, self.options.shortening)?;
        if let (Ground::Objects(objects, ..), Some((size, count))) = (ground, trial.objects_read()) {
            let words = line::filling(objects, size, count);
            if let Outcome::Broken(why) = self.try_line(&words, "writes what is read", ground)? {
                trial.give_up(format!("its objects could not be written: {why}"));
            }
        }
        loop {
            trial.run_once(self.study_run)?;
            let rows = &self.study_run.study.rows;
            let may_repeat = trial.may_repeat(rows, self.options.cap_s);
            if self.study_run.stopped() || !(trial.wants_pass(rows) || may_repeat && self.undecided(profile, &trial)) {
                break;
            }
            // The repeat is one more step.
            self.study_run.steps.1 += 1;
        }
        let rounds = trial.rounds;
        if rounds > trial.rounds_planned() {
            let text = format!("{}: {} was run {rounds} times to decide", profile.name, test.title);
            self.study_run.note("repeated", Severity::Info, text);
        }
        Ok(trial)
    }

    /// Whether a requirement on this test is undecided.
    fn undecided(&self, profile: &Profile, trial: &Trial<'_>) -> bool {
        let ran = trial.ran(&self.study_run.study.rows);
        profile
            .requirements_of(self.tier())
            .into_iter()
            .filter(|requirement| requirement.rests_on(trial.test))
            .map(|requirement| ResolvedRequirement::new(profile, requirement, self.factors, self.tier()))
            .any(|asked| asked.undecided(&ran))
    }
}

/// Whether a profile needs more than an examination of the mount.
fn needs_files(profile: &Profile) -> bool {
    let tried = profile
        .gates
        .iter()
        .any(|gate| matches!(gate.condition, Condition::Lock(_) | Condition::Runs(_) | Condition::Function(_)));
    tried || !profile.requirements.is_empty()
}
