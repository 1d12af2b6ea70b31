//! Defines a row of the tables, and compares it.

pub(crate) mod shared_command;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::left_behind::Depth;
use crate::tools::{self, FIO, OURS, RunResult};
use crate::{differences, document, left_behind, report, terse};

/// A command line with the files that exist before it, and what must agree after it.
///
/// The exit status is always compared. So is the JSON document, for which `--output-format=json` is added, unless the
/// row chooses its own format. A row's formats come from one run.
#[derive(Clone, Default)]
pub(crate) struct Case {
    /// The words after the program's name.
    pub(crate) words: Vec<String>,
    /// Names and contents of files made before the run.
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    /// Variables set for the run.
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    /// A sh script that runs the tool as `"$@"`.
    pub(crate) shell: Option<&'static str>,
    looks: Vec<Look>,
    /// The tools get the words alone.
    pub(crate) verbatim: bool,
    apart: bool,
    chosen: Option<(&'static str, i32)>,
    needs: Option<Need>,
}

/// What is compared besides the exit status and the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Bytes and I/Os of each direction, exactly.
    Counts,
    /// Depths at submission, exactly.
    Depths,
    /// The normal report.
    Report,
    /// The terse lines of this version.
    Terse(u8),
    /// The files.
    Left(Depth),
    /// A phrase that both tools print.
    Says(&'static str),
    /// stdout to the letter.
    Stdout,
}

/// What a machine may refuse; then the row is skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// io_uring_setup(2) is allowed.
    IoUring,
    /// unshare(1) may make a mount namespace.
    MountNamespace,
    /// strace(1) may make system calls fail.
    Strace,
    /// losetup(8) may make a loop device.
    LoopDevice,
}

/// Defines one test for each row: a name, and the case.
macro_rules! cases {
    ($($name:ident: $case:expr;)*) => { $(
        #[test]
        fn $name() {
            crate::case::check(&$case);
        }
    )* };
}
pub(crate) use cases;

/// A case whose words are separated by blanks; a word in single quotes may hold blanks.
pub(crate) fn line(words: &str) -> Case {
    Case { words: split_words(words), ..Case::default() }
}

/// A case that runs the job file `text`, called `jobs.fio`.
pub(crate) fn job_file(text: &str) -> Case {
    line("jobs.fio").file("jobs.fio", text)
}

fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

impl Case {
    /// Adds words.
    pub(crate) fn words(mut self, words: &str) -> Case {
        self.words.extend(split_words(words));
        self
    }
    /// Adds a file that exists before the run.
    pub(crate) fn file(mut self, name: &'static str, content: impl Into<Vec<u8>>) -> Case {
        self.files.push((name, content.into()));
        self
    }
    /// Adds an environment variable.
    pub(crate) fn variable(mut self, name: &'static str, value: &'static str) -> Case {
        self.environment.push((name, value));
        self
    }
    /// Runs inside a sh script, which calls the tool as `"$@"`.
    pub(crate) fn shell(mut self, script: &'static str) -> Case {
        self.shell = Some(script);
        self
    }
    /// Bytes and I/Os agree exactly.
    pub(crate) fn counts(self) -> Case {
        self.look(Look::Counts)
    }
    /// The depths at submission agree exactly.
    pub(crate) fn depths(self) -> Case {
        self.look(Look::Depths)
    }
    /// The normal report has the same shape.
    pub(crate) fn report(self) -> Case {
        self.look(Look::Report)
    }
    /// The terse lines of `version` have the same fields.
    pub(crate) fn terse(self, version: u8) -> Case {
        self.look(Look::Terse(version))
    }
    /// The same files remain, compared to `depth`.
    pub(crate) fn left(self, depth: Depth) -> Case {
        self.look(Look::Left(depth))
    }
    /// Both tools say `phrase`, on stderr or in their report.
    pub(crate) fn says(self, phrase: &'static str) -> Case {
        self.look(Look::Says(phrase))
    }
    /// stdout agrees to the letter.
    pub(crate) fn same_stdout(self) -> Case {
        self.verbatim().look(Look::Stdout)
    }
    /// Runs once with exactly these words, without adding a format.
    pub(crate) fn verbatim(mut self) -> Case {
        self.verbatim = true;
        self
    }
    /// Runs once for each output format. Other rows have all their formats from one run.
    pub(crate) fn apart(mut self) -> Case {
        self.apart = true;
        self
    }
    /// A chosen difference, named by its row: ours ends with `status`, whatever fio does, and nothing else is compared.
    pub(crate) fn differs(mut self, written: &'static str, status: i32) -> Case {
        self.chosen = Some((written, status));
        self
    }
    /// Runs only where the machine allows `need`.
    pub(crate) fn needs(mut self, need: Need) -> Case {
        self.needs = Some(need);
        self
    }
    /// Whether only messages are compared, as where both tools refuse the words.
    pub(crate) fn is_only_said(&self) -> bool {
        !self.looks.is_empty() && self.looks.iter().all(|look| matches!(look, Look::Says(_)))
    }
    fn look(mut self, look: Look) -> Case {
        self.looks.push(look);
        self
    }

