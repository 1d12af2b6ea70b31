//! Tests machines that influence the figures: T20, T21, T24.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use fsdyno_results::Severity;

use crate::bench::{Bench, Run};
use testkit::stack::{inside, place, show};
use testkit::word;
use testkit::{shell, skip};

/// A control group with a limit; this process is in it until it is dropped.
struct Held {
    group: PathBuf,
}

impl Held {
    /// A limit of a fifth of a CPU.
    fn processor() -> Option<Held> {
        Held::new("cpu", [("cpu.cfs_quota_us", "20000"), ("cpu.max", "20000 100000")])
    }

    fn memory(bytes: &str) -> Option<Held> {
        Held::new("memory", [("memory.limit_in_bytes", bytes), ("memory.max", bytes)])
    }

    /// File and value in both versions of control groups. `None`: no limit is possible here; the reason is printed.
    fn new(controller: &str, [old, new]: [(&str, &str); 2]) -> Option<Held> {
        let name = format!("fsdyno-test-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let (group, (file, value)) = match root.join(controller).join("tasks").exists() {
            true => (root.join(controller).join(name), old),
            false => (root.join(name), new),
        };
        if let Err(error) = std::fs::create_dir(&group) {
            skip(&format!("no control group can be made: {error}"));
            return None;
        }
        let held = Held { group };
        let limited = std::fs::write(held.group.join(file), value).and_then(|()| enter(&held.group));
        if let Err(error) = &limited {
            skip(&format!("{controller} cannot be limited: {error}"));
        }
        limited.is_ok().then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Only an empty group can be removed; one that was never entered is empty.
        let left = self.group.parent().map_or(Ok(()), enter).and_then(|()| std::fs::remove_dir(&self.group));
        if let Err(error) = left {
            skip(&format!("the control group could not be removed: {error}"));
        }
    }
}

