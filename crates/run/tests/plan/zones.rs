//! `zonemode=zbd`: ranges of whole zones, and shares of what a device limits.

use fsdyno_probe::ZonedDevice;

use crate::world::{World, ranges};

const MIB: u64 = 1 << 20;

/// A disk of 16 zones of 4 MiB each, of which six can be open.
fn world() -> World {
    let mut world = World::new().device("/dev/z", 64 * MIB, None).device("/dev/plain", 64 * MIB, None);
    let zones = Some(ZonedDevice { zone_bytes: 4 * MIB, open_max: 6 });
    let device = world.facts.paths.get_mut(std::path::Path::new("/dev/z")).expect("the device");
    std::sync::Arc::make_mut(device).zones = zones;
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
fn what_zones_do_not_allow_is_refused() {
    let says = |words: &str, part: &str| {
        let message = refused(words).unwrap_or_else(|| panic!("{words}: not refused"));
        assert!(message.contains(part), "{words}: {message}");
    };
    says(&LINE.replace("/dev/z", "/dev/plain"), "has no zones");
    says(&format!("{LINE} --direct=0"), "direct I/O is mandatory");
    says(&format!("{LINE} --zonesize=8m"), "does not match disk zone size 4194304");
    says(&format!("{LINE} --offset=61m --size=3m"), "at least one zone");
    says(&format!("{LINE} --bs=8m"), "lower --bs");
    says(&format!("{LINE} --numjobs=2"), "its zones are also those of j");
    says(&format!("{LINE} --numjobs=7 --size=8m --offset_increment=8m"), "7 jobs write zones");
    let reader = "--name=r --filename=/dev/z --zonemode=zbd --rw=read --bs=64k --size=4m";
    says(&format!("{LINE} {reader}"), "its zones are also those of");
    assert_eq!(refused(&format!("{reader} {reader}")), None, "readers share zones");
    assert_eq!(refused(&format!("{LINE} --numjobs=2 --size=8m --offset_increment=8m")), None);
}
