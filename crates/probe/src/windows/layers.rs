//! Counters of the layers below the application: this process, its disks, the processors.

use std::io::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fsdyno_os::machine::{self, DiskCounters};
use fsdyno_results::evidence::{
    DeviceCounters, LayerCounters, MachineEvidence, ProcessCounters, RecordedFact, StorageClass, SystemCounters,
    WireCounters,
};
use fsdyno_results::{DiskRecord, ReadWrite};

use super::network::WireMeter;
use super::{Look, disks, not_read, not_there, volumes};
use crate::{Fact, NotVisible, Reading};

/// Steps of 100 ns in a millisecond.
const STEPS_PER_MS: u64 = 10_000;

/// Time in which the calling thread waited for a processor: Windows does not report it.
pub fn wait_of_this_thread_ns() -> Option<u64> {
    None
}

/// Would count the disks behind a set of files; as in fio, reports of Windows have no lines about disks.
#[derive(Debug)]
pub struct DiskWatch(());

impl DiskWatch {
    /// Finds no disks.
    pub fn begin(_look: &Look, _paths: impl IntoIterator<Item = PathBuf>) -> DiskWatch {
        DiskWatch(())
    }

    /// Always empty.
    pub fn finish(&self, _elapsed: Duration) -> Vec<DiskRecord> {
        Vec::new()
    }
}

/// Counts the traffic of the layers behind a set of files.
#[derive(Debug)]
pub struct Meters {
    may_block: bool,
    /// Counters of the process at the first reading.
    process: Option<ProcessCounters>,
    disks: Fact<Vec<Metered>>,
    wire: Fact<WireMeter>,
}

/// A disk and its counters at the first reading.
#[derive(Debug)]
struct Metered {
    number: u32,
    first: Option<DiskCounters>,
}

impl Meters {
    /// Finds the disks behind the files, which need not exist yet. `interfaces`: the network interfaces towards the
    /// servers of the files; empty: not known.
    pub fn begin(_look: Look, paths: &[PathBuf], interfaces: &[String]) -> Meters {
        let local = |path: &PathBuf| matches!(volumes::class_of(path), StorageClass::Block | StorageClass::Memory);
        Meters {
            may_block: !paths.iter().all(local),
            process: None,
            disks: metered(paths),
            wire: WireMeter::begin(paths, interfaces),
        }
    }

    /// Reads everything once.
    pub fn read(&mut self) -> Reading {
        Reading {
            process: self.process().into(),
            devices: self.devices().into(),
            stacked_devices: Vec::new(),
            group: None,
            wire: self.wire().into(),
            system: system(),
        }
    }

    /// Windows counts the bytes of calls, also of the engines, but not the part of them that reached a disk. For
    /// unbuffered files both are the same; for others it is an upper bound.
    fn process(&mut self) -> Fact<ProcessCounters> {
        let bytes = machine::process_bytes().map_err(|code| hidden("I/O counters of the process", code))?;
        let bytes = ReadWrite::from(bytes);
        let cpu_ns = machine::process_time().map_or(0, |time| time.as_nanos() as u64);
        let now = ProcessCounters { call_bytes: bytes, storage_bytes: bytes, cpu_ns };
        let first = *self.process.get_or_insert(now);
        let grown = now.call_bytes.since(first.call_bytes);
        Ok(ProcessCounters { call_bytes: grown, storage_bytes: grown, cpu_ns: cpu_ns.saturating_sub(first.cpu_ns) })
    }

    fn devices(&mut self) -> Fact<Vec<DeviceCounters>> {
        let disks = self.disks.as_mut().map_err(|reason| reason.clone())?;
        disks.iter_mut().map(Metered::read).collect()
    }

    fn wire(&mut self) -> Fact<WireCounters> {
        self.wire.as_mut().map_err(|reason| reason.clone())?.read()
    }

    /// Files behind devices are not visible.
    pub fn count_images(&self, _reading: &mut Reading) {}

    /// Control groups exist only on Linux.
    pub fn io_limits(&self) -> RecordedFact<Vec<String>> {
        RecordedFact::NotVisible(not_read("I/O limits of the job object").to_string())
    }

    /// Whether a look at one of the files may wait for something that does not answer: a server, or an unknown drive.
    pub fn may_block(&self) -> bool {
        self.may_block
    }

    /// The type of the filesystem that a path is on.
    pub fn fstype_of(&self, path: &Path) -> Option<String> {
        volumes::mount_of(path).ok().map(|mount| mount.fstype)
    }

    /// Facts about the machine: clock, processors, memory.
    pub fn machine(&self) -> MachineEvidence {
        MachineEvidence {
            clock_source: None,
            governor: machine::power_plan().map(|plan| format!("{plan} (power plan)")),
            generator_floor_ns: None,
            foreign_bytes_per_s: RecordedFact::default(),
            memory_bytes: machine::memory().map(|(total, _)| total),
            cgroup_memory_bytes: RecordedFact::NotVisible(not_there("control groups").to_string()),
        }
    }
}

fn hidden(place: impl Into<String>, code: i32) -> NotVisible {
    NotVisible::new(place.into(), Error::from_raw_os_error(code))
}

/// Each disk counts once. If the disks of one file are hidden, the disks of all files are not visible, because a part
/// would look like the whole.
fn metered(paths: &[PathBuf]) -> Fact<Vec<Metered>> {
    let mut numbers: Vec<u32> = Vec::new();
    for path in paths {
        let more = volumes::disks_behind(path)?;
        numbers.extend(more.into_iter().filter(|number| !numbers.contains(number)).collect::<Vec<_>>());
    }
    Ok(numbers.into_iter().map(|number| Metered { number, first: None }).collect())
}

impl Metered {
    fn read(&mut self) -> Fact<DeviceCounters> {
        let name = disks::name(self.number);
        let now = machine::disk_counters(self.number)
            .map_err(|code| hidden(format!("performance counters of {name} (diskperf -y turns them on)"), code))?;
        let first = *self.first.get_or_insert(now);
        Ok(grown(name, &first, &now))
    }
}

/// Traffic of a disk between two looks.
fn grown(name: String, first: &DiskCounters, now: &DiskCounters) -> DeviceCounters {
    let since = |before: [u64; 2], after: [u64; 2]| ReadWrite::from(after).since(before.into());
    let steps = since(first.time, now.time);
    let elapsed = now.now.saturating_sub(first.now);
    let operations = |index: usize| u64::from(now.operations[index].wrapping_sub(first.operations[index]));
    DeviceCounters {
        name,
        done: LayerCounters { bytes: since(first.bytes, now.bytes), operations: [operations(0), operations(1)].into() },
        request_ms: steps.map(|steps| steps / STEPS_PER_MS),
        busy_ms: elapsed.saturating_sub(now.idle.saturating_sub(first.idle)) / STEPS_PER_MS,
        weighted_ms: (steps.read + steps.write) / STEPS_PER_MS,
        ..DeviceCounters::default()
    }
}

fn system() -> SystemCounters {
    let ms = |time: Duration| u64::try_from(time.as_millis()).ok();
    let times = machine::system_times();
    SystemCounters {
        available_bytes: machine::memory().map(|(_, available)| available),
        busy_ms: times.and_then(|(idle, all)| ms(all.saturating_sub(idle))),
        total_ms: times.and_then(|(_, all)| ms(all)),
        ..SystemCounters::default()
    }
}
