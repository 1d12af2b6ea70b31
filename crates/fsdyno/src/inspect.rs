//! `fsdyno inspect`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fsdyno_guide::Problem;
use fsdyno_guide::study::check_places;
use fsdyno_guide::work_directory::type_matches;
use fsdyno_results::evidence::{RecordedFact, Storage};

use crate::process::VERSION;
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, print_first_page, refused};
use crate::process::supervisor::supervised;

#[cfg(all(feature = "object", target_os = "linux"))]
mod store;

/// What storage is below a path: filesystem, server, devices, limits; reads and writes no file data.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A file, a directory, a mount point, a block device, or an object store: s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// One JSON document instead of text.
    #[arg(long)]
    json: bool,
    /// Exit status 2 if the path is not on this type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    expect: Option<String>,
}

impl Inspect {
    pub(crate) fn run(self) -> ExitCode {
        // A mount that does not answer is given up, but its thread may stay in the kernel.
        ExitCode::from(supervised(|| self.answer()))
    }

    fn answer(&self) -> u8 {
        if let Err(problem) = check_places("inspect", 1, self.path.to_str().into_iter()) {
            return refused(&problem);
        }
        #[cfg(all(feature = "object", target_os = "linux"))]
        if let Some(place) = Some(fsdyno_guide::study::Place::at(&self.path)).filter(|place| place.is_object_store()) {
            return store::answer(&place, self.json, self.expect.as_deref());
        }
        let storage = fsdyno_probe::storage_of(&self.path);
        if let Err(problem) = check(&storage, self.expect.as_deref()) {
            return refused(&problem);
        }
        let host = fsdyno_probe::host();
        let printed = if self.json {
            print(&fsdyno_present::inspect::json(&storage, &host, VERSION))
        } else {
            let page = fsdyno_present::inspect::text(&storage, &host, columns());
            print_first_page(&page, &["fsdyno", "inspect", &storage.asked_path])
        };
        if printed { 0 } else { UNUSABLE }
    }
}

/// Refuses a path that cannot exist, or that is not on the expected filesystem.
fn check(storage: &Storage, expected: Option<&str>) -> Result<(), Problem> {
    let path = &storage.asked_path;
    if let (RecordedFact::Value(false), RecordedFact::NotVisible(reason)) = (&storage.exists, &storage.resolved_path) {
        return Err(Problem::new(format!("`{path}` cannot be a path ({reason})"))
            .with_next("use a file, a directory, a mount point or a block device"));
    }
    let Some(expected) = expected else { return Ok(()) };
    let mount = match &storage.mount {
        RecordedFact::Value(mount) => mount,
        RecordedFact::NotVisible(reason) => {
            return Err(Problem::new(format!("{path} should be {expected}, but its mount is not visible: {reason}")));
        }
    };
    if type_matches(&mount.fstype, expected) {
        return Ok(());
    }
    Err(Problem::new(format!(
        "{path} should be {expected}, but it is {} from {}, mounted at {}",
        mount.fstype,
        mount.source,
        mount.mount_point.display()
    ))
    .with_next(format!(
        "check that the {expected} filesystem is mounted (findmnt): an empty mount point belongs to its parent's \
         filesystem"
    )))
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::Mount;

    use super::*;

    fn on(fstype: &str) -> Storage {
        let mount =
            Mount { mount_point: "/mnt".into(), source: "nas:/x".into(), fstype: fstype.into(), ..Mount::default() };
        Storage { asked_path: "/mnt/x".into(), mount: RecordedFact::Value(mount), ..Storage::default() }
    }

    #[test]
    fn an_expectation_is_met_or_refused() {
        assert!(check(&on("nfs4"), Some("nfs")).is_ok() && check(&on("fuse.s3fs"), Some("s3fs")).is_ok());
        assert!(check(&on("ext4"), None).is_ok());
        let refused = check(&on("tmpfs"), Some("nfs")).unwrap_err();
        assert_eq!(refused.what, "/mnt/x should be nfs, but it is tmpfs from nas:/x, mounted at /mnt");
        assert!(refused.next.is_some_and(|next| next.contains("empty mount point")));
        assert!(check(&on("nfs4"), Some("")).is_err(), "an empty variable of a script expects nothing");
        assert!(check(&Storage::default(), Some("nfs")).is_err(), "not visible is not as expected");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let storage = Storage {
            exists: RecordedFact::Value(false),
            resolved_path: RecordedFact::NotVisible("stat a/b: Not a directory".into()),
            ..on("ext4")
        };
        assert!(check(&storage, None).unwrap_err().what.contains("Not a directory"));
        let missing = Storage { resolved_path: RecordedFact::Value("/mnt".into()), ..storage };
        assert!(check(&missing, None).is_ok());
    }
}
