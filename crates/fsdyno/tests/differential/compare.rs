//! Compares the results of the two programs.

use crate::draw::Drawn;
use crate::named::{self, Spared};
use crate::recorded;
use crate::tool::{self, Done, OURS, RunResult, Tool};

/// The pattern of cases with known content.
const PATTERN: [u8; 4] = [0xde, 0xad, 0xbe, 0xef];

/// The result of a comparison.
pub(crate) struct Outcome {
    /// The differences.
    pub(crate) found: Vec<String>,
    /// Whether fio gave a result to compare with: it neither crashed nor hung.
    pub(crate) compared: bool,
    /// Whether the numbers of requests and bytes were compared, too.
    pub(crate) counted: bool,
}

/// Runs a case with both programs.
pub(crate) fn check(drawn: &Drawn, fio: &Tool) -> Outcome {
    let spared = named::spared(drawn);
    let ours = tool::run(&OURS, &drawn.words, &drawn.files);
    let mut found = Vec::from_iter(recorded::left_group(drawn));
    // The status is the number of failed jobs.
    if ours.status.is_none_or(|status| status > 16) {
        found.push(format!("ours ends with {:?}: {}", ours.status, head(&ours.stderr)));
    }
    if !found.is_empty() || spared.contains(&Spared::All) {
        return Outcome { found, compared: true, counted: false };
    }
    let theirs = tool::run(fio, &drawn.words, &drawn.files);
    // What fio has left must not be there for another run.
    let _ = recorded::left_group(drawn);
    if theirs.status.is_none() || theirs.stderr.contains("got signal=") {
        return Outcome { found, compared: false, counted: false };
    }
    let finds = spared.contains(&Spared::Findings);
    if finds && theirs.stderr.contains("verify: ") && theirs.status != Some(0) && ours.status == Some(0) {
        compare_sizes(&theirs, &ours, &mut found);
        return Outcome { found, compared: true, counted: false };
    }
    let counted = !spared.contains(&Spared::Counts);
    Outcome { found: differences(drawn, fio, &theirs, ours, &spared), compared: true, counted }
}

/// The differences between two completed runs.
fn differences(drawn: &Drawn, fio: &Tool, theirs: &RunResult, ours: RunResult, spared: &[Spared]) -> Vec<String> {
    let mut found = Vec::new();
    if theirs.status != ours.status {
        let stderr = if theirs.status == Some(0) { &ours.stderr } else { &theirs.stderr };
        found.push(format!("status {:?} of fio, {:?} of ours: {}", theirs.status, ours.status, head(stderr)));
        return found;
    }
    if ours.status != Some(0) {
        return found;
    }
    if !spared.contains(&Spared::Counts) {
        compare_counts(theirs, &ours, spared.contains(&Spared::Findings), &mut found);
    } else if drawn.has_amount() {
        compare_amounts(drawn, theirs, &ours, &mut found);
    }
    compare_sizes(theirs, &ours, &mut found);
    let places_differ = spared.contains(&Spared::Counts) || spared.contains(&Spared::Content);
    if !places_differ && drawn.has_known_content() {
        compare_content(theirs, &ours, &mut found);
    }
    if !places_differ && drawn.value("write_iolog").is_some() {
        recorded::compare(theirs, &ours, &mut found);
    }
    if found.is_empty() && spared.is_empty() && drawn.is_sealed() {
        found.extend(refused_by_fio(drawn, fio, ours));
    }
    found
}

fn compare_counts(fio: &RunResult, ours: &RunResult, only_writes: bool, found: &mut Vec<String>) {
    let (Some(theirs), Some(ours)) = (&fio.jobs, &ours.jobs) else {
        found.push("no report".to_owned());
        return;
    };
    let compared = |jobs: &[[Done; 2]]| -> Vec<Vec<Done>> {
        jobs.iter().map(|directions| directions[usize::from(only_writes)..].to_vec()).collect()
    };
    if compared(theirs) != compared(ours) {
        found.push(format!("reads and writes: {theirs:?} of fio, {ours:?} of ours"));
    }
}

/// If the order differs, each job must still do what it does in fio, except for one block per file and pass.
fn compare_amounts(drawn: &Drawn, fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    let (Some(theirs), Some(ours)) = (&fio.jobs, &ours.jobs) else { return };
    let bytes = |jobs: &[[Done; 2]]| jobs.iter().flatten().map(|done| done.bytes).sum::<u64>();
    let (theirs, ours) = (bytes(theirs), bytes(ours));
    if ours + drawn.bytes_left_out() < theirs {
        found.push(format!("less is done: {theirs} bytes of fio, {ours} of ours"));
    }
}

/// Compares the names of logs; their content depends on the clock. We never compress logs of histograms.
fn compare_sizes(fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    let sized = |(name, content): (&String, &Vec<u8>)| match name.split_once("_clat_hist.") {
        Some((stem, _)) => (format!("{stem}_clat_hist"), 0),
        None if name.ends_with(".log") || name.ends_with(".log.fz") => (name.clone(), 0),
        None => (name.clone(), content.len()),
    };
    let sizes = |ran: &RunResult| -> Vec<(String, usize)> { ran.files.iter().map(sized).collect() };
    if sizes(fio) != sizes(ours) {
        found.push(format!("files: {:?} of fio, {:?} of ours", sizes(fio), sizes(ours)));
    }
}

/// Checks that the pattern is in the same places.
fn compare_content(fio: &RunResult, ours: &RunResult, found: &mut Vec<String>) {
    for (name, ours) in &ours.files {
        let Some(theirs) = fio.files.get(name) else { continue };
        let holds = |content: &[u8], at: usize| content[at..].starts_with(&PATTERN);
        let places = (0..ours.len().min(theirs.len()).saturating_sub(3)).step_by(512);
        let different: Vec<usize> = places.filter(|at| holds(ours, *at) != holds(theirs, *at)).collect();
        if let Some(at) = different.first() {
            found.push(format!("{name}: {} sectors hold the pattern in one only, the first at {at}", different.len()));
        }
    }
}

/// fio's objections to blocks that we have written with checksums.
fn refused_by_fio(drawn: &Drawn, fio: &Tool, ours: RunResult) -> Option<String> {
    let words: Vec<String> = drawn.words.iter().filter(|word| !word.starts_with("--rw=")).cloned().collect();
    let read = tool::run_in(fio, &[words, vec!["--rw=read".to_owned()]].concat(), ours.directory);
    (read.status != Some(0)).then(|| format!("fio reads our blocks with {:?}: {}", read.status, head(&read.stderr)))
}

fn head(text: &str) -> String {
    text.lines().take(4).collect::<Vec<_>>().join(" / ").chars().take(400).collect()
}
