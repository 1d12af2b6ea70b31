//! Finds the server of a network block device, if it is a process of this machine. The kernel names only the client,
//! whose socket leads to the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Server;
use crate::linux::{Look, block, read_text};

/// Plugins of nbdkit that keep their data in memory or generate them.
const IN_MEMORY: [&str; 5] = ["memory", "data", "pattern", "zero", "null"];

/// Programs that serve network block devices.
const SERVERS: [&str; 3] = ["nbdkit", "qemu-nbd", "nbd-server"];

/// The flags of a listening socket in /proc/net/unix.
const LISTENS: &str = "00010000";

/// The state of a connected socket in /proc/net/unix.
const CONNECTED: &str = "03";

/// The server of this disk. `None`: no process of this machine is seen to serve it.
pub(super) fn server(look: &Look, disk: &Path) -> Option<Server> {
    let client = read_text(&disk.join("pid")).ok()?;
    let client = look.proc.join(client.trim());
    if !client.join("fd").is_dir() {
        return of_the_kernel(look);
    }
    let table = |name: &str| read_text(&client.join("net").join(name)).unwrap_or_default();
    let tcp = [table("tcp"), table("tcp6")].join("\n");
    let named = || listening(&table("unix"), command_line(&client).split('\0'));
    let other_end = other_end(&tcp, &sockets(&client)?).or_else(named)?;
    let mut others = processes(look).into_iter().filter(|process| *process != client);
    others.find(|process| holds(process, other_end)).map(|process| describe(&process))
}

/// The server of a device whose client has given its connection to the kernel and has ended. No process has such a
/// socket. Its peer shows the server, if there are as many such connections as devices and one server has all of
/// them.
fn of_the_kernel(look: &Look) -> Option<Server> {
    let sockets: Vec<(PathBuf, Vec<u64>)> = processes(look)
        .into_iter()
        .map(|process| Some((process.clone(), sockets(&process)?)))
        .collect::<Option<_>>()?;
    let is_held = |inode: u64| sockets.iter().any(|(_, held)| held.contains(&inode));
    let table = |name: &str| read_text(&look.proc.join("self/net").join(name)).unwrap_or_default();
    let tcp: Vec<_> = [table("tcp"), table("tcp6")].concat().lines().filter_map(connection).collect();
    let of_kernel = tcp.iter().filter(|(_, _, inode)| *inode > 0 && !is_held(*inode));
    let mut ends: Vec<u64> = of_kernel.filter_map(|(local, remote, _)| end_of(&tcp, remote, local)).collect();
    let unix: Vec<(u64, bool)> = table("unix").lines().filter_map(connected).collect();
    if unix.iter().any(|(inode, named)| !named && !is_held(*inode)) {
        ends.extend(unix.iter().filter(|(_, named)| *named).map(|(inode, _)| *inode));
    }
    let serves = |process: &Path| SERVERS.contains(&program(process).as_str());
    let mut found: Vec<&PathBuf> = Vec::new();
    for end in ends {
        found.extend(
            sockets.iter().filter(|(process, held)| held.contains(&end) && serves(process)).map(|(one, _)| one),
        );
    }
    let names = std::fs::read_dir(look.sys.join("block")).into_iter().flatten().flatten();
    let is_connected =
        |disk: &Path| block::name_of(disk).is_some_and(|name| name.starts_with("nbd")) && disk.join("pid").exists();
    let devices = names.filter(|entry| is_connected(&entry.path())).count();
    let first = *found.first().filter(|first| found.iter().all(|other| other == *first))?;
    let server = describe(first);
    (found.len() >= devices).then(|| Server { what: format!("likely {}", server.what), ..server })
}

/// All processes that this one sees.
fn processes(look: &Look) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&look.proc).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|process| process.join("fd").is_dir()).filter(|process| !process.ends_with("self")).collect()
}

fn holds(process: &Path, socket: u64) -> bool {
    sockets(process).is_some_and(|sockets| sockets.contains(&socket))
}

/// The inodes of a process's sockets: `socket:[123]`. `None`: not visible.
fn sockets(process: &Path) -> Option<Vec<u64>> {
    let inode = |link: &PathBuf| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    Some(open(process)?.iter().filter_map(inode).collect())
}

