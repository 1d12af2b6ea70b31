//! Examines this machine.

use fsdyno_job::EngineName;
use fsdyno_os::clock::RealClock;
use fsdyno_probe::NotVisible;

use super::findings::{ClockFinding, EngineFinding, Findings};
use super::floor;

pub(super) fn look() -> Findings {
    let host = fsdyno_probe::host();
    let usable = std::thread::available_parallelism();
    Findings {
        version: crate::process::VERSION.to_owned(),
        debug_build: cfg!(debug_assertions),
        kernel: host.kernel.ok_or_else(|| NotVisible::new("uname", "it has no name")),
        processors_online: host.cpus.ok_or_else(|| NotVisible::new("list of CPUs", "it cannot be read")),
        processors_usable: usable
            .map(|count| u32::try_from(count.get()).unwrap_or(u32::MAX))
            .map_err(|error| NotVisible::new("sched_getaffinity", error)),
        memory_bytes: host.memory_bytes.ok_or_else(|| NotVisible::new("sysinfo", "the figure does not fit")),
        floors: floor::measure(),
        clock: clock(),
        engines: EngineName::all()
            .map(|name| EngineFinding {
                name,
                available: fsdyno_engine::availability(name).map_err(|error| error.to_string()),
            })
            .collect(),
        io_uring_features: fsdyno_engine::io_uring_features()
            .map(|names| names.into_iter().map(str::to_owned).collect())
            .map_err(|error| error.to_string()),
        limits: fsdyno_probe::limits(),
    }
}

fn clock() -> ClockFinding {
    let clock = RealClock::shared();
    ClockFinding {
        source: clock.source().to_string(),
        cost_ns: clock.cost_ns(),
        frequency_hz: clock.frequency_hz(),
        fallback_reason: clock.fallback_reason().map(str::to_owned),
    }
}
