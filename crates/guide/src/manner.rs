//! In which manner a place can be asked: which engine, and with direct I/O or without. What differs from the usual
//! (libaio, direct) is noted.

use job::EngineName;
use results::Severity;
use results::evidence::{DirectIoIdentity, Storage, StorageClass};

use crate::Problem;
use crate::study::Asking;

/// The manner of the runs on one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The engine.
    pub engine: &'static str,
    /// O_DIRECT.
    pub direct: bool,
}

impl Manner {
    /// The words for a command line.
    pub fn words(&self) -> [String; 3] {
        // The time from start to reap is what a program would wait: handing a request over is a part of it.
        let whole_latency = "--lat_percentiles=1".to_string();
        [format!("--ioengine={}", self.engine), format!("--direct={}", u8::from(self.direct)), whole_latency]
    }
}

/// The manner for a target of the study.
///
/// # Errors
/// When no engine that keeps several requests in flight can be used.
pub fn of_place(asking: &mut Asking<'_>, target: usize) -> Result<Manner, Problem> {
    let (engine, why_not) = engine()?;
    if let Some(reason) = why_not {
        asking.note("engine-chosen", Severity::Caution, format!("{engine} is used instead of libaio: {reason}"));
    }
    let target = &asking.study.targets[target];
    let (name, class) = (target.name.clone(), target.storage.class);
    let refused = target.storage.direct_io.value() == Some(&DirectIoIdentity::Refused);
    let direct = !refused && class != StorageClass::Memory;
    if refused && class != StorageClass::Memory {
        let text = format!("{name} refuses direct I/O: all figures include this machine's page cache");
        asking.note("direct-refused", Severity::Caution, text);
    }
    Ok(Manner { engine, direct })
}

/// The engine, and why it is not libaio.
fn engine() -> Result<(&'static str, Option<String>), Problem> {
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
    engine::availability(name).map_err(|reason| reason.to_string())
}

/// Bytes that files may take on a filesystem in memory: a quarter of what is available. `None`: not in memory.
pub fn memory_for_files(storage: &Storage) -> Option<u64> {
    if storage.class != StorageClass::Memory {
        return None;
    }
    Some(probe::available_memory_bytes()? / 4)
}
