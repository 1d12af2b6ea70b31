//! Finds the server of a mount: host and port, from its options, its source, or its daemon's URL.

use std::net::Ipv6Addr;

use fsdyno_results::evidence::FuseIdentity;

use super::fuse::value_of;
use crate::server::Endpoint;
use fsdyno_results::evidence::Mount;

/// Default ports, by URL scheme or filesystem type.
const PORTS: [(&str, u16); 16] = [
    ("nfs", 2049),
    ("nfs4", 2049),
    ("cifs", 445),
    ("smb3", 445),
    ("ceph", 3300),
    ("http", 80),
    ("https", 443),
    ("ftp", 21),
    ("sftp", 22),
    ("ssh", 22),
    ("fuse.sshfs", 22),
    ("fuse.glusterfs", 24007),
    ("redis", 6379),
    ("rediss", 6379),
    ("mysql", 3306),
    ("postgres", 5432),
];

/// The server that a mount names. `None`: it names none, or in an unknown way.
pub(super) fn endpoint(mount: &Mount, fuse: Option<&FuseIdentity>) -> Option<Endpoint> {
    match (mount.fstype.as_str(), fuse) {
        (_, Some(fuse)) => daemons(mount, fuse),
        // `addr` is the address in use; `mountaddr` belongs to another service.
        ("nfs" | "nfs4" | "cifs" | "smb3", _) => {
            let (host, _) = named(&mount.source);
            let host = mount.option("addr").map_or(host, |address| Some(address.to_owned()))?;
            Some(Endpoint { host, port: port_option(mount).or_else(|| usual_port(&mount.fstype))? })
        }
        ("ceph", _) => {
            // `mon_addr=10.0.0.1:3300/10.0.0.2:3300`; older kernels have the source `10.0.0.1:6789,10.0.0.2:6789:/`
            // instead.
            let monitors = mount.option("mon_addr").unwrap_or(&mount.source);
            let (host, port) = named(monitors.split(['/', ',']).next()?);
            Some(Endpoint { host: host?, port: port.or_else(|| usual_port("ceph"))? })
        }
        _ => None,
    }
}

fn port_option(mount: &Mount) -> Option<u16> {
    mount.option("port").and_then(|port| port.parse().ok()).filter(|port| *port != 0)
}

/// The server that the daemon of a FUSE mount uses.
fn daemons(mount: &Mount, fuse: &FuseIdentity) -> Option<Endpoint> {
    let url = fuse.url.as_deref()?;
    let (kind, rest) = url.split_once("://").unwrap_or((&mount.fstype, url));
    // Some daemons write `curlftpfs#ftp://…`.
    let kind = kind.rsplit('#').next().unwrap_or(kind);
    let authority = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let (host, port) = named(authority);
    let words = fuse.command_line.value().map_or(&[] as &[String], Vec::as_slice);
    let option = || if kind == "fuse.sshfs" { sshfs_port(words) } else { None };
    Some(Endpoint { host: host?, port: port.or_else(option).or_else(|| usual_port(kind))? })
}

/// `sshfs -p 2222` or `-o port=2222`.
fn sshfs_port(words: &[String]) -> Option<u16> {
    let after = words.iter().position(|word| word == "-p").and_then(|at| words.get(at + 1));
    let attached = words.iter().find_map(|word| word.strip_prefix("-p").filter(|port| !port.is_empty()));
    let option = value_of(words, "port");
    after.map(String::as_str).or(attached).or(option.as_deref())?.parse().ok()
}

fn usual_port(kind: &str) -> Option<u16> {
    PORTS.iter().find(|(name, _)| *name == kind).map(|(_, port)| *port)
}

/// Host and port at the beginning of `host:/path`, `host:port/path`, `//host/share`, `[fe80::1]:/path`, `fe80::1:/path`.
fn named(text: &str) -> (Option<String>, Option<u16>) {
    let text = text.trim_start_matches('/').trim_start_matches('(');
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (Some(address.to_owned()), leading_port(rest));
    }
    let authority = text.split(['/', ')']).next().unwrap_or(text);
    let bare = authority.trim_end_matches(':');
    if bare.parse::<Ipv6Addr>().is_ok() {
        return (Some(bare.to_owned()), None);
    }
    let (host, rest) = authority.find(':').map_or((authority, ""), |at| authority.split_at(at));
    ((!host.is_empty()).then(|| host.to_owned()), leading_port(rest))
}

