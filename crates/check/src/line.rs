//! Checks the command line of a test when its profile is read. For a run, it fills in the place and shortens the line
//! as asked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use fsdyno_guide::Problem;
use fsdyno_guide::object_check::CheckedObjects;
use fsdyno_guide::study::job_path;
use fsdyno_job::{Amount, EngineName, Job, Outcome, SyncOpen};
use fsdyno_probe::HostFacts;
use fsdyno_run::MachineSources;

use crate::metric::Metric;

/// How tests are made shorter or smaller than the vendor's. By default nothing is shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shortening {
    /// Factor of runtimes and ramps, above 0 to 1.
    pub runtime_scale: Option<f64>,
    /// Longest runtime, also of tests that end by bytes, s.
    pub runtime_s_max: Option<u64>,
    /// Largest file, bytes.
    pub size_bytes_max: Option<u64>,
}

impl Shortening {
    /// `--quick`: 3 s and 64 MiB for each test.
    pub const QUICK: Shortening =
        Shortening { runtime_scale: None, runtime_s_max: Some(3), size_bytes_max: Some(64 << 20) };
}

/// A line that is ready to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProfileLine {
    pub(crate) words: Vec<String>,
    pub(crate) job: Job,
    /// The files that it uses, with their bytes.
    pub(crate) files: BTreeMap<PathBuf, u64>,
    /// Whether it reads nothing: a repeat must then begin without its files, as the first run did.
    pub(crate) only_writes: bool,
    /// What was shortened.
    pub(crate) shortened: Vec<ShortenedValue>,
}

/// A length or size that differs from the vendor's, in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShortenedValue {
    /// The published one; `None`: the test ends by bytes.
    from: Option<String>,
    to: String,
}

impl fmt::Display for ShortenedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            Some(from) => write!(f, "{} instead of {from}", self.to),
            None => write!(f, "at most {}", self.to),
        }
    }
}

/// The title of a test with the lengths and sizes of its run: `the same for 60 s` becomes `the same for 3 s`.
pub(crate) fn title(title: &str, shortened: &[ShortenedValue]) -> String {
    let mut words: Vec<String> = title.split(' ').map(str::to_owned).collect();
    for ShortenedValue { from, to } in shortened {
        let Some((count, unit)) = from.as_deref().and_then(|from| from.split_once(' ')) else { continue };
        for at in 1..words.len() {
            if words[at - 1] == count && words[at].trim_end_matches([',', ';', ':']) == unit {
                let end = words[at][unit.len()..].to_owned();
                let (count, unit) = to.split_once(' ').unwrap_or((to, ""));
                words[at - 1] = count.to_owned();
                words[at] = format!("{unit}{end}");
            }
        }
    }
    words.join(" ")
}

/// Shortest window of rates, ms: in shorter windows chance dominates.
const WINDOW_MS_MIN: u64 = 50;

/// Number of windows in a test that is long enough.
const WINDOWS: u64 = 20;

/// The usual window of reports, ms.
const WINDOW_MS_USUAL: u64 = 500;

/// Checks that the words are one job, with its files in our place.
///
/// # Errors
/// Why they are not.
pub(crate) fn check(words: &[String]) -> Result<(), String> {
    let placed = |word: &String| ["{dir}", "{file}", OBJECT].iter().any(|place| word.contains(place));
    if !words.iter().any(placed) {
        return Err("no word says where its files are: {dir}, {file} or {object}".to_string());
    }
    one_job(&filled(words, "/nowhere", "/nowhere/file")).map(|_| ())
}

/// Why the job of these words cannot give a figure; `None`: it can. The words were checked before.
pub(crate) fn missing_figure(words: &[String], metric: Metric) -> Option<&'static str> {
    let job = one_job(&filled(words, "/nowhere", "/nowhere/file")).ok()?;
    if metric.is_of_first_byte() && !is_of_objects(words) {
        return Some("its test asks no object store");
    }
    metric.missing_in(&job)
}

/// Whether the job makes its writes durable.
pub(crate) fn makes_durable(words: &[String]) -> bool {
    let Ok(job) = one_job(&filled(words, "/nowhere", "/nowhere/file")) else { return false };
    let durability = job.durability;
    let every = durability.fsync_every > 0 || durability.fdatasync_every > 0;
    let at_end = durability.end_fsync || durability.fsync_on_close || durability.end_syncfs;
    job.pattern.access.writes && (every || at_end || job.submission.sync_open != SyncOpen::None)
}

