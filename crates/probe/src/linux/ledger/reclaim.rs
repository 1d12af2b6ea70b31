//! Counts how often the control groups of this process reached their memory limit: each time pages were evicted or
//! programs killed.

use std::path::PathBuf;

use crate::linux::{Look, cgroups, read_text};

/// The files with these counters, of the group of this process and its parents, as far as they are visible.
#[derive(Debug)]
pub(super) struct Reclaim {
    files: Vec<PathBuf>,
}

impl Reclaim {
    pub(super) fn find(look: &Look) -> Option<Reclaim> {
        let group = cgroups::group(look, "memory").ok()?;
        let files: Vec<PathBuf> =
            ["memory.events.local", "memory.failcnt"].iter().flat_map(|name| group.files(name)).collect();
        (!files.is_empty()).then_some(Reclaim { files })
    }

    /// The sum over all groups, because each group counts only its own limit. `None`: no group counts this.
    pub(super) fn read(&self) -> Option<u64> {
        self.files.iter().filter_map(|file| parse(&read_text(file).ok()?)).reduce(u64::saturating_add)
    }
}

/// Reads the lines `max` and `high` of version 2, or the single number of version 1.
fn parse(text: &str) -> Option<u64> {
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    of("max ").map(|max| max.saturating_add(of("high ").unwrap_or(0))).or_else(|| text.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_parsed() {
        assert_eq!(parse("low 0\nhigh 4\nmax 31\noom 1\n"), Some(35));
        assert_eq!(parse("417\n"), Some(417));
        assert_eq!(parse("low 0\n"), None);
    }

    #[test]
    fn no_group_is_no_count() {
        assert!(Reclaim::find(&super::super::tests::empty().look).is_none());
    }
}
