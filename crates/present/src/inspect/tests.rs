//! Tests the pages of storages that were written by hand.

use super::*;
use fsdyno_results::evidence::{Image, LayerKind};

fn host() -> Host {
    Host { kernel: Some("Linux 6.9.0".into()), cpus: Some(8), memory_bytes: Some(8_270_110_720), clock: None }
}

fn no_limits() -> CgroupIdentity {
    CgroupIdentity {
        memory_bytes: RecordedFact::Value(None),
        cpus: RecordedFact::Value(None),
        io: RecordedFact::Value(vec![]),
    }
}

fn mount(mount_point: &str, source: &str, fstype: &str, options: &str) -> RecordedFact<Mount> {
    RecordedFact::Value(Mount {
        mount_point: mount_point.into(),
        source: source.into(),
        fstype: fstype.into(),
        options: options.split(',').map(str::to_owned).collect(),
        ..Mount::default()
    })
}

fn space(available_bytes: u64, total_bytes: u64) -> RecordedFact<Space> {
    RecordedFact::Value(Space { total_bytes, available_bytes })
}

fn disk(name: &str) -> BlockDevice {
    BlockDevice {
        name: name.into(),
        size_bytes: Some(107_374_182_400),
        rotational: Some(false),
        scheduler: Some("none".into()),
        queue_requests: Some(256),
        max_request_bytes: Some(1_310_720),
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        write_cache: Some("write back".into()),
        ..BlockDevice::default()
    }
}

fn place(path: &str) -> Storage {
    Storage {
        asked_path: path.into(),
        exists: RecordedFact::Value(true),
        resolved_path: RecordedFact::Value(path.into()),
        cgroup: no_limits(),
        devices: RecordedFact::Value(vec![]),
        ..Storage::default()
    }
}

fn ext4() -> Storage {
    let partition = BlockDevice { partition: Some("sda2".into()), model: Some("Fast Disk 9".into()), ..disk("sda") };
    Storage {
        mount: mount("/srv", "/dev/sda2", "ext4", "rw,relatime,errors=remount-ro"),
        class: StorageClass::Block,
        space: space(41_017_149_849, 105_555_996_672),
        direct_io: RecordedFact::Value(DirectIo::Aligned { memory_bytes: 4, offset_bytes: 512 }),
        devices: RecordedFact::Value(vec![partition]),
        ..place("/srv/git-data")
    }
}

fn nfs() -> Storage {
    Storage {
        mount: mount(
            "/mnt/nas",
            "nas:/export",
            "nfs4",
            "rw,relatime,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,\
             clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.1",
        ),
        class: StorageClass::Network,
        space: space(5 << 40, 10 << 40),
        direct_io: RecordedFact::NotVisible(
            "statx: the kernel reports it for files only, and this is a directory".into(),
        ),
        nfs: Some(NfsIdentity {
            version: Some("4.2".into()),
            rsize_bytes: Some(1 << 20),
            wsize_bytes: Some(1 << 20),
            nconnect: Some(4),
            transport: Some("tcp".into()),
            hard: Some(true),
            synchronous: Some(false),
            attribute_cache_s: Some([3, 60, 30, 60]),
            root: None,
        }),
        server: Some(ServerIdentity {
            address: "192.0.2.1:2049".into(),
            connect_ns: RecordedFact::Value(182_000),
            interface: RecordedFact::Value("eth0".into()),
            link_bits_per_s: RecordedFact::Value(10_000_000_000),
        }),
        ..place("/mnt/nas/git")
    }
}

fn s3fs() -> Storage {
    let command = "s3fs bench /mnt/s3 -o url=https://s3.example,use_cache=/var/cache/s3fs,passwd_file=/etc/passwd-s3fs";
    Storage {
        mount: mount("/mnt/s3", "s3fs", "fuse.s3fs", "rw,nosuid,nodev,relatime,user_id=0,group_id=0"),
        class: StorageClass::Fuse,
        space: RecordedFact::NotVisible("statvfs: s3fs reports 16 EiB, which is no real size".into()),
        direct_io: RecordedFact::NotVisible(
            "statx: the kernel reports it for files only, and this is a directory".into(),
        ),
        fuse: Some(FuseIdentity {
            kind: Some("s3fs".into()),
            daemon_pid: RecordedFact::Value(4711),
            command_line: RecordedFact::Value(command.split(' ').map(str::to_owned).collect()),
            url: Some("https://s3.example".into()),
            cache: Some("use_cache=/var/cache/s3fs".into()),
        }),
        server: Some(ServerIdentity {
            address: "192.0.2.7:443".into(),
            connect_ns: RecordedFact::NotVisible("connect 192.0.2.7:443: connection timed out".into()),
            interface: RecordedFact::Value("eth0".into()),
            link_bits_per_s: RecordedFact::NotVisible("/sys/class/net/eth0/speed: the driver reports -1".into()),
        }),
        remarks: vec![
            "s3fs writes to a local file until fsync or close, and reads from it later: direct I/O is accepted but \
             has no effect"
                .into(),
        ],
        ..place("/mnt/s3")
    }
}

fn layer(kind: LayerKind, name: &str) -> Layer {
    Layer { kind, name: name.into(), ..Layer::default() }
}

fn in_memory() -> Layer {
    Layer { memory: true, what: Some("memory at /dev/shm".into()), ..layer(LayerKind::Filesystem, "tmpfs") }
}

