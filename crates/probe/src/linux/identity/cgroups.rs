//! Limits that control groups set on memory, processors and the devices of a storage.

use std::collections::BTreeMap;

use fsdyno_results::evidence::CgroupIdentity;

use super::seen::seen;
use crate::Fact;
use crate::linux::cgroups::{Group, Version, group};
use crate::linux::{Look, block, limits};
use fsdyno_results::evidence::{DeviceNumber, Layer};

/// The files of version 1, each with the name of its limit in version 2.
const THROTTLES: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// The lowest limits of this process's groups and their parents.
pub(super) fn identity(look: &Look, layers: &[Layer]) -> CgroupIdentity {
    CgroupIdentity {
        memory_bytes: seen(limits::cgroup_cache_bytes(look)),
        cpus: seen(cpus(look)),
        io: seen(io(look, layers)),
    }
}

fn cpus(look: &Look) -> Fact<Option<f64>> {
    let group = group(look, "cpu")?;
    let shares: Vec<Option<f64>> = match group.version {
        Version::V2 => {
            let texts = group.texts("cpu.max")?;
            texts.iter().map(|text| text.split_once(' ').and_then(|(quota, period)| share(quota, period))).collect()
        }
        Version::V1 => {
            let quotas = group.texts("cpu.cfs_quota_us")?;
            let periods = group.texts("cpu.cfs_period_us")?;
            quotas.iter().zip(&periods).map(|(quota, period)| share(quota, period)).collect()
        }
    };
    Ok(shares.into_iter().flatten().min_by(f64::total_cmp))
}

/// The processor limit as CPU time divided by wall time; `max` and -1 mean no limit.
fn share(quota_us: &str, period_us: &str) -> Option<f64> {
    let quota_us: u32 = quota_us.trim().parse().ok()?;
    let period_us: u32 = period_us.trim().parse().ok()?;
    (period_us > 0).then(|| f64::from(quota_us) / f64::from(period_us))
}

/// Limits on the devices among the layers, in words. Requests of a loop device to the disk below count for the
/// process that made them.
pub(in crate::linux) fn io<'l>(look: &Look, layers: &'l [Layer]) -> Fact<Vec<String>> {
    let group = group(look, "io")?;
    let mut names: Vec<&'l str> = Vec::new();
    let mut add = |layer: &'l Layer| {
        names.extend(layer.partition.as_deref().into_iter().chain(layer.is_device().then_some(layer.name.as_str())));
    };
    layers.iter().for_each(|layer| layer.each(&mut add));
    let mut tightest: BTreeMap<(DeviceNumber, &str), u64> = BTreeMap::new();
    let mut note = |number, key, value: &str| {
        // `max` is not a number and means no limit.
        let Ok(value) = value.parse::<u64>() else { return };
        tightest.entry((number, key)).and_modify(|least| *least = value.min(*least)).or_insert(value);
    };
    for (number, key, value) in &io_limits(&group)? {
        note(*number, *key, value);
    }
    let mut lines: BTreeMap<DeviceNumber, String> = BTreeMap::new();
    for ((number, key), value) in tightest {
        let Some(name) = name_of(look, number).filter(|name| names.contains(&name.as_str())) else { continue };
        let line = lines.entry(number).or_insert_with(|| format!("{name} ({number})"));
        line.push_str(&format!(" {key}={value}"));
    }
    Ok(lines.into_values().collect())
}

/// Device, kind and value of each limit, of all groups and devices.
fn io_limits(group: &Group) -> Fact<Vec<(DeviceNumber, &'static str, String)>> {
    let mut limits = Vec::new();
    match group.version {
        // `8:0 rbps=1048576 wbps=max riops=max wiops=max`
        Version::V2 => {
            for line in group.texts("io.max")?.iter().flat_map(|text| text.lines()) {
                let mut words = line.split_whitespace();
                let Some(number) = words.next().and_then(|word| word.parse().ok()) else { continue };
                for (key, value) in words.filter_map(|word| word.split_once('=')) {
                    let known = THROTTLES.iter().find(|(_, name)| *name == key);
                    limits.extend(known.map(|(_, name)| (number, *name, value.to_owned())));
                }
            }
        }
        // `8:0 1048576`
        Version::V1 => {
            for (file, key) in THROTTLES {
                for line in group.texts(file)?.iter().flat_map(|text| text.lines()) {
                    let number_and_value = line.split_once(' ').map(|(number, value)| (number.parse().ok(), value));
                    let Some((Some(number), value)) = number_and_value else { continue };
                    limits.push((number, key, value.trim().to_owned()));
                }
            }
        }
    }
    Ok(limits)
}

