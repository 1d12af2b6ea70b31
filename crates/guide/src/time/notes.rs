//! Makes the notes that an answer shows beside its figures.

use fsdyno_os::files::{FileAccess, FileError, OpenMode, extents_of};
use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Row, Severity, Study};
use fsdyno_text::quantity::{bytes, latency};

use super::options::TimeOptions;
use super::{Site, run};
use crate::study::StudyRun;
use crate::work_directory::usable_bytes;

/// Size of a file that is written to see how fragmented the free space is, bytes.
const PROBE_BYTES: u64 = 8 << 20;

/// Extents below this size slow I/O down: disk heads move more, and requests are smaller, bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// The first run gets a note if it takes this multiple of the longest other run.
const FIRST_TIMES: u64 = 2;

/// Least number of runs for that note: in fewer runs a longer first one is chance.
const FIRST_OF: usize = 4;

/// Notes which environment variables the command gets: names only, as a value may be a secret.
pub(super) fn environment(study_run: &mut StudyRun<'_>, options: &TimeOptions) {
    let mut names: Vec<String> =
        run::inherited_environment(options).map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    fsdyno_stats::sort::by(&mut names, Ord::cmp);
    let text = format!(
        "the command has these variables, in addition to its own HOME, TMPDIR and FSDYNO_DIR: {}",
        names.join(", ")
    );
    study_run.note("environment", Severity::Info, text);
}

/// Notes fragmented free space. A filesystem that was filled and emptied for long behaves differently from a new one on
/// the same disk.
pub(super) fn free_space_in_pieces(study_run: &mut StudyRun<'_>, sites: &[Site]) {
    let has_room = |site: &Site| usable_bytes(site.work.directory()).is_some_and(|bytes| bytes > 4 * PROBE_BYTES);
    let on_disks = sites.iter().enumerate().filter(|(_, site)| site.class == StorageClass::Block);
    for (target, site) in on_disks.filter(|(_, site)| has_room(site)) {
        study_run.watcher.looks(site.work.directory());
        let pieces = pieces(site);
        study_run.watcher.looked();
        if let Ok(Some(pieces)) = pieces
            && PROBE_BYTES / pieces < PIECE_BYTES
        {
            let text = format!(
                "the free space on {} is in small pieces, as on filesystems that have been in use for long: a new file of {} \
                 lies in {pieces} of them. A new filesystem on the same disk may be faster",
                study_run.study.targets[target].name,
                bytes(PROBE_BYTES)
            );
            study_run.note("free-space-in-pieces", Severity::Caution, text);
        }
    }
}

/// Number of extents of a new file; `None`: not visible, or the extents are not those of the disk.
fn pieces(site: &Site) -> Result<Option<u64>, FileError> {
    let path = site.work.file("free-space");
    let mode = OpenMode { create: true, ..OpenMode::buffered(FileAccess::ReadWrite) };
    let file = site.work.open_directory().open_file(&path, mode)?;
    let chunk = vec![b'f'; 1 << 20];
    for offset in (0..PROBE_BYTES).step_by(chunk.len()) {
        file.write_all_at(&chunk, offset)?;
    }
    let found = extents_of(&file, PROBE_BYTES, true)?;
    site.work.open_directory().remove(std::path::Path::new("free-space"))?;
    Ok(Some(found.count).filter(|count| *count > 0 && found.encoded_bytes == 0))
}

/// Notes slow first runs: programs and libraries are then read from their own disk, whatever place is measured.
pub(super) fn first_runs(study_run: &mut StudyRun<'_>) {
    let texts = slow_first_runs(&study_run.study);
    texts.into_iter().for_each(|text| study_run.note("first-run", Severity::Info, text));
}

fn slow_first_runs(study: &Study) -> Vec<String> {
    let wall_ns = |row: &Row| row.phase.as_ref().map(|phase| phase.elapsed_ns);
    let told = |row: &Row| {
        let (name, first) = (&study.targets.get(row.target)?.name, wall_ns(row)?);
        let others: Vec<u64> = study.repeats(row.target, &row.pattern).skip(1).filter_map(wall_ns).collect();
        let (least, most) = (*others.iter().min()?, *others.iter().max()?);
        let [first_time, least_time, most_time] = [first, least, most].map(|ns| latency(ns as f64));
        (others.len() + 1 >= FIRST_OF && first > most.saturating_mul(FIRST_TIMES)).then(|| {
            format!(
                "the first run of {} on {name} took {first_time}, the others {least_time} to {most_time}: what it used had to \
                 be read first. It counts as one of {}",
                row.pattern,
                others.len() + 1
            )
        })
    };
    study.rows.iter().filter(|row| row.round == 0).filter_map(told).collect()
}