/// An overlay with a hidden upper directory; its lower one is on an image in memory.
fn overlaid() -> Layer {
    let upper = Layer {
        role: Some("upper directory /o/upper".into()),
        unseen: Some("not visible to this process".into()),
        ..Layer::default()
    };
    let image = Image {
        path: "/dev/shm/a directory with a long name/of the image".into(),
        direct: Some(false),
        ..Image::default()
    };
    let device = Layer { image: Some(image), below: vec![in_memory()], ..layer(LayerKind::Loop, "loop0") };
    let lower = Layer {
        role: Some("lower directory /l/A".into()),
        holds_other_data: true,
        below: vec![device],
        ..layer(LayerKind::Filesystem, "ext4")
    };
    Layer { what: Some("at /".into()), below: vec![upper, lower], ..layer(LayerKind::Filesystem, "overlay") }
}

fn raid() -> Layer {
    let below = ["sda", "sdb"].map(|name| layer(LayerKind::Disk, name)).into();
    Layer { what: Some("raid1".into()), below, ..layer(LayerKind::Array, "md0") }
}

fn overlay() -> Storage {
    Storage {
        resolved_path: RecordedFact::Value("/data".into()),
        mount: mount("/", "overlay", "overlay", "rw,relatime,lowerdir=/l/A:/l/B,upperdir=/o/upper,workdir=/o/work"),
        class: StorageClass::Unknown,
        space: space(1 << 30, 2 << 30),
        direct_io: RecordedFact::Value(DirectIo::Refused),
        devices: RecordedFact::NotVisible(
            "/o/upper: the overlay's upper directory is not visible to this process".into(),
        ),
        layers: vec![overlaid()],
        cgroup: CgroupIdentity {
            memory_bytes: RecordedFact::Value(Some(2 << 30)),
            cpus: RecordedFact::Value(Some(1.5)),
            io: RecordedFact::NotVisible("/proc/self/cgroup: no mounted cgroup hierarchy controls io".into()),
        },
        remarks: vec!["data/new does not exist; this describes /data, its nearest existing parent".into()],
        ..place("data/new")
    }
}

fn btrfs() -> Storage {
    let array = BlockDevice { slaves: vec![disk("sda"), disk("sdb")], scheduler: None, ..disk("md0") };
    Storage {
        mount: mount(
            "/data",
            "/dev/md0",
            "btrfs",
            "rw,relatime,compress=zstd:3,space_cache=v2,subvolid=256,subvol=/@data",
        ),
        class: StorageClass::Block,
        space: space(1 << 36, 1 << 37),
        direct_io: RecordedFact::NotVisible(
            "statx: the kernel reports it for files only, and no file is in this directory".into(),
        ),
        devices: RecordedFact::Value(vec![array]),
        layers: vec![Layer {
            what: Some("/dev/md0 at /data, subvolume /@data".into()),
            below: vec![raid()],
            ..layer(LayerKind::Filesystem, "btrfs")
        }],
        compression: Some("compress=zstd:3".into()),
        cgroup: CgroupIdentity { io: RecordedFact::Value(vec!["sda (8:0) rbps=1048576".into()]), ..no_limits() },
        ..place("/data")
    }
}

fn tmpfs() -> Storage {
    Storage {
        mount: mount("/dev/shm", "tmpfs", "tmpfs", "rw,nosuid,nodev"),
        class: StorageClass::Memory,
        space: space(4 << 30, 4 << 30),
        direct_io: RecordedFact::NotVisible("statx: tmpfs does not report it, or the kernel is older than 6.1".into()),
        remarks: vec!["the data are in memory (tmpfs): the figures are those of memory, not of a disk".into()],
        layers: vec![in_memory()],
        ..place("/dev/shm")
    }
}

#[test]
fn pages() {
    for (name, storage) in [
        ("ext4", ext4()),
        ("nfs", nfs()),
        ("s3fs", s3fs()),
        ("overlay", overlay()),
        ("btrfs", btrfs()),
        ("tmpfs", tmpfs()),
    ] {
        insta::assert_snapshot!(name, text(&storage, &host(), 80));
        for columns in [60, 80] {
            let page = text(&storage, &host(), columns);
            let longest = page.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(columns), "{name}: a line of {longest:?} columns");
        }
    }
}

#[test]
fn a_device_by_itself_and_a_place_about_which_nothing_is_known() {
    let device = Storage {
        class: StorageClass::Device,
        mount: RecordedFact::NotVisible("/dev/sda: is a device, not on a filesystem".into()),
        direct_io: RecordedFact::Value(DirectIo::Aligned { memory_bytes: 4, offset_bytes: 512 }),
        devices: RecordedFact::Value(vec![disk("sda")]),
        remarks: vec!["the device is mounted at /".into()],
        ..place("/dev/sda")
    };
    insta::assert_snapshot!("device", text(&device, &host(), 80));
    insta::assert_snapshot!("nothing_known", text(&Storage::default(), &Host::default(), 80));
}

#[test]
fn the_document_comes_back_as_it_was() {
    let document: serde_json::Value = serde_json::from_str(&json(&btrfs(), &host(), "9.9.9")).unwrap();
    assert_eq!(document["version"], "9.9.9");
    assert_eq!(document["storage"]["class"], "block");
    assert_eq!(
        document["storage"]["direct_io"]["not_visible"],
        "statx: the kernel reports it for files only, and no file is in this directory"
    );
    let back: Storage = serde_json::from_value(document["storage"].clone()).unwrap();
    assert_eq!(back, btrfs());
}

#[test]
fn speeds() {
    assert_eq!(link_speed(10_000_000_000), "10 Gbit/s");
    assert_eq!(link_speed(2_500_000_000), "2.5 Gbit/s");
    assert_eq!(link_speed(100_000_000), "100 Mbit/s");
}
