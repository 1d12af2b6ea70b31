//! `zonemode=zbd`: ranges of whole zones, and shares of what a device limits.

use fsdyno_probe::ZonedDevice;

use crate::world::{World, ranges};

const MIB: u64 = 1 << 20;

/// Disks of zones: 16 zones of 4 MiB each, of which six can be open; three; and 8 zones of 8 MiB.
fn world() -> World {
    let world = World::new().device("/dev/z", 64 * MIB, None).device("/dev/plain", 64 * MIB, None);
    let mut world = world.device("/dev/y", 64 * MIB, None).device("/dev/x", 64 * MIB, None);
    for (path, zone_bytes, open_max) in [("/dev/z", 4 * MIB, 6), ("/dev/y", 4 * MIB, 3), ("/dev/x", 8 * MIB, 0)] {
        let device = world.facts.paths.get_mut(std::path::Path::new(path)).expect("the device");
        std::sync::Arc::make_mut(device).zones = Some(ZonedDevice { zone_bytes, open_max });
    }
    world
}

const LINE: &str = "--name=j --filename=/dev/z --zonemode=zbd --direct=1 --rw=write --bs=64k";

/// The sentence of the first worker that is refused.
fn refused(words: &str) -> Option<String> {
    let plan = world().plan(words);
    plan.workers.into_iter().find_map(|worker| worker.refused).map(|refusal| refusal.message)
}

#[test]
fn ranges_have_whole_zones() {
    let plan = world().plan(&format!("{LINE} --offset=5m --size=10m"));
    assert_eq!(ranges(&plan), [(8 * MIB, 4 * MIB)]);
    assert_eq!((plan.workers[0].workload.files[0].start, plan.workers[0].workload.bytes), (8 * MIB, 4 * MIB));
    let plan = world().plan(&format!("{LINE} --io_size=100m"));
    assert_eq!((ranges(&plan), plan.workers[0].workload.bytes), (vec![(0, 64 * MIB)], 100 * MIB));
}

#[test]
fn writers_share_the_zones_that_can_be_open() {
    let shares = |words: &str| -> Vec<u32> {
        let plan = world().plan(&format!("{LINE} --offset_increment=8m --size=8m {words}"));
        assert!(plan.workers.iter().all(|worker| worker.refused.is_none()), "{words}");
        plan.workers.iter().filter_map(|worker| Some(worker.workload.pattern.zoned?.open_max)).collect()
    };
    assert_eq!(shares(""), [6]);
    assert_eq!(shares("--numjobs=3"), [2, 2, 2]);
    assert_eq!(shares("--numjobs=2 --max_open_zones=3"), [1, 1]);
    assert_eq!(shares("--ignore_zone_limits=1"), [0]);
    // The second job waits for the first.
    let after = "--name=k --stonewall --filename=/dev/z --zonemode=zbd --direct=1 --rw=write --bs=64k --size=8m";
    assert_eq!(shares(after), [6, 6]);
}

#[test]
fn jobs_of_one_range_share_their_zones() {
    let shared = |words: &str| -> Vec<(bool, u32)> {
        let plan = world().plan(words);
        assert!(plan.workers.iter().all(|worker| worker.refused.is_none()), "{words}");
        let workloads = plan.workers.iter().map(|worker| &worker.workload);
        workloads.map(|load| (load.zones.are_shared(), load.pattern.zoned.unwrap().open_max)).collect()
    };
    assert_eq!(shared(&format!("{LINE} --numjobs=3")), [(true, 6); 3]);
    // Two that share their zones are one beside a third with zones of its own.
    let beside = format!("--size=8m --numjobs=2 {LINE} --offset=32m --size=8m");
    assert_eq!(shared(&format!("{LINE} {beside}")), [(true, 3), (true, 3), (false, 3)]);
    let reader = LINE.replace("--rw=write", "--rw=randread");
    assert_eq!(shared(&format!("{LINE} {reader}")), [(true, 6); 2], "a reader knows what is written");
    assert_eq!(shared(&format!("{reader} --numjobs=2")), [(false, 6); 2], "nobody writes");
    assert_eq!(shared(&format!("{LINE} {LINE} --stonewall")), [(false, 6); 2]);
}