    /// The output formats of each run.
    fn runs(&self) -> Vec<Forms> {
        if self.verbatim {
            return vec![Forms::default()];
        }
        let mut runs = vec![Forms { json: true, ..Forms::default() }];
        for look in &self.looks {
            let of_look = match look {
                Look::Report => Forms { normal: true, ..Forms::default() },
                Look::Terse(version) => Forms { terse: Some(*version), ..Forms::default() },
                _ => continue,
            };
            let fits = !self.apart && runs[0].terse.and(of_look.terse).is_none();
            if fits { runs[0].add(of_look) } else { runs.push(of_look) }
        }
        runs
    }
}

/// Output formats of a run; none: those that the row writes itself.
#[derive(Clone, Copy, Default)]
struct Forms {
    json: bool,
    normal: bool,
    /// Its version.
    terse: Option<u8>,
}

impl Forms {
    fn add(&mut self, other: Forms) {
        self.normal |= other.normal;
        self.terse = self.terse.or(other.terse);
    }

    /// The words to add; the normal report alone needs none.
    fn words(self) -> Vec<String> {
        let names = [("json", self.json), ("normal", self.normal), ("terse", self.terse.is_some())];
        let named: Vec<&str> = names.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect();
        let format = Some(named.join(",")).filter(|names| !names.is_empty() && names != "normal");
        let format = format.map(|names| format!("--output-format={names}"));
        format.into_iter().chain(self.terse.map(|version| format!("--terse-version={version}"))).collect()
    }
}

