//! `fsdyno check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_check::StoreUse;
use fsdyno_check::{CheckOptions, Library, LibraryProfile, Shortening, check, nominal_seconds};
use fsdyno_guide::Problem;
use fsdyno_guide::study::Place;
use fsdyno_present::tables::ListedProfile;
use serde_json::json;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, Shared, answer, size};
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::StoreLimits;
use super::stored::{ended, printed};
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print_first_page, refused};

/// Does the storage meet a published requirement? PASS or FAIL, with margin and source.
///
/// Each answer is PASS, FAIL, INCONCLUSIVE or NOT APPLICABLE, with the figure, its interval, the margin and the source.
/// The vendor's own test runs as it was published. An undecided test is repeated by itself, up to a cap. Figures that a
/// vendor shows as an example, or that somebody observed, are a REFERENCE and cannot fail.
///
/// Exit status: 0 when nothing failed and nothing is open, 1 when a requirement failed (or a test ended with an error),
/// 3 when none failed and one is INCONCLUSIVE, 2 when nothing could be checked.
#[derive(Debug, Args)]
#[command(override_usage = "fsdyno check [OPTIONS] PROFILE... PATH\n       fsdyno check --list\n       \
                            fsdyno check --show PROFILE")]
pub(crate) struct Check {
    /// One or more profiles, and a directory on the storage in question, or a bucket: s3://BUCKET or s3://BUCKET/PREFIX.
    #[arg(value_name = "PROFILE... PATH", num_args = 0.., hide = true)]
    words: Vec<String>,
    /// List the profiles.
    #[arg(long, conflicts_with = "words")]
    list: bool,
    /// Print a profile's TOML: its tests, its figures, its source.
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["words", "list"])]
    show: Option<String>,
    /// A folder of your own profiles (*.toml); a profile with the name of a built-in one replaces it.
    ///
    /// $XDG_CONFIG_HOME/fsdyno/profiles is always read.
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Judge the figures of this tier (the size that was bought or is planned); without this option they are
    /// references.
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,
    /// Stop repeating an undecided test after N seconds of measuring [default: six times its first run, at least 30; 9
    /// with --quick].
    #[arg(long, value_name = "N")]
    cap_seconds: Option<u64>,
    /// Take 3 s and 64 MiB for each test. The answers are then marked, because this is not the vendor's test.
    #[arg(long, conflicts_with_all = ["scale_runtime", "size_cap"])]
    quick: bool,
    /// Multiply all runtimes by this factor, above 0 and up to 1. The answers are then marked.
    #[arg(long, value_name = "F", value_parser = share)]
    scale_runtime: Option<f64>,
    /// Make no file larger than this, such as 1g. The answers are then marked.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size_cap: Option<u64>,
    /// Refuse to check anything but this type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    expect: Option<String>,
    /// Write the verdicts as JUnit's XML to this file; a requirement without PASS or FAIL is a skipped test.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    limits: StoreLimits,
    #[command(flatten)]
    shared: Shared,
}

/// Time limit for repetitions with --quick, s.
const QUICK_CAP_S: u64 = 9;

/// Parses a share: above 0, at most 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "a factor must be above 0 and at most 1, such as 0.1".to_string())
}

impl Check {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let library = Library::load(self.profiles.as_deref());
        if self.list {
            return ended(library.map(|library| self.listed(&library)));
        }
        if let Some(name) = &self.show {
            return ended(library.and_then(|library| library.find(name).map(|entry| self.profile(entry))));
        }
        let Some((path, profiles)) = self.words.split_last().filter(|(_, profiles)| !profiles.is_empty()) else {
            let problem = Problem::new("check needs a profile and a directory")
                .with_next("for example `fsdyno check etcd /var/lib/etcd`; `fsdyno check --list` shows all profiles");
            return ExitCode::from(refused(&problem));
        };
        let shortening = if self.quick {
            Shortening::QUICK
        } else {
            Shortening { runtime_scale: self.scale_runtime, runtime_s_max: None, size_bytes_max: self.size_cap }
        };
        let options = CheckOptions {
            profiles: profiles.to_vec(),
            shortening,
            cap_s: self.cap_seconds.or(self.quick.then_some(QUICK_CAP_S)),
            tier: self.tier.clone(),
            expected: self.expect.clone(),
            #[cfg(all(feature = "object", target_os = "linux"))]
            store: Some(StoreUse {
                with_objects: fsdyno_guide::objects::with_objects,
                requests_max: self.limits.budget,
                keeps: self.limits.versioned,
            }),
            #[cfg(not(all(feature = "object", target_os = "linux")))]
            store: None,
        };
        let place = Place::at(Path::new(path));
        let shared = Shared { junit: self.junit, ..self.shared };
        let asked = AskedQuestion::about(Question::Check, &place, Path::new(path), command);
        answer(&shared, asked, |caller| check(&place, &options, &library?, caller))
    }

    fn profile(&self, entry: &LibraryProfile) -> ExitCode {
        let LibraryProfile { profile, text, path } = entry;
        let path = path.as_ref().map(|path| fsdyno_job::bytes::shown(path));
        printed(&if self.shared.json {
            fsdyno_present::document(profile.title.as_str(), json!({"name": profile.name, "path": path, "toml": text}))
        } else {
            text.clone()
        })
    }

    fn listed(&self, library: &Library) -> ExitCode {
        let all: Vec<ListedProfile> = library.entries().iter().map(listed).collect();
        if self.shared.json {
            return printed(&fsdyno_present::tables::profiles_json(&all));
        }
        let page = fsdyno_present::tables::profiles(&all, columns());
        let is_printed = print_first_page(&page, &["fsdyno", "check", "--list"]);
        if is_printed { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
    }
}

fn listed(entry: &LibraryProfile) -> ListedProfile {
    let profile = &entry.profile;
    let (seconds, ends_by_bytes) = nominal_seconds(profile);
    ListedProfile {
        name: profile.name.clone(),
        title: profile.title.clone(),
        source: profile.source.title.clone(),
        read_on: profile.source.read_on.clone(),
        kind: profile.source.kind,
        seconds,
        ends_by_bytes,
        tiers: profile.tiers().into_iter().map(str::to_string).collect(),
        path: entry.path.as_ref().map(|path| fsdyno_job::bytes::shown(path)),
    }
}
