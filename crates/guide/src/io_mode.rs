//! Chooses how the files of a path are opened: the engine, and direct I/O or not. A choice other than the usual
//! (libaio, direct) gets a note.

use fsdyno_job::EngineName;
use fsdyno_results::Severity;
use fsdyno_results::evidence::{DirectIo, Storage, StorageClass};

use crate::Problem;
use crate::study::StudyRun;

/// Engine and direct I/O of the runs on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoMode {
    /// The engine's name.
    pub engine: &'static str,
    /// Whether files are opened with O_DIRECT.
    pub direct: bool,
}

impl IoMode {
    /// Percentiles are of `lat`: a program also waits for the submission, which `clat` leaves out.
    pub(crate) const WHOLE_LATENCY: &'static str = "--lat_percentiles=1";

    /// The options for a command line.
    pub fn words(&self) -> [String; 3] {
        let direct = format!("--direct={}", u8::from(self.direct));
        [format!("--ioengine={}", self.engine), direct, IoMode::WHOLE_LATENCY.to_string()]
    }
}

/// The choices that replace the usual I/O mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestedIoMode {
    /// This engine instead of the usual one.
    pub engine: Option<EngineName>,
    /// The page cache instead of direct I/O.
    pub buffered: bool,
}

/// Chooses the I/O mode for a target of the study.
///
/// # Errors
/// When the engine cannot be used here, or no engine keeps several requests in flight.
pub fn of_place(study_run: &mut StudyRun<'_>, target: usize, wanted: RequestedIoMode) -> Result<IoMode, Problem> {
    let (engine, why_not) = match wanted.engine {
        None => engine()?,
        Some(name) => {
            let unavailable = |reason| Problem::new(format!("the engine {} cannot be used: {reason}", name.name()));
            available(name.name()).map_err(unavailable)?;
            (name.name(), None)
        }
    };
    if let Some(reason) = why_not {
        study_run.note("engine-chosen", Severity::Caution, format!("{engine} is used instead of libaio: {reason}"));
    }
    let target = &study_run.study.targets[target];
    let (name, class) = (target.name.clone(), target.storage.class);
    let refused = target.storage.direct_io.value() == Some(&DirectIo::Refused);
    let direct = !refused && class != StorageClass::Memory;
    if wanted.buffered {
        return Ok(IoMode { engine, direct: false });
    }
    if refused && class != StorageClass::Memory {
        let text = format!("{name} refuses direct I/O: all figures include this machine's page cache");
        study_run.note("direct-refused", Severity::Caution, text);
    }
    Ok(IoMode { engine, direct })
}

/// The usual engine here, and why it is not libaio.
fn engine() -> Result<(&'static str, Option<String>), Problem> {
    if EngineName::Windowsaio.is_of_this_system() {
        return Ok((EngineName::Windowsaio.name(), None));
    }
    let Err(libaio) = available("libaio") else { return Ok(("libaio", None)) };
    match available("io_uring") {
        Ok(()) => Ok(("io_uring", Some(libaio))),
        Err(uring) => {
            Err(Problem::new(format!("no asynchronous engine is available: libaio: {libaio}; io_uring: {uring}"))
                .with_next("run `fsdyno doctor` to see what this machine allows"))
        }
    }
}

fn available(name: &str) -> Result<(), String> {
    let name = EngineName::named(name).ok_or_else(|| "not built in".to_string())?;
    fsdyno_engine::availability(name).map_err(|reason| reason.to_string())
}

/// Bytes that files may take on a storage in memory: a quarter of what is available. `None`: the storage is not memory.
pub fn memory_for_files(storage: &Storage) -> Option<u64> {
    storage.in_memory()?;
    Some(fsdyno_probe::available_memory_bytes()? / 4)
}