/// Notes the first line in which a run's output differs from the first run's.
pub(super) fn what_it_printed(study_run: &mut StudyRun<'_>) {
    if let Some(text) = first_difference(&study_run.study) {
        study_run.note("printed-differs", Severity::Info, text);
    }
}

fn first_difference(study: &Study) -> Option<String> {
    let printed = |row: &Row| row.tree.as_ref().map(|tree| tree.printed.clone());
    let difference = |row: &Row| {
        let first = study.rows.iter().find(|first| first.pattern == row.pattern).and_then(printed)?;
        let own = printed(row)?;
        let mut lines = own.head.lines().chain([""]).zip(first.head.lines().chain([""])).enumerate();
        let (index, (own, first)) = lines.find(|(_, (own, first))| own != first)?;
        let (name, line) = (&study.targets.get(row.target)?.name, index + 1);
        let short = |line: &str| line.chars().take(60).collect::<String>();
        let (round, own, first) = (row.round, short(own), short(first));
        Some(format!(
            "{} printed something else on {name} in round {round}, line {line}: `{own}`, first `{first}`",
            row.pattern
        ))
    };
    study.rows.iter().find_map(difference)
}

#[cfg(test)]
mod tests {
    use testkit::draw::{Test, TestWork, cases, numbers, printed, time_after, unexplained};

    use super::*;

    /// Each number of these notes is a time or a round of the command, for any rounds.
    #[test]
    fn no_note_denies_its_runs() {
        let mut told = [0, 0];
        for (case, mut draw) in cases(300) {
            let mut study = Study::of_run(fsdyno_results::RunRecord::new("test", 0));
            study.targets[0].name = "data".into();
            let rounds = draw.one_of(&[1, 3, 4, 8]);
            let per_s = draw.one_of(&[0.4, 3.0, 900.0]);
            let test =
                Test { target: 0, pattern: "tar", does: TestWork::Command, depth: 1, block_bytes: 0, rounds, per_s };
            study.rows = draw.rounds(&test);
            let prints = draw.one_of(&[9, 1, 2]);
            for row in &mut study.rows {
                let tree = row.tree.as_mut().unwrap();
                tree.printed.head = if row.round % 4 == prints { "same\nother" } else { "same\nline" }.into();
            }
            let walls: Vec<f64> = study.rows.iter().map(|row| row.phase.as_ref().unwrap().elapsed_ns as f64).collect();
            for text in slow_first_runs(&study) {
                let said = || format!("case {case}: {text}\n{walls:?}");
                let strange = unexplained(&text, &[], &[walls.len() as f64], &walls);
                assert!(strange.is_empty(), "{strange:?}: {}", said());
                let most = walls[1..].iter().copied().fold(0.0, f64::max);
                assert!(printed(time_after(&text, "took ").unwrap(), walls[0]), "{}", said());
                assert!(printed(time_after(&text, " to ").unwrap(), most) && walls[0] > 2.0 * most, "{}", said());
                assert_eq!(numbers(&text).last(), Some(&(walls.len() as f64)), "{}", said());
                told[0] += 1;
            }
            if let Some(text) = first_difference(&study) {
                let other = study.rows.iter().find(|row| row.tree.as_ref().unwrap().printed.head.ends_with("other"));
                let first = &study.rows[0];
                let row =
                    other.filter(|row| row.round != first.round).or(study.rows.iter().find(|row| {
                        row.tree.as_ref().unwrap().printed.head != first.tree.as_ref().unwrap().printed.head
                    }));
                let round = f64::from(row.unwrap().round);
                assert_eq!(numbers(&text), [round, 2.0], "case {case}: {text}");
                told[1] += 1;
            }
        }
        assert!(told.iter().all(|count| *count > 3), "{told:?}");
    }
}
