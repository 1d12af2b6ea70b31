//! Kernel, processors, memory.

use super::{Look, read_text};

/// Facts of the machine, without the clock.
pub(super) fn host(look: &Look) -> fsdyno_results::Host {
    let uname = rustix::system::uname();
    let kernel = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    let memory = rustix::system::sysinfo();
    fsdyno_results::Host {
        kernel: Some(kernel),
        cpus: read_text(&look.sys.join("devices/system/cpu/online")).ok().and_then(|text| count_list(&text)),
        memory_bytes: memory.totalram.checked_mul(memory.mem_unit.into()),
        clock: None,
    }
}

/// The kernel's name of a machine without a name.
const UNNAMED: &str = "(none)";

/// The machine's own name.
pub(crate) fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty() && name != UNNAMED).then_some(name)
}

/// The user whose rights this process has.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Number of members of a list such as `0-3,8,10-11`.
fn count_list(text: &str) -> Option<u32> {
    text.trim().split(',').map(count_range).sum()
}

fn count_range(text: &str) -> Option<u32> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!(count_list("0"), Some(1));
        assert_eq!(count_list("0-3,8,10-11\n"), Some(7));
        assert_eq!(count_list(""), None);
        assert_eq!(count_list("3-1"), None);
    }

    #[test]
    fn this_machine() {
        let host = host(&Look::new());
        assert!(host.kernel.unwrap().starts_with("Linux "));
        assert!(host.cpus.unwrap() >= 1);
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
        let total_kib = host.memory_bytes.unwrap() / 1024;
        assert!(meminfo.lines().any(|line| line.starts_with("MemTotal:") && line.contains(&format!(" {total_kib} "))));
    }
}