/// Moves this process into the group.
fn enter(group: &Path) -> std::io::Result<()> {
    std::fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

#[test]
fn a_processor_limit() {
    inside("machine::a_processor_limit", "tmpfs --size-mb 256", || {
        let file = place("LAB_LOCAL").join("file");
        let line =
            format!("--name=job --filename={} --rw=randread --bs=4k --size=64m --time_based --runtime=2", word(&file));
        let run = || Bench::new().fio(&line);
        let blamed = |run: &Run| run.finding("cpu-starved").is_some_and(|found| found.cause.contains("control group"));
        assert!(!blamed(&run()), "nobody limits it yet");
        let Some(_held) = Held::processor() else { return };
        let starved = run();
        starved.caution("cpu-starved");
        assert!(blamed(&starved), "{:#?}", starved.record.findings);
    });
}

/// A file of which a control group's memory holds half, read repeatedly.
#[test]
fn a_memory_limit() {
    inside("machine::a_memory_limit", "ext4 --size-mb 256", || {
        let file = place("LAB_LOCAL").join("file");
        let fill = format!("dd if=/dev/urandom of={0} bs=1M count=160 conv=fsync status=none", word(&file));
        shell(&fill);
        let words =
            format!("--name=job --filename={} --rw=read --bs=64k --size=160m --time_based --runtime=3", word(&file));
        Bench::new().fio(&words).silent(&["memory-limit"]);
        let Some(_held) = Held::memory("100663296") else { return };
        // Pages belong to the group that read them first.
        shell(&format!("rm {}; {fill}", word(&file)));
        let evicted = Bench::new().fio(&words);
        let cause = &evicted.caution("memory-limit").cause;
        show(cause);
        assert!(cause.contains("the control group may use 96.0 MiB (memory.max, memory.high, or"), "{cause}");
    });
}

/// Four busy loops for each CPU, until it is dropped.
pub(crate) struct BusyLoops(Vec<Child>);

impl BusyLoops {
    pub(crate) fn new() -> BusyLoops {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || Command::new("bash").args(["-c", "while :; do :; done"]).spawn().expect("bash runs");
        BusyLoops((0..4 * processors).map(|_| spin()).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for one in &mut self.0 {
            if one.kill().and_then(|()| one.wait()).is_err() {
                skip("a loop of the crowd could not be ended");
            }
        }
    }
}

#[test]
fn others_on_the_processors() {
    inside("machine::others_on_the_processors", "tmpfs --size-mb 256", || {
        let file = place("LAB_LOCAL").join("file");
        let line =
            format!("--name=job --filename={} --rw=randread --bs=4k --size=64m --time_based --runtime=2", word(&file));
        let before_others = BeforeOthers::new();
        Bench::new().fio(&line).silent(&["cpu-starved"]);
        drop(before_others);
        let crowd = BusyLoops::new();
        let starved = Bench::new().fio(&line);
        drop(crowd);
        starved.caution("cpu-starved");
        let cause = &starved.finding("cpu-starved").expect("just seen").cause;
        assert!(cause.contains("other processes"), "{cause}");
    });
}

/// A daemon that serves the run on the same CPUs is the storage, and does not take CPU time from it.
#[test]
fn a_daemon_on_the_processors() {
    inside("machine::a_daemon_on_the_processors", "fuse", || {
        let file = place("LAB_FUSE").join("file");
        let ran = Bench::new().fio(&format!(
            "--name=job --filename={} --rw=randread --bs=16k --size=64m --direct=1 --ioengine=libaio --iodepth=16 \
             --time_based --runtime=3",
            word(&file)
        ));
        match ran.finding("cpu-starved") {
            Some(finding) if finding.cause.contains("daemon") => assert_eq!(finding.severity, Severity::Info),
            Some(finding) => skip(&format!("the machine is busy: {}", finding.cause)),
            None => show("it never waited"),
        }
    });
}

/// A power-saving governor. Virtual machines show none, so a folder replaces the kernel's, which the program reads in
/// the same way.
#[test]
fn a_governor_that_saves() {
    inside("machine::a_governor_that_saves", "ext4 --size-mb 256", || {
        let file = place("LAB_LOCAL").join("file");
        // Slow enough for a CPU to sleep between requests, which readahead serves in some µs each.
        let line = format!(
            "--name=job --filename={} --rw=read --bs=4k --size=8m --time_based --runtime=2 --rate_iops=400",
            word(&file)
        );
        let with = |governor: &str| {
            let processor = "/sys/devices/system/cpu/cpu0";
            shell(&format!(
                "mount -t tmpfs none {processor} && mkdir {processor}/cpufreq && \
                 echo {governor} > {processor}/cpufreq/scaling_governor"
            ));
            let run = Bench::new().fio(&line);
            shell(&format!("umount {processor}"));
            run
        };
        let saving = with("powersave");
        let finding = saving.caution("power-saving");
        assert!(finding.cause.contains("CPU governor is powersave"), "{}", finding.cause);
        with("performance").silent(&["power-saving"]);
    });
}

/// A clock that needs a system call, as the guests' does: two readings take most of a small request, and nothing of a
/// large one.
#[test]
fn a_slow_clock() {
    inside("machine::a_slow_clock", "dm", || {
        let file = place("LAB_LOCAL").join("file");
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=16 status=none", word(&file)));
        let reads = |bs: &str| {
            let job = format!("--name=job --filename={} --rw=read --bs={bs} --size=16m", word(&file));
            Bench::new().fio(&format!("{job} --time_based --runtime=1"))
        };
        let small = reads("4k");
        let finding = small.caution("clock");
        assert!(finding.cause.contains("reading the clock (clock_gettime"), "{}", finding.cause);
        reads("16m").silent(&["clock"]);
    });
}

/// Direct reads of a volume of the device mapper.
fn read_of(volume: &str) -> Run {
    let job = format!("--name=job --filename=/dev/mapper/{volume} --rw=randread --bs=64k --size=32m --direct=1");
    Bench::new().fio(&format!("{job} --time_based --runtime=1 --readonly"))
}

/// A thin volume that was never written, whatever its name; and the same written. The finding is likely, and never more
/// than a caution.
#[test]
fn a_thin_volume() {
    inside("machine::a_thin_volume", "dm", || {
        shell(THIN);
        let empty = read_of("volume");
        let cause = &empty.caution("thin-blocks").cause;
        assert!(cause.contains(": thin volume volume)") && cause.contains("only 0 B delivered"), "{cause}");
        assert!(cause.contains("likely"), "{cause}");
        empty.silent(&["direct-not-honoured"]);
        shell("mv /dev/mapper/control /dev/mapper/away");
        let unseen = read_of("volume");
        shell("mv /dev/mapper/away /dev/mapper/control");
        let cause = &unseen.caution("thin-blocks").cause;
        assert!(cause.contains("of a kind that is not visible (No such file"), "{cause}");
        unseen.silent(&["direct-not-honoured"]);
        shell("dd if=/dev/urandom of=/dev/mapper/volume bs=1M count=32 oflag=direct status=none");
        read_of("volume").silent(&["thin-blocks", "direct-not-honoured"]);
        // A volume is not thin because of its name.
        let linear = read_of("thinnest");
        linear.silent(&["thin-blocks", "direct-not-honoured"]);
        let cause = &linear.caution("memory-storage").cause;
        assert!(cause.contains(" on loop") && cause.contains(" on tmpfs)"), "down to the lowest layer: {cause}");
        shell("modprobe -d /dev/shm/modules brd rd_size=32768; [ -e /dev/ram0 ] || mknod /dev/ram0 b 1 0");
        shell("dmsetup create memory --table '0 65536 linear /dev/ram0 0'; dmsetup mknodes");
        let memory = read_of("memory");
        assert!(memory.caution("memory-storage").cause.contains(" on ram0)"), "{}", memory.stderr);
    });
}

/// Makes a thin volume and a linear one, on a written disk in the guest's memory. The guest's modules are not where its
/// modprobe looks, and only dmsetup makes device nodes there.
const THIN: &str = r#"set -e; mkdir -p /dev/shm/modules/lib; ln -s /usr/lib/uml/modules /dev/shm/modules/lib/modules
    modprobe -d /dev/shm/modules dm-thin-pool; modprobe -d /dev/shm/modules loop; cd /dev/shm
    fallocate -l 96M data; fallocate -l 8M meta; data=$(losetup -f --show data); meta=$(losetup -f --show meta)
    dmsetup create pool --table "0 196608 thin-pool $meta $data 128 0"; dmsetup mknodes
    dmsetup message pool 0 'create_thin 0'
    pool=$(dmsetup info -c --noheadings --separator : -o major,minor pool)
    dmsetup create volume --table "0 131072 thin $pool 0"
    dd if=/dev/urandom of=disk bs=1M count=32 status=none; disk=$(losetup -f --show disk)
    dmsetup create thinnest --table "0 65536 linear $disk 0"; dmsetup mknodes"#;

/// A block cache that takes all writes, and the disk behind it.
#[test]
fn a_cache_of_blocks() {
    inside("machine::a_cache_of_blocks", "dm", || {
        shell(WRITECACHE);
        let write = |device: &str| {
            let words = "--rw=write --bs=64k --size=8m --direct=1 --fsync=16 --allow_mounted_write=1";
            Bench::new().fio(&format!("--name=job --filename=/dev/mapper/{device} {words}"))
        };
        let cached = write("cached");
        let cause = &cached.caution("host-cache").cause;
        assert!(cause.contains("a cache of blocks (dm-writecache)"), "{cause}");
        shell(
            "dmsetup remove cached; dmsetup create plain --table \"0 131072 linear $(cat /dev/shm/origin) 0\"; dmsetup mknodes",
        );
        write("plain").silent(&["host-cache"]);
    });
}

/// Makes a disk in the guest's memory with a cache in front of it.
const WRITECACHE: &str = r#"set -e; mkdir -p /dev/shm/modules/lib; ln -s /usr/lib/uml/modules /dev/shm/modules/lib/modules
    modprobe -d /dev/shm/modules dm-writecache; modprobe -d /dev/shm/modules loop; cd /dev/shm
    fallocate -l 64M disk; fallocate -l 32M fast; disk=$(losetup -f --show disk); fast=$(losetup -f --show fast)
    echo $disk > origin; dmsetup create cached --table "0 131072 writecache s $disk $fast 4096 0"; dmsetup mknodes"#;

/// A disk as fast as the CPU: compressed memory, whose requests are done by the asking thread.
struct FastDisk {
    number: String,
    mounted: PathBuf,
}

impl FastDisk {
    /// `None`: there is none here; the reason is printed.
    fn mount(at: PathBuf) -> Option<FastDisk> {
        let number = match std::fs::read_to_string("/sys/class/zram-control/hot_add") {
            Ok(number) => number.trim().to_owned(),
            Err(error) => {
                skip(&format!("no zram: {error}"));
                return None;
            }
        };
        let disk = FastDisk { number, mounted: at };
        let name = format!("zram{}", disk.number);
        shell(&format!(
            "set -e; echo 128M > /sys/block/{name}/disksize; mkfs.ext4 -q /dev/{name}; mount /dev/{name} {}",
            word(&disk.mounted)
        ));
        Some(disk)
    }
}

impl Drop for FastDisk {
    fn drop(&mut self) {
        // It may not be mounted. Programs that ran there, and the kernel, may take a moment to release it.
        let line = format!(
            "for attempt in $(seq 100); do umount /dev/zram{0}; echo {0} > /sys/class/zram-control/hot_remove && exit; \
             sleep 0.1; done 2>/dev/null; exit 1",
            self.number
        );
        if !Command::new("bash").args(["-c", &line]).status().is_ok_and(|status| status.success()) {
            skip(&format!("zram{} could not be removed", self.number));
        }
    }
}

/// Gives this thread, its session and their children a higher priority until it is dropped.
pub(crate) struct BeforeOthers;

impl BeforeOthers {
    pub(crate) fn new() -> BeforeOthers {
        set_nice("-19");
        BeforeOthers
    }
}

impl Drop for BeforeOthers {
    fn drop(&mut self) {
        set_nice("0");
    }
}

fn set_nice(nice: &str) {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    let number = thread.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let output = Command::new("renice").args(["-n", nice, "-p", number]).output();
    // Kernels without autogroup have no such file.
    let group = std::fs::write("/proc/self/autogroup", nice);
    show(&format!("nice {nice}: {}, of the session: {group:?}", output.is_ok_and(|output| output.status.success())));
}

#[test]
fn a_generator_at_its_end() {
    inside("machine::a_generator_at_its_end", "tmpfs --size-mb 64", || {
        let Some(disk) = FastDisk::mount(place("LAB_LOCAL")) else { return };
        let file = disk.mounted.join("file");
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=32 conv=fsync status=none", word(&file)));
        let job = format!(
            "--name=job --filename={} --rw=randread --bs=4k --size=32m --direct=1 --ioengine=io_uring --iodepth=16 \
             --time_based --runtime=2",
            word(&file)
        );
        let before_others = BeforeOthers::new();
        let bound = Bench::new().fio(&job);
        match bound.finding("generator-bound") {
            Some(finding) => assert!(finding.cause.contains("of CPU per I/O"), "{}", finding.cause),
            // If another program has the CPU, that is the limit, and is reported.
            None => {
                bound.caution("cpu-starved");
                skip("the machine is busy");
            }
        }
        drop(before_others);
        Bench::new().fio(&format!("{job} --rate_iops=1000")).silent(&["generator-bound"]);
    });
}
