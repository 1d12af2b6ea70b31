//! Reads facts about an NFS mount.

use fsdyno_results::evidence::NfsIdentity;

use super::mountstats;
use crate::linux::Look;
use fsdyno_results::evidence::Mount;

/// Whether the mount belongs to the kernel's NFS client.
pub(super) fn is_nfs(fstype: &str) -> bool {
    fstype == "nfs" || fstype == "nfs4"
}

/// The facts of an NFS mount. mountstats lists all options; mountinfo leaves out those with default values.
pub(super) fn identity(look: &Look, mount: &Mount) -> NfsIdentity {
    let statistics = mountstats::statistics(look, &mount.mount_point).ok();
    let full = statistics.as_ref().map_or("", |statistics| statistics.options.as_str());
    let option = |name: &str| mount.option(name).or_else(|| value_in(full, name));
    let number = |name: &str| option(name).and_then(|value| value.parse::<u64>().ok());
    let connections = statistics.as_ref().map(|statistics| statistics.transports.len()).filter(|count| *count > 0);
    NfsIdentity {
        version: version(mount),
        rsize_bytes: number("rsize"),
        wsize_bytes: number("wsize"),
        nconnect: number("nconnect")
            .and_then(|count| u32::try_from(count).ok())
            .or_else(|| connections.and_then(|count| u32::try_from(count).ok())),
        transport: option("proto")
            .map(str::to_owned)
            .or_else(|| statistics.as_ref().and_then(|statistics| statistics.transports.first().cloned())),
        hard: match (option("hard"), option("soft").or_else(|| option("softerr"))) {
            (Some(_), _) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        },
        synchronous: Some(mount.option("sync").is_some()),
        attribute_cache_s: attribute_cache(&number),
        root: None,
    }
}

fn attribute_cache(number: &impl Fn(&str) -> Option<u64>) -> Option<[u64; 4]> {
    Some([number("acregmin")?, number("acregmax")?, number("acdirmin")?, number("acdirmax")?])
}

/// The version from `vers=4.2`; kernels before 3.x wrote `vers=4,minorversion=1`.
fn version(mount: &Mount) -> Option<String> {
    let version = mount.option("vers").or_else(|| mount.option("nfsvers"))?;
    match mount.option("minorversion") {
        Some(minor) if !version.contains('.') => Some(format!("{version}.{minor}")),
        _ => Some(version.to_owned()),
    }
}

fn value_in<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let mut all = options.split(',').map(|word| word.split_once('=').unwrap_or((word, "")));
    all.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    fn mount(options: &str) -> Mount {
        fixture::mount("nfs4", "/mnt/n4", "nas:/x", &format!("relatime,{options}"))
    }

    #[test]
    fn options_of_mountinfo() {
        let look = fixture::tree().look;
        let options = "rw,sync,vers=4.2,rsize=1048576,wsize=524288,namlen=255,hard,proto=tcp,nconnect=4,addr=10.0.0.1";
        let expected = NfsIdentity {
            version: Some("4.2".into()),
            rsize_bytes: Some(1 << 20),
            wsize_bytes: Some(1 << 19),
            nconnect: Some(4),
            transport: Some("tcp".into()),
            hard: Some(true),
            synchronous: Some(true),
            attribute_cache_s: None,
            root: None,
        };
        assert_eq!(identity(&look, &mount(options)), expected);
        let old = identity(&look, &mount("vers=4,minorversion=1,soft,proto=udp"));
        assert_eq!((old.version.as_deref(), old.hard, old.nconnect), (Some("4.1"), Some(false), None));
        assert_eq!(old.synchronous, Some(false));
    }

    #[test]
    fn mountstats_tell_what_mountinfo_leaves_out() {
        let tree = fixture::tree();
        let text = "\
device nas:/x mounted on /mnt/n4 with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=262144,acregmin=3,acregmax=60,acdirmin=30,acdirmax=60,hard,proto=tcp
\txprt:\ttcp 1 2 3
\txprt:\ttcp 1 2 3
";
        std::fs::write(tree.look.proc.join("self/mountstats"), text).unwrap();
        let found = identity(&tree.look, &mount("rw,vers=4.2,rsize=262144,hard,addr=10.0.0.1"));
        assert_eq!(found.attribute_cache_s, Some([3, 60, 30, 60]));
        assert_eq!((found.nconnect, found.transport.as_deref()), (Some(2), Some("tcp")));
    }
}