#[test]
fn what_zones_do_not_allow_is_refused() {
    let says = |words: &str, part: &str| {
        let message = refused(words).unwrap_or_else(|| panic!("{words}: not refused"));
        assert!(message.contains(part), "{words}: {message}");
    };
    says(&LINE.replace("/dev/z", "/dev/plain"), "Specifying the zone size is mandatory");
    says(&LINE.replace("/dev/z", "/dev/z:/dev/x"), "zones of different sizes");
    says(&format!("{LINE} --rw=trim"), "trim block size 65536 is not the zone size 4194304");
    says(&format!("{LINE} --direct=0"), "direct I/O is mandatory");
    says(&format!("{LINE} --zonesize=8m"), "does not match disk zone size 4194304");
    says(&format!("{LINE} --offset=61m --size=3m"), "at least one zone");
    says(&format!("{LINE} --bs=8m"), "lower --bs");
    says(&format!("{LINE} --numjobs=2 --verify=crc32c"), "its zones are also those of j");
    says(&format!("{LINE} --numjobs=2 --verify=crc32c"), "one of them verifies");
    says(&format!("{LINE} --numjobs=2 --size=8m --offset_increment=4m"), "their ranges differ");
    let smaller = LINE.replace("/dev/z", "/dev/plain");
    says(&format!("{smaller} --zonesize=2m {smaller} --zonesize=4m"), "their zones have different sizes");
    says(&format!("{LINE} --numjobs=7 --size=8m --offset_increment=8m"), "7 jobs write zones");
    let reader = "--name=r --filename=/dev/z --zonemode=zbd --rw=read --bs=64k --size=4m";
    says(&format!("{LINE} {reader}"), "their ranges differ");
    assert_eq!(refused(&format!("{reader} {reader}")), None, "readers share zones");
    assert_eq!(refused(&format!("{LINE} --numjobs=2 --size=8m --offset_increment=8m")), None);
}

#[test]
fn amounts_count_zones() {
    let plan = world().plan(&format!("{LINE} --offset=2z --size=3z --io_size=5z --zoneskip=1z"));
    assert_eq!((ranges(&plan), plan.workers[0].workload.bytes), (vec![(8 * MIB, 12 * MIB)], 20 * MIB));
    assert_eq!(plan.workers[0].workload.pattern.zoned.unwrap().skip, 4 * MIB);
    let clones = world().plan(&format!("{LINE} --size=1z --offset_increment=2z --numjobs=2"));
    let starts: Vec<u64> = clones.workers.iter().map(|worker| worker.files[0].start).collect();
    assert_eq!(starts, [0, 8 * MIB]);
    let counted = LINE.replace("/dev/z", "/dev/plain");
    assert_eq!(ranges(&world().plan(&format!("{counted} --zonesize=2m --size=3z"))), [(0, 6 * MIB)]);
    let unknown = world().plan(&format!("{counted} --size=3z"));
    let message = refused(&format!("{counted} --zonesize=2m --zonecapacity=3m"));
    assert!(message.is_some_and(|message| message.contains("zonecapacity 3145728 is larger than zone size 2097152")));
    assert!(unknown.rejections[0].contains("a count of zones needs zones"), "{:?}", unknown.rejections);
}

#[test]
fn several_devices_have_the_least_limit() {
    let plan = world().plan(&LINE.replace("/dev/z", "/dev/z:/dev/y"));
    let worker = &plan.workers[0];
    assert_eq!((worker.refused.as_ref(), ranges(&plan)), (None, vec![(0, 64 * MIB), (0, 64 * MIB)]));
    assert_eq!(worker.workload.pattern.zoned.unwrap().open_max, 3);
    let beside = format!("{} {} --size=4m", LINE.replace("/dev/z", "/dev/z:/dev/y"), LINE.replace("/dev/z", "/dev/y"));
    assert!(refused(&beside).is_some_and(|message| message.contains("their ranges differ")));
}

#[test]
fn other_targets_count_zones() {
    let plan = world().plan(&format!("{} --zonesize=3m --direct=0", LINE.replace("/dev/z", "/dev/plain")));
    assert_eq!((plan.workers[0].refused.as_ref(), ranges(&plan)), (None, vec![(0, 63 * MIB)]));
    assert!(plan.workers[0].workload.pattern.zoned.unwrap().are_counted);
    assert!(!world().plan(LINE).workers[0].workload.pattern.zoned.unwrap().are_counted);
}