/// Runs a row with both tools and fails with all differences.
pub(crate) fn check(case: &Case) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    if let Some(reason) = case.needs.and_then(refusal) {
        testkit::skip(reason);
        return;
    }
    if let Some((written, status)) = case.chosen.filter(|_| !tools::comparing_fio_with_itself()) {
        let ours = tools::run(&OURS, case, &case.runs()[0].words());
        let reason = differences::chosen(written).reason;
        assert_eq!(ours.status, Some(status), "{}: {reason}\n{}", case.words.join(" "), head(&ours.stderr));
        return;
    }
    let mut failures = Vec::new();
    for forms in case.runs() {
        let words = forms.words();
        let fio_ran = tools::run(fio, case, &words);
        let our_ran = tools::run(&OURS, case, &words);
        let mut found = Vec::new();
        compare(case, forms, &fio_ran, &our_ran, &mut found);
        if !found.is_empty() {
            failures.push(failure(case, &words, &found, &fio_ran, &our_ran));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare(case: &Case, forms: Forms, fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    if fio.status != ours.status {
        found.push(format!("exit status: {:?} in fio, {:?} in ours", fio.status, ours.status));
    }
    // A caller of fio may take any output on stderr for a failure.
    if fio.status == Some(0) && fio.stderr.is_empty() && !ours.stderr.is_empty() {
        found.push("stderr is not empty, where fio has nothing to say".to_owned());
    }
    for look in &case.looks {
        match look {
            Look::Left(depth) => left_behind::compare(*depth, fio.directory.path(), ours.directory.path(), found),
            Look::Says(phrase) => compare_phrase(phrase, fio, ours, found),
            Look::Stdout if fio.stdout != ours.stdout => found.push("stdout differs".to_owned()),
            _ => {}
        }
    }
    if let Some(version) = forms.terse {
        terse::compare(version, &fio.stdout, &ours.stdout, found);
    }
    match (forms.json, forms.normal) {
        (true, false) if forms.terse.is_none() => compare_documents(case, &fio.stdout, &ours.stdout, found),
        (true, normal) => {
            let [fio, ours] = [fio, ours].map(|ran| document::cut_out(&ran.stdout));
            compare_documents(case, &fio.0, &ours.0, found);
            if normal {
                compare_reports(&fio.1, &ours.1, forms.terse, found);
            }
        }
        (false, true) => compare_reports(&fio.stdout, &ours.stdout, None, found),
        (false, false) => {}
    }
}

/// Compares the normal reports; there may be terse lines among theirs.
fn compare_reports(fio: &str, ours: &str, terse: Option<u8>, found: &mut Vec<String>) {
    let [fio, ours] = [fio, ours].map(|text| match terse {
        Some(version) => {
            let start = format!("{version};");
            text.split_inclusive('\n').filter(|line| !line.starts_with(&start)).collect()
        }
        None => text.to_owned(),
    });
    report::compare(&fio, differences::without_remarks(&ours), found);
}

fn compare_documents(case: &Case, fio: &str, ours: &str, found: &mut Vec<String>) {
    let Some(fio) = document::skip_to_document(fio) else {
        if document::skip_to_document(ours).is_some() {
            found.push("JSON: fio prints no document, ours does".to_owned());
        }
        return;
    };
    let text =
        if tools::comparing_fio_with_itself() { document::skip_to_document(ours).unwrap_or_default() } else { ours };
    found.extend(document::check_float_text(text));
    match (document::parse_only_document(fio), document::parse_only_document(text)) {
        (Ok(fio), Ok(mut ours)) => {
            differences::take_remarks(&mut ours);
            compare_nodes(case, &fio, &ours, found);
        }
        (Err(error), _) => found.push(format!("fio: {error}")),
        (_, Err(error)) => found.push(format!("ours: {error}")),
    }
}

fn compare_nodes(case: &Case, fio: &document::Node, ours: &document::Node, found: &mut Vec<String>) {
    document::compare("", fio, ours, found);
    if case.looks.contains(&Look::Counts) {
        document::compare_counts(fio, ours, found);
    }
    if case.looks.contains(&Look::Depths) {
        document::compare_depths(fio, ours, found);
    }
}

fn compare_phrase(phrase: &str, fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    if !fio.stderr.contains(phrase) && !fio.stdout.contains(phrase) {
        found.push(format!("the table is wrong: fio does not say {phrase:?}"));
    }
    if !ours.stderr.contains(phrase) && !ours.stdout.contains(phrase) {
        found.push(format!("ours does not say {phrase:?}"));
    }
}

/// Why the machine refuses `need`, as fio experiences it. What it has allowed once is not tried again.
pub(crate) fn refusal(need: Need) -> Option<&'static str> {
    static ALLOWED: [AtomicBool; 4] = [const { AtomicBool::new(false) }; 4];
    let allowed = &ALLOWED[need as usize];
    if allowed.load(Ordering::Relaxed) {
        return None;
    }
    let reason = refusal_now(need);
    allowed.store(reason.is_none(), Ordering::Relaxed);
    reason
}

fn refusal_now(need: Need) -> Option<&'static str> {
    let (case, reason) = match need {
        Need::IoUring => (
            line("--name=probe --ioengine=io_uring --filename=probe --rw=read --size=4k"),
            "this machine refuses io_uring",
        ),
        Need::MountNamespace => {
            (line("--version").shell("unshare -m true && exec \"$@\""), "this machine refuses a mount namespace")
        }
        Need::Strace => (
            line("--version").shell("strace -o /dev/null -e inject=fsync:error=EIO true && exec \"$@\""),
            "strace is not installed or not allowed",
        ),
        Need::LoopDevice => (
            line("--version").shell(
                "truncate -s 1M image && device=$(losetup --find --show image) && losetup --detach $device && exec \"$@\"",
            ),
            "this machine refuses a loop device",
        ),
    };
    let ran = tools::run(FIO.as_ref()?, &case, &[]);
    (ran.status != Some(0)).then_some(reason)
}

fn failure(case: &Case, extra: &[String], found: &[String], fio: &RunResult, ours: &RunResult) -> String {
    let words = [&case.words, extra].concat().join(" ");
    let files: String = case
        .files
        .iter()
        .map(|(name, text)| format!("\n  [{name}]\n{}", String::from_utf8_lossy(&text[..text.len().min(400)])))
        .collect();
    format!(
        "\n{words}{files}\n  - {}\n  fio's stderr:\n{}\n  our stderr:\n{}\n  our stdout:\n{}\n",
        found.join("\n  - "),
        head(&fio.stderr),
        head(&ours.stderr),
        head(&ours.stdout),
    )
}

fn head(text: &str) -> String {
    text.lines().take(12).map(|line| format!("    | {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_hold_blanks() {
        assert_eq!(split_words("--name=a  '--description=two words' x"), ["--name=a", "--description=two words", "x"]);
    }
}