/// Time of a test in its original form, s; `None`: it ends by bytes.
pub(crate) fn seconds(words: &[String]) -> Option<u64> {
    let job = one_job(&filled(words, "/nowhere", "/nowhere/file")).ok()?;
    let extent = job.extent;
    (extent.runtime_ns > 0).then_some((extent.runtime_ns + extent.ramp_ns).div_ceil(1_000_000_000))
}

/// Stands for the name of the objects of a store.
pub(crate) const OBJECT: &str = "{object}";

/// Whether the job of these words is one of objects.
pub(crate) fn is_of_objects(words: &[String]) -> bool {
    words.iter().any(|word| word.contains(OBJECT))
}

fn filled(words: &[String], directory: &str, file: &str) -> Vec<String> {
    // Which server it is, and its key, is known when the test runs.
    let engine = is_of_objects(words).then(|| "--ioengine=http".to_owned());
    let filled =
        words.iter().map(|word| word.replace("{dir}", directory).replace("{file}", file).replace(OBJECT, file));
    filled.chain(engine).map(at_home).collect()
}

/// The words for the objects of a store, shortened as asked; a run sends this number of requests at most.
///
/// # Errors
/// When the words cannot be planned there.
pub(crate) fn prepare_objects(
    words: &[String],
    objects: &CheckedObjects,
    shortening: Shortening,
    requests_max: u64,
) -> Result<ProfileLine, Problem> {
    let name = |word: &String| word.replace(OBJECT, &objects.file);
    let words: Vec<String> = words.iter().map(name).chain(objects.engine.iter().cloned()).collect();
    let mut line = prepared(words, shortening)?;
    let each = (requests_max / u64::from(line.job.clones.max(1))).max(1);
    if line.job.extent.time_based {
        // Such a job would go on behind any number of requests.
        line.words.extend([format!("--io_size={}", each * block_bytes(&line.job)), "--time_based=0".to_owned()]);
    } else {
        line.words.push(format!("--number_ios={each}"));
    }
    Ok(line)
}

/// The words that write this number of objects, which a test reads: exactly these, as no other may be deleted again.
pub(crate) fn filling(objects: &CheckedObjects, object_bytes: u64, count: u64) -> Vec<String> {
    let writers = (1..=WRITERS).rev().find(|writers| count.is_multiple_of(*writers)).unwrap_or(1);
    let (each, file) = (count / writers * object_bytes, &objects.file);
    let mut words = vec!["--name=fill".to_owned(), format!("--filename={file}"), format!("--bs={object_bytes}")];
    words.extend([format!("--size={each}"), format!("--offset_increment={each}"), format!("--numjobs={writers}")]);
    words.push("--rw=write".to_owned());
    words.extend(objects.engine.iter().cloned());
    words
}

/// Connections that write what a test reads, at most.
const WRITERS: u64 = 8;

/// Bytes of the largest request.
pub(crate) fn block_bytes(job: &Job) -> u64 {
    job.pattern.block_size.read.max().max(job.pattern.block_size.write.max())
}

/// Replaces an engine of another system: an asynchronous one by this system's default (windowsaio on Windows).
fn at_home(word: String) -> String {
    let engine = word.strip_prefix("--ioengine=").and_then(EngineName::named);
    match engine.filter(|engine| !engine.is_of_this_system()) {
        Some(engine) if engine.is_synchronous() => format!("--ioengine={}", EngineName::Psync.name()),
        Some(_) => format!("--ioengine={}", EngineName::DEFAULT.name()),
        None => word,
    }
}

fn one_job(words: &[String]) -> Result<Job, String> {
    match fsdyno_job::parse_command_line(words, &mut MachineSources) {
        Outcome::Run(request) => match <[Job; 1]>::try_from(request.jobs) {
            Ok([job]) => Ok(job),
            Err(jobs) => Err(format!("the words are of {} jobs, and a test is one", jobs.len())),
        },
        Outcome::Immediate(_) => Err("the words ask for no run".to_string()),
        Outcome::Rejected(rejection) => {
            let reasons: Vec<&str> = rejection.errors.iter().map(|error| error.message.as_str()).collect();
            Err(reasons.join("; "))
        }
    }
}

/// The words for a place, shortened as asked.
///
/// # Errors
/// When the words cannot be planned there.
pub(crate) fn prepare(
    words: &[String],
    directory: &Path,
    file: &Path,
    shortening: Shortening,
) -> Result<ProfileLine, Problem> {
    prepared(filled(words, &job_path(directory), &job_path(file)), shortening)
}

