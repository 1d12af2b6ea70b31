//! A made-up machine, and plans for it.

use std::collections::HashMap;
use std::path::PathBuf;

use fsdyno_job::{Job, Machine, Outcome, Sources};
use fsdyno_probe::{DeviceUse, FileKind, HostFacts, PathFacts};
use fsdyno_run::plan::{LayoutMethod, Plan};

/// The files of the machine. Other paths are missing files.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) facts: HostFacts,
    job_files: JobFiles,
}

#[derive(Default)]
struct JobFiles(HashMap<String, String>);

impl Sources for JobFiles {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "No such file or directory".to_owned())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn machine(&self) -> Machine {
        Machine { page_bytes: 4096, memory_mib: 8000, processors: 2 }
    }
}

impl World {
    pub(crate) fn new() -> World {
        World::default()
    }

    fn with(mut self, path: &str, facts: PathFacts) -> World {
        self.facts.paths.insert(std::path::Path::new(path).into(), facts.into());
        self
    }

    /// A regular file of this number of bytes.
    pub(crate) fn file(self, path: &str, bytes: u64) -> World {
        self.with(path, PathFacts { kind: FileKind::Regular, size_bytes: Some(bytes), ..PathFacts::default() })
    }

    /// Something that is neither a file nor a device.
    pub(crate) fn other(self, path: &str, kind: FileKind) -> World {
        self.with(path, PathFacts { kind, ..PathFacts::default() })
    }

    /// A block device of this size, which is unused, or mounted somewhere.
    pub(crate) fn device(self, path: &str, bytes: u64, mounted_at: Option<&str>) -> World {
        let mounted_at = mounted_at.into_iter().map(PathBuf::from).collect();
        self.device_with(path, bytes, DeviceUse { mounted_at, ..DeviceUse::default() })
    }

    /// An unused block device that contains something.
    pub(crate) fn signed_device(self, path: &str, bytes: u64, holds: &str) -> World {
        self.device_with(path, bytes, DeviceUse { holds: Some(holds.to_owned()), ..DeviceUse::default() })
    }

    fn device_with(self, path: &str, bytes: u64, device_use: DeviceUse) -> World {
        let kind = FileKind::BlockDevice;
        self.with(
            path,
            PathFacts { kind, size_bytes: Some(bytes), device_use: Some(device_use), ..PathFacts::default() },
        )
    }

    /// A job file that the command line may name.
    pub(crate) fn job_file(mut self, path: &str, text: &str) -> World {
        self.job_files.0.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The jobs of a command line.
    #[track_caller]
    pub(crate) fn jobs(&mut self, words: &str) -> Vec<Job> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        match fsdyno_job::parse_command_line(&words, &mut self.job_files) {
            Outcome::Run(request) => request.jobs,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    /// The plan for a command line.
    #[track_caller]
    pub(crate) fn plan(&mut self, words: &str) -> Plan {
        let jobs = self.jobs(words);
        fsdyno_run::plan::plan(&jobs, &self.facts, 1)
    }
}

/// A plan on a machine without files.
#[track_caller]
pub(crate) fn plan(words: &str) -> Plan {
    World::new().plan(words)
}

/// First byte and length of each range of the first worker's files.
pub(crate) fn ranges(plan: &Plan) -> Vec<(u64, u64)> {
    plan.workers[0].files.iter().map(|file| (file.start, file.length)).collect()
}

/// Worker, path, bytes and method of each file that is made.
pub(crate) fn layouts(plan: &Plan) -> Vec<(usize, String, u64, LayoutMethod)> {
    let files = plan.layouts.iter().flat_map(|step| step.files.iter().map(|file| (step.worker, file)));
    files.map(|(worker, (path, bytes, make))| (worker, path.display().to_string(), *bytes, *make)).collect()
}

/// The message why the first worker cannot run.
#[track_caller]
pub(crate) fn refusal(plan: &Plan) -> &str {
    &plan.workers[0].refused.as_ref().expect("the first worker is refused").message
}