/// The files that a process has open.
fn open(process: &Path) -> Option<Vec<PathBuf>> {
    let entries = std::fs::read_dir(process.join("fd")).ok()?.flatten();
    Some(entries.filter_map(|entry| entry.path().read_link().ok()).collect())
}

/// A line of /proc/net/tcp: local address, remote address, and the inode of the socket.
fn connection(line: &str) -> Option<(SocketAddr, SocketAddr, u64)> {
    let mut words = line.split_whitespace().skip(1);
    let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
    Some((local, remote, words.nth(6)?.parse().ok()?))
}

/// Reads an address: `0100007F:2766` is 127.0.0.1:10086; words have the byte order of the machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// The peer socket of one of these; the table has it only if the peer is on this machine.
fn other_end(table: &str, sockets: &[u64]) -> Option<u64> {
    let all: Vec<_> = table.lines().filter_map(connection).collect();
    let mut own = all.iter().filter(|(_, _, inode)| sockets.contains(inode));
    own.find_map(|(local, remote, _)| end_of(&all, remote, local))
}

/// The socket of the connection from `from` to `to`.
fn end_of(all: &[(SocketAddr, SocketAddr, u64)], from: &SocketAddr, to: &SocketAddr) -> Option<u64> {
    all.iter().find(|(local, remote, _)| (local, remote) == (from, to)).map(|(_, _, inode)| *inode)
}

/// A connected socket of /proc/net/unix, and whether it has a name. Columns: `Num RefCount Protocol Flags Type St
/// Inode Path`.
fn connected(line: &str) -> Option<(u64, bool)> {
    let mut words = line.split_whitespace().skip(5);
    let is_connected = words.next()? == CONNECTED;
    let inode = words.next()?.parse().ok()?;
    is_connected.then(|| (inode, words.next().is_some()))
}

/// The socket that listens at a path which one of these words names.
fn listening<'w>(table: &str, words: impl Iterator<Item = &'w str>) -> Option<u64> {
    let paths: Vec<&str> = words.filter(|word| word.starts_with('/')).collect();
    // `Num RefCount Protocol Flags Type St Inode Path`
    let socket = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, flags, _, _, inode, path] = words[..] else { return None };
        (flags == LISTENS && paths.contains(&path)).then(|| inode.parse().ok())?
    };
    table.lines().find_map(socket)
}

fn command_line(process: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(process.join("cmdline")).unwrap_or_default()).into_owned()
}

/// The name of the process's program.
fn program(process: &Path) -> String {
    let line = command_line(process);
    line.split('\0').next().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_owned()
}