/// `:2049`
fn leading_port(text: &str) -> Option<u16> {
    text.strip_prefix(':')?.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use fsdyno_results::evidence::RecordedFact;

    fn mount(fstype: &str, source: &str, options: &str) -> Mount {
        fixture::mount(fstype, "/mnt", source, options)
    }

    fn of(fstype: &str, source: &str, options: &str) -> Option<(String, u16)> {
        endpoint(&mount(fstype, source, options), None).map(|found| (found.host, found.port))
    }

    fn of_fuse(fstype: &str, url: &str, words: &str) -> Option<(String, u16)> {
        let command_line = RecordedFact::Value(words.split(' ').map(str::to_owned).collect());
        let fuse = FuseIdentity { url: Some(url.to_owned()), command_line, ..FuseIdentity::default() };
        endpoint(&mount(fstype, "source", "rw"), Some(&fuse)).map(|found| (found.host, found.port))
    }

    fn at(host: &str, port: u16) -> Option<(String, u16)> {
        Some((host.to_owned(), port))
    }

    #[test]
    fn servers_of_nfs() {
        assert_eq!(of("nfs4", "nas:/x", "vers=4.2,clientaddr=10.0.0.9,addr=10.0.0.1"), at("10.0.0.1", 2049));
        assert_eq!(of("nfs4", "nas:/x", "port=20490,addr=10.0.0.1"), at("10.0.0.1", 20490));
        let version_3 = "vers=3,mountaddr=10.0.0.2,mountport=20491,port=0,addr=10.0.0.1";
        assert_eq!(of("nfs", "nas:/x", version_3), at("10.0.0.1", 2049));
        assert_eq!(of("nfs", "nas.example:/x", "vers=3"), at("nas.example", 2049));
        assert_eq!(of("nfs4", "[fd00::5]:/x", "rw"), at("fd00::5", 2049));
        assert_eq!(of("nfs4", "[fd00::5]:/x", "addr=fd00::5"), at("fd00::5", 2049));
        assert_eq!(of("nfs4", "fd00::5:/x", "rw"), at("fd00::5", 2049));
    }

    #[test]
    fn servers_of_others() {
        assert_eq!(of("cifs", "//files/share", "addr=10.0.0.3"), at("10.0.0.3", 445));
        assert_eq!(of("smb3", "//files/share", "rw"), at("files", 445));
        assert_eq!(of("ceph", "10.0.0.1:6789,10.0.0.2:6789:/", "rw"), at("10.0.0.1", 6789));
        assert_eq!(of("ceph", "admin@fsid.cephfs=/", "mon_addr=10.0.0.1:3300/10.0.0.2:3300"), at("10.0.0.1", 3300));
        assert_eq!(of("ext4", "/dev/sda1", "rw"), None);
    }

    #[test]
    fn servers_of_daemons() {
        assert_eq!(of_fuse("fuse.s3fs", "http://127.0.0.1:4568", "s3fs b /m"), at("127.0.0.1", 4568));
        assert_eq!(of_fuse("fuse.s3fs", "https://s3.example/", "s3fs b /m"), at("s3.example", 443));
        assert_eq!(of_fuse("fuse.s3fs", "http://[fd00::5]:9000/x", "s3fs b /m"), at("fd00::5", 9000));
        assert_eq!(of_fuse("fuse.sshfs", "me@host:/dir", "sshfs -p 2299 me@host:/dir /m"), at("host", 2299));
        assert_eq!(of_fuse("fuse.sshfs", "host:", "sshfs host: /m -o port=23"), at("host", 23));
        assert_eq!(of_fuse("fuse.sshfs", "host:/d", "sshfs host:/d /m"), at("host", 22));
        assert_eq!(of_fuse("fuse.juicefs", "redis://***@h:6380/1", "juicefs"), at("h", 6380));
        assert_eq!(of_fuse("fuse.juicefs", "mysql://***@(h:3307)/db", "juicefs"), at("h", 3307));
        assert_eq!(of_fuse("fuse.juicefs", "sqlite3://my.db", "juicefs"), None, "no server of a known kind");
        assert_eq!(of_fuse("fuse.rclone", "remote:/x", "rclone mount"), None, "the name of a section in a file");
    }
}