fn prepared(mut words: Vec<String>, shortening: Shortening) -> Result<ProfileLine, Problem> {
    let job = one_job(&words).map_err(Problem::new)?;
    let shortened = shorten(&mut words, &job, shortening);
    let job = one_job(&words).map_err(Problem::new)?;
    if let Some(window_ms) = window_ms(&job) {
        words.extend([format!("--bwavgtime={window_ms}"), format!("--iopsavgtime={window_ms}")]);
    }
    Ok(ProfileLine { files: files(&job)?, only_writes: !job.pattern.access.reads, words, shortened, job })
}

/// A shorter window for a test that would have few of the usual ones: its rates then get an interval.
fn window_ms(job: &Job) -> Option<u64> {
    let runtime_ms = job.extent.runtime_ns / 1_000_000;
    let window_ms = if runtime_ms == 0 { WINDOW_MS_MIN } else { (runtime_ms / WINDOWS).max(WINDOW_MS_MIN) };
    (window_ms < WINDOW_MS_USUAL).then_some(window_ms)
}

/// The files and bytes of a job whose files do not exist yet.
fn files(job: &Job) -> Result<BTreeMap<PathBuf, u64>, Problem> {
    let plan = fsdyno_run::plan::plan(std::slice::from_ref(job), &HostFacts::default(), 0);
    if let Some(reason) = plan.rejections.first() {
        return Err(Problem::new(reason.clone()));
    }
    let mut files = BTreeMap::new();
    for worker in &plan.workers {
        for file in &worker.files {
            let end: &mut u64 = files.entry(file.path.to_path_buf()).or_default();
            *end = (*end).max(file.start + file.length);
        }
    }
    Ok(files)
}

/// Appends the options that shorten the job: the last of equal options is used.
fn shorten(words: &mut Vec<String>, job: &Job, shortening: Shortening) -> Vec<ShortenedValue> {
    let mut changes = Vec::new();
    let scale = shortening.runtime_scale.unwrap_or(1.0);
    let scaled_ms = |ns: u64| ((ns / 1_000_000) as f64 * scale).ceil() as u64;
    let (runtime_ms, ramp_ms) = (job.extent.runtime_ns / 1_000_000, job.extent.ramp_ns / 1_000_000);
    let most_ms = shortening.runtime_s_max.map_or(u64::MAX, |seconds| seconds * 1000);
    let wanted_ms = match runtime_ms {
        0 => shortening.runtime_s_max.map(|_| most_ms),
        _ => Some(scaled_ms(job.extent.runtime_ns).clamp(1, most_ms)),
    };
    if let Some(wanted_ms) = wanted_ms.filter(|wanted_ms| *wanted_ms != runtime_ms) {
        words.push(format!("--runtime={wanted_ms}ms"));
        let from = (runtime_ms > 0).then(|| seconds_text(runtime_ms));
        changes.push(ShortenedValue { from, to: seconds_text(wanted_ms) });
    }
    // A long ramp would take most of a shortened run.
    let wanted_ramp_ms = scaled_ms(job.extent.ramp_ns).min(most_ms / 10);
    if wanted_ramp_ms < ramp_ms {
        words.push(format!("--ramp_time={wanted_ramp_ms}ms"));
    }
    let block = block_bytes(job);
    if let Some(most) = shortening.size_bytes_max.map(|most| most.max(block)) {
        let size = match job.files.size {
            Some(Amount::Bytes(size)) if size > most => Some(("size", size)),
            _ => job.files.file_size.filter(|(_, largest)| *largest > most).map(|(_, largest)| ("filesize", largest)),
        };
        if let Some((option, size)) = size {
            words.push(format!("--{option}={most}"));
            changes.push(ShortenedValue { from: Some(size_text(size)), to: size_text(most) });
        }
    }
    changes
}

/// A size in the form of profiles: `64 MiB`, `4 GiB`.
fn size_text(bytes: u64) -> String {
    let gib = 1 << 30;
    if bytes >= gib && bytes.is_multiple_of(gib) {
        format!("{} GiB", bytes / gib)
    } else {
        format!("{} MiB", bytes >> 20)
    }
}