/// The description of a server, by its command line and its open files.
fn describe(process: &Path) -> Server {
    let (line, program) = (command_line(process), program(process));
    let memory = program == "nbdkit" && line.split('\0').skip(1).any(|word| IN_MEMORY.contains(&word));
    let holds_data = |path: &PathBuf| {
        let kind = path.metadata().map(|file| file.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_block_device())
    };
    let mut files: Vec<PathBuf> = open(process).unwrap_or_default().into_iter().filter(holds_data).collect();
    fsdyno_stats::sort::by(&mut files, Ord::cmp);
    files.dedup();
    let pid = process.file_name().unwrap_or_default().to_string_lossy();
    let files = if memory { Vec::new() } else { files };
    Server { what: format!("served by {program} (pid {pid}) on this machine"), memory, files }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:2A3D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 500 1 0 100 0 0 10 0
   1: 0100007F:2A3D 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 501 1 0 20 4 30 10 -1
   2: 0100007F:9C40 0100007F:2A3D 01 00000000:00000000 00:00000000 00000000     0        0 700 1 0 20 4 30 10 -1
   3: 0A00020F:9C41 0A000201:2A3D 01 00000000:00000000 00:00000000 00000000     0        0 701 1 0 20 4 30 10 -1";

    const UNIX: &str = "Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 800 /run/nbd.sock
0000000000000000: 00000003 00000000 00000000 0001 03 801 /run/nbd.sock";

    /// Makes a process with this command line, and links to its open files.
    fn process(proc: &Path, pid: &str, words: &str, open: &[&str]) {
        let folder = proc.join(pid);
        fs::create_dir_all(folder.join("fd")).unwrap();
        fs::create_dir_all(folder.join("net")).unwrap();
        fs::write(folder.join("net/tcp"), TCP).unwrap();
        fs::write(folder.join("net/unix"), UNIX).unwrap();
        fs::write(folder.join("cmdline"), words.replace(' ', "\0")).unwrap();
        for (number, target) in open.iter().enumerate() {
            symlink(target, folder.join("fd").join(number.to_string())).unwrap();
        }
    }

    /// The server of a device whose client has these open files and this command line.
    fn found(client: &[&str], words: &str, server_words: &str, server_open: &[&str]) -> Option<Server> {
        let root = tempfile::tempdir().unwrap();
        let (proc, disk) = (root.path().join("proc"), root.path().join("nbd0"));
        process(&proc, "40", words, client);
        process(&proc, "41", server_words, server_open);
        fs::create_dir(&disk).unwrap();
        fs::write(disk.join("pid"), "40\n").unwrap();
        server(&Look::at(proc, root.path().into()), &disk)
    }

    #[test]
    fn both_ends_on_this_machine() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let client = "nbd-client 127.0.0.1 10813 /dev/nbd0";
        let served =
            found(&["socket:[700]"], client, "/usr/bin/qemu-nbd -t disk", &["socket:[501]", path, "/dev/null"]);
        let what = "served by qemu-nbd (pid 41) on this machine".to_owned();
        assert_eq!(served, Some(Server { what, memory: false, files: vec![path.into()] }));
        let memory = found(&["socket:[700]"], client, "nbdkit memory 1G", &["socket:[501]"]).unwrap();
        assert!(memory.memory && memory.files.is_empty(), "{memory:?}");
        let unix = found(&["socket:[900]"], "nbd-client -unix /run/nbd.sock", "nbd-server", &["socket:[800]"]);
        assert!(unix.is_some_and(|server| server.what.contains("nbd-server")));
    }

    /// With modern clients the kernel has the connection.
    #[test]
    fn a_client_that_has_ended() {
        let root = tempfile::tempdir().unwrap();
        let (proc, sys) = (root.path().join("proc"), root.path().join("sys"));
        process(&proc, "41", "/usr/sbin/nbdkit memory 1G", &["socket:[501]"]);
        process(&proc, "42", "sshd", &["socket:[701]"]);
        symlink("42", proc.join("self")).unwrap();
        let connect = |name: &str| {
            fs::create_dir_all(sys.join("block").join(name)).unwrap();
            fs::write(sys.join("block").join(name).join("pid"), "99\n").unwrap();
        };
        connect("nbd0");
        let found = || server(&Look::at(proc.clone(), sys.clone()), &sys.join("block/nbd0"));
        let what = found().map(|server| (server.memory, server.what));
        assert_eq!(what, Some((true, "likely served by nbdkit (pid 41) on this machine".to_owned())));
        connect("nbd1");
        assert_eq!(found(), None, "one of the two has its server elsewhere");
        process(&proc, "40", "nbd-client", &["socket:[700]"]);
        fs::remove_file(sys.join("block/nbd1/pid")).unwrap();
        assert_eq!(found(), None, "another process holds that connection");
    }

    #[test]
    fn a_server_elsewhere_is_not_here() {
        assert_eq!(found(&["socket:[701]"], "nbd-client 10.0.2.1", "nbdkit memory 1G", &["socket:[501]"]), None);
        assert_eq!(found(&[], "nbd-client", "nbdkit memory 1G", &["socket:[501]"]), None);
    }

    #[test]
    fn addresses_of_the_kernels_table() {
        assert_eq!(address("0100007F:2A3D"), "127.0.0.1:10813".parse().ok());
        assert_eq!(address("00000000000000000000000001000000:0050"), "[::1]:80".parse().ok());
        assert_eq!(address("0000000000000000FFFF00000100007F:0050"), "127.0.0.1:80".parse().ok());
        assert_eq!(address("what"), None);
    }
}
