//! Facts about a FUSE mount, from its options and its daemon's command line.

use fsdyno_results::evidence::{FuseIdentity, RecordedFact};

use super::daemon::{daemon_of, file_name};
use super::seen::seen;
use crate::NotVisible;
use crate::linux::{Look, processes, secrets};
use fsdyno_results::evidence::Mount;

/// A FUSE mount and its daemon.
pub(super) fn identity(look: &Look, mount: &Mount) -> FuseIdentity {
    let daemon = daemon_of(look, mount);
    let words: &[String] = daemon.as_ref().map_or(&[], |daemon| &daemon.command_line);
    FuseIdentity {
        kind: kind(mount, words),
        url: url(mount, words),
        cache: cache(words),
        daemon_pid: seen(daemon.as_ref().map(|daemon| daemon.pid)),
        command_line: seen(daemon.as_ref().map(|daemon| daemon.command_line.clone())),
    }
}

/// Why the route from this process to the server is not the daemon's: the daemon is in another network namespace.
pub(super) fn in_another_network(look: &Look, fuse: &FuseIdentity) -> Option<NotVisible> {
    let pid = match &fuse.daemon_pid {
        RecordedFact::Value(pid) => *pid,
        RecordedFact::NotVisible(reason) => return Some(NotVisible::new("the daemon's network", reason)),
    };
    let other = processes::shares_namespace(look, pid, "net") == Ok(false);
    other.then(|| NotVisible::new(format!("process {pid}"), "the daemon runs in another network namespace"))
}

/// The kind, such as `s3fs` of `fuse.s3fs`; for a mount without a type, the name of the daemon.
fn kind(mount: &Mount, words: &[String]) -> Option<String> {
    let subtype = mount.fstype.strip_prefix("fuse.").map(str::to_owned);
    subtype.or_else(|| words.first().map(|program| file_name(program).to_owned()))
}

/// The URL from which the daemon gets its data.
fn url(mount: &Mount, words: &[String]) -> Option<String> {
    const OPTIONS: [&str; 5] = ["url", "host", "endpoint", "endpoint-url", "custom-endpoint"];
    let named = OPTIONS.iter().find_map(|name| value_of(words, name));
    let source = secrets::blank_word(&mount.source);
    // `user@host:/directory` of sshfs and `host:/volume` of GlusterFS name a host; `/one:/two` are folders of this
    // machine. rclone has the name of a section or a kind before the colon: `:local:/directory`.
    let names_a_host = source.contains(":/") && !source.starts_with('/') && mount.fstype != "fuse.rclone";
    let remote = || names_a_host.then_some(source.clone());
    let word = || words.iter().skip(1).find(|word| word.contains("://") && !word.contains('=')).cloned();
    named.or_else(remote).or_else(word).filter(|url| !url.is_empty())
}

/// The local caches that the command line configures.
fn cache(words: &[String]) -> Option<String> {
    const OPTIONS: [&str; 6] = ["use_cache", "cache-dir", "cache_dir", "vfs-cache-mode", "cache", "kernel_cache"];
    const OFF: [&str; 5] = ["", "off", "no", "0", "false"];
    let found = OPTIONS.iter().filter_map(|name| Some((name, value_of(words, name)?)));
    let found = found.filter(|(name, value)| **name == "kernel_cache" || !OFF.contains(&value.as_str()));
    let texts: Vec<String> = found
        .map(|(name, value)| if value.is_empty() { (*name).to_owned() } else { format!("{name}={value}") })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The value of an option, written as `-o name=value,…`, `-oname=value`, `--name=value` or `--name value`; empty for
/// an option without a value. The last one counts.
pub(in crate::linux) fn value_of(words: &[String], name: &str) -> Option<String> {
    let mut found = None;
    let mut words = words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            match long.split_once('=') {
                Some((key, value)) if key == name => found = Some(value.to_owned()),
                None if long == name => {
                    let value = words.peek().filter(|next| !next.starts_with('-'));
                    found = Some(value.map_or_else(String::new, |value| (*value).clone()));
                }
                _ => {}
            }
            continue;
        }
        let list = match word.strip_prefix("-o") {
            Some("") => words.next().map_or("", String::as_str),
            Some(list) => list,
            None => continue,
        };
        let mut values = list.split(',').map(|option| option.split_once('=').unwrap_or((option, "")));
        found = values.rfind(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    fn mount(fstype: &str, mount_point: &str) -> Mount {
        fixture::mount(fstype, mount_point, "s3fs", "")
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_as_daemons_take_them() {
        let line = words(
            "s3fs b /m -o url=http://h,use_cache=/c -ouse_cache=/x,use_cache=/d --endpoint=e --cache-dir /j --rw -o ro",
        );
        assert_eq!(value_of(&line, "url").as_deref(), Some("http://h"));
        assert_eq!(value_of(&line, "use_cache").as_deref(), Some("/d"), "the last one counts");
        assert_eq!(value_of(&line, "endpoint").as_deref(), Some("e"));
        assert_eq!(value_of(&line, "cache-dir").as_deref(), Some("/j"));
        assert_eq!(value_of(&line, "ro").as_deref(), Some(""));
        assert_eq!(value_of(&line, "rw").as_deref(), Some(""), "the next option is no value");
        assert_eq!(value_of(&line, "cache"), None, "whole names only");
    }

    #[test]
    fn where_the_data_is_and_what_caches_it() {
        let s3fs = words("s3fs b /m -o url=http://h:9000,use_cache=/c,passwd_file=/p");
        assert_eq!(url(&mount("fuse.s3fs", "/m"), &s3fs).as_deref(), Some("http://h:9000"));
        assert_eq!(cache(&s3fs).as_deref(), Some("use_cache=/c"));
        assert_eq!(cache(&words("s3fs b /m -o use_cache=")), None, "switched off");
        let mut sshfs = mount("fuse.sshfs", "/m");
        sshfs.source = "me@host:/dir".into();
        assert_eq!(url(&sshfs, &words("sshfs me@host:/dir /m")).as_deref(), Some("me@host:/dir"));
        let juicefs = words("juicefs mount redis://h:6379/1 /m --cache-dir /var/jfs");
        assert_eq!(url(&mount("fuse.juicefs", "/m"), &juicefs).as_deref(), Some("redis://h:6379/1"));
        assert_eq!(cache(&juicefs).as_deref(), Some("cache-dir=/var/jfs"));
        assert_eq!(url(&mount("fuse.s3fs", "/m"), &[]), None);
        let mut rclone = mount("fuse.rclone", "/m");
        rclone.source = ":local:/dir".into();
        assert_eq!(url(&rclone, &words("rclone mount :local:/dir /m")), None, "a folder of this machine");
        let mut pool = mount("fuse.mergerfs", "/m");
        pool.source = "/disk1:/disk2".into();
        assert_eq!(url(&pool, &words("mergerfs /disk1:/disk2 /m")), None, "two folders");
    }
}