fn seconds_text(ms: u64) -> String {
    format!("{} s", ms as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_string).collect()
    }

    fn prepared(line: &str, shortening: Shortening) -> ProfileLine {
        prepare(&words(line), Path::new("/d"), Path::new("/d/f"), shortening).unwrap()
    }

    fn in_words(line: &ProfileLine) -> Vec<String> {
        line.shortened.iter().map(ShortenedValue::to_string).collect()
    }

    const ETCD: &str = "--name=wal --directory={dir} --rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300";
    const MIXED: &str =
        "--name=a --filename={file} --rw=randrw --bs=4k --size=4g --runtime=60 --time_based --ramp_time=5";

    #[test]
    fn the_vendors_words_stay_as_they_are() {
        let line = prepared(ETCD, Shortening::default());
        let expected = words(&ETCD.replace("{dir}", "/d"));
        assert_eq!(line.words[..expected.len()], expected);
        // The added options only change how rates are reported, not the I/O.
        assert_eq!(line.words[expected.len()..], ["--bwavgtime=50", "--iopsavgtime=50"]);
        assert!(line.shortened.is_empty());
        assert!(line.only_writes);
        assert_eq!(line.files, BTreeMap::from([(PathBuf::from("/d/wal.0.0"), 22 << 20)]));
        let long = prepared(MIXED, Shortening::default());
        assert_eq!(long.words, words(&MIXED.replace("{file}", "/d/f")));
        assert!(!long.only_writes);
    }

    #[test]
    fn each_clone_in_a_directory_has_its_file() {
        let line = prepared("--name=a --directory={dir} --rw=write --size=1m --numjobs=3", Shortening::default());
        assert_eq!((line.files.len(), line.files.values().sum::<u64>()), (3, 3 << 20));
    }

    #[test]
    fn quick_shortens_and_says_what() {
        let line = prepared(MIXED, Shortening::QUICK);
        assert_eq!(in_words(&line), ["3 s instead of 60 s", "64 MiB instead of 4 GiB"]);
        assert_eq!(line.files[Path::new("/d/f")], 64 << 20);
        let job = one_job(&line.words).unwrap();
        assert_eq!((job.extent.runtime_ns, job.extent.ramp_ns), (3_000_000_000, 300_000_000));
        assert_eq!(job.reporting.iops_window_ms, 150);
        assert_eq!(in_words(&prepared(ETCD, Shortening::QUICK)), ["at most 3 s"]);
    }

    #[test]
    fn a_title_has_the_length_and_the_size_that_are_run() {
        let line = prepared(MIXED, Shortening::QUICK);
        let of = |words| title(words, &line.shortened);
        assert_eq!(of("the same for 60 s"), "the same for 3 s");
        assert_eq!(of("one file of 4 GiB, 1 job, 60 s, 160 s"), "one file of 64 MiB, 1 job, 3 s, 160 s");
        assert_eq!(title("the same for 60 s", &prepared(ETCD, Shortening::QUICK).shortened), "the same for 60 s");
        assert_eq!(title("the same for 60 s", &[]), "the same for 60 s");
    }

    #[test]
    fn runtimes_scale() {
        let line = prepared(MIXED, Shortening { runtime_scale: Some(0.1), ..Shortening::default() });
        assert_eq!(in_words(&line), ["6 s instead of 60 s"]);
        let job = one_job(&line.words).unwrap();
        assert_eq!((job.extent.runtime_ns, job.extent.ramp_ns), (6_000_000_000, 500_000_000));
    }

    #[test]
    fn a_cap_holds_at_least_one_block() {
        let line = prepared(
            "--name=a --filename={file} --rw=write --bs=1m --size=8m",
            Shortening { size_bytes_max: Some(4096), ..Shortening::default() },
        );
        assert_eq!(line.files[Path::new("/d/f")], 1 << 20);
    }

    #[test]
    fn words_that_are_no_test_are_refused() {
        let refused = |line| check(&words(line)).unwrap_err();
        assert!(refused("--name=a --rw=read --size=1m").contains("{dir}"));
        assert!(refused("--name=a --directory={dir} --rw=raed --size=1m").contains("raed"));
        assert!(refused("--name=a --directory={dir} --size=1m --name=b --size=1m").contains("2 jobs"));
        assert!(refused("--directory={dir} --version").contains("no run"));
    }

    #[test]
    fn figures_that_a_test_cannot_give_are_known() {
        let missing = |line: &str, metric| missing_figure(&words(line), Metric::parse(metric).unwrap());
        assert_eq!(missing(ETCD, "sync.lat.p99"), None);
        assert_eq!(missing(ETCD, "read.iops"), Some("its test reads nothing"));
        assert!(missing(MIXED, "sync.lat.p99").is_some());
        assert!(missing(MIXED, "read.response.p99").is_some());
        assert!(missing(MIXED, "small-read.elapsed").is_some());
    }
}