fn name_of(look: &Look, number: DeviceNumber) -> Option<String> {
    block::name_of(&block::directory(look, number)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::{Tree, tree};
    use crate::linux::layers;
    use fsdyno_results::evidence::LayerKind;
    use std::fs;
    use std::path::Path;

    const SDB: DeviceNumber = DeviceNumber { major: 8, minor: 16 };
    const MD0: DeviceNumber = DeviceNumber { major: 9, minor: 0 };

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A tree in which the process is in group `/a/b` of the hierarchy of version 2, or of version 1's cpu and blkio.
    fn grouped(version: Version) -> Tree {
        let tree = tree();
        let root = tree.root.path().display();
        let (groups, mounts) = match version {
            Version::V2 => ("0::/a/b\n".to_owned(), format!("30 1 0:28 / {root}/cg rw - cgroup2 cgroup2 rw\n")),
            Version::V1 => (
                "3:cpu,cpuacct:/a/b\n2:blkio:/a/b\n".to_owned(),
                format!(
                    "30 1 0:28 / {root}/cg rw - cgroup cgroup rw,cpu,cpuacct\n31 1 0:29 / {root}/cg rw - cgroup cgroup rw,blkio\n"
                ),
            ),
        };
        write(&tree.look.proc.join("self/cgroup"), &groups);
        write(&tree.look.proc.join("self/mountinfo"), &mounts);
        fs::create_dir_all(tree.root.path().join("cg/a/b")).unwrap();
        tree
    }

    fn file(tree: &Tree, name: &str, text: &str) {
        write(&tree.root.path().join("cg").join(name), text);
    }

    fn devices(tree: &Tree, number: DeviceNumber) -> Vec<Layer> {
        let directory = block::directory(&tree.look, number).unwrap();
        vec![layers::of_directory(&tree.look, &directory).unwrap()]
    }

    #[test]
    fn the_mount_of_version_1_is_found() {
        let tree = grouped(Version::V1);
        assert_eq!(tree.look.blkio_mount(), Ok(tree.root.path().join("cg")));
        let newer = grouped(Version::V2).look.blkio_mount().unwrap_err();
        assert!(newer.reason.contains("version 2"), "{newer}");
    }

    #[test]
    fn the_tightest_limits_of_version_2() {
        let tree = grouped(Version::V2);
        file(&tree, "a/cpu.max", "150000 100000\n");
        file(&tree, "a/b/cpu.max", "max 100000\n");
        assert_eq!(cpus(&tree.look), Ok(Some(1.5)));
        file(&tree, "a/io.max", "8:16 rbps=1000 wbps=max riops=max wiops=70\n7:0 rbps=5 wbps=5 riops=5 wiops=5\n");
        file(&tree, "a/b/io.max", "8:16 rbps=2000 wbps=3000 riops=max wiops=max\n");
        let expected = vec!["sdb (8:16) rbps=1000 wbps=3000 wiops=70".to_owned()];
        assert_eq!(io(&tree.look, &devices(&tree, SDB)), Ok(expected.clone()));
        assert_eq!(io(&tree.look, &devices(&tree, MD0)), Ok(expected.clone()), "a limit below the array limits it");
        let image =
            Layer { kind: LayerKind::Loop, name: "loop9".into(), below: devices(&tree, SDB), ..Layer::default() };
        assert_eq!(io(&tree.look, &[image]), Ok(expected), "one below the file of a loop device, too");
        assert_eq!(io(&tree.look, &[]), Ok(vec![]), "limits of other devices do not matter");
    }

    #[test]
    fn the_tightest_limits_of_version_1() {
        let tree = grouped(Version::V1);
        file(&tree, "a/b/cpu.cfs_quota_us", "-1\n");
        file(&tree, "a/b/cpu.cfs_period_us", "100000\n");
        file(&tree, "a/cpu.cfs_quota_us", "50000\n");
        file(&tree, "a/cpu.cfs_period_us", "100000\n");
        assert_eq!(cpus(&tree.look), Ok(Some(0.5)));
        for (name, _) in THROTTLES {
            file(&tree, &format!("a/b/{name}"), "");
        }
        assert_eq!(io(&tree.look, &devices(&tree, SDB)), Ok(vec![]));
        file(&tree, "a/b/blkio.throttle.write_bps_device", "8:16 10485760\n8:0 1\n");
        file(&tree, "a/blkio.throttle.read_iops_device", "8:16 500\n");
        let expected = vec!["sdb (8:16) riops=500 wbps=10485760".to_owned()];
        assert_eq!(io(&tree.look, &devices(&tree, SDB)), Ok(expected));
    }

    #[test]
    fn a_controller_that_is_not_switched_on_limits_nothing() {
        let tree = grouped(Version::V2);
        assert!(cpus(&tree.look).is_err(), "this is no control group at all");
        file(&tree, "a/b/cgroup.controllers", "memory pids\n");
        assert_eq!(cpus(&tree.look), Ok(None));
        assert_eq!(io(&tree.look, &devices(&tree, SDB)), Ok(vec![]));
    }

    #[test]
    fn without_a_hierarchy_the_limits_are_not_visible() {
        let identity = identity(&tree().look, &[]);
        assert!(identity.memory_bytes.reason().is_some());
        assert!(identity.cpus.reason().is_some() && identity.io.reason().is_some());
    }
}
