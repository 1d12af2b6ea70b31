//! The ranks and the machines that they run on.

use serde::{Deserialize, Serialize};

/// A rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Counted from 0.
    pub rank: u32,
    /// Its machine's name.
    pub host: String,
    /// The start of its machine, which no other shares; empty: not visible.
    pub boot: String,
    /// The program's version.
    pub version: String,
}

impl Member {
    /// This rank.
    pub fn here(rank: u32, version: &str) -> Member {
        let host = probe::host_name().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("rank-{rank}"));
        Member { rank, host, boot: probe::kernel().boot.unwrap_or_default(), version: version.to_owned() }
    }

    fn is_beside(&self, other: &Member) -> bool {
        self.host == other.host && self.boot == other.boot
    }
}

/// The place of a rank among those of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// The name of its node: of the machine, and which of its ranks it is, if it has several.
    pub(crate) name: String,
    /// Counted from 0: the first takes the counters of the machine.
    pub(crate) number: usize,
}

/// The seat of a rank. `members`: all, by rank.
pub(crate) fn seat(members: &[Member], rank: u32) -> Seat {
    let Some(own) = members.get(rank as usize) else {
        return Seat { name: format!("rank-{rank}"), number: 0 };
    };
    let beside = members.iter().filter(|member| member.is_beside(own));
    let number = beside.clone().filter(|member| member.rank < rank).count();
    // Two machines of one name are told apart by their start.
    let is_shared = members.iter().any(|member| member.host == own.host && member.boot != own.boot);
    let host = match is_shared {
        true => format!("{}-{}", own.host, own.boot.get(..8).unwrap_or(&own.boot)),
        false => own.host.clone(),
    };
    let name = if beside.count() > 1 { format!("{host}:{number}") } else { host };
    Seat { name, number }
}

/// The two shortest ways from any rank to one on another machine, as numbers of ranks, and whether there are such: the
/// files of a rank on the same machine may be in its caches.
pub(crate) fn strides(members: &[Member]) -> ([u32; 2], bool) {
    let count = members.len();
    let is_elsewhere =
        |stride: &usize| (0..count).all(|rank| !members[rank].is_beside(&members[(rank + stride) % count]));
    let elsewhere: Vec<usize> = (1..count).filter(is_elsewhere).take(2).collect();
    let others: Vec<usize> = if elsewhere.is_empty() { (1..count).take(2).collect() } else { elsewhere.clone() };
    let first = others.first().map_or(0, |stride| *stride as u32);
    ([first, others.get(1).map_or(first, |stride| *stride as u32)], !elsewhere.is_empty())
}

/// The name of a rank's node as a part of file names. No two ranks have the same: what one writes, no other overwrites.
pub(crate) fn in_file_names(members: &[Member], rank: u32) -> String {
    let name = seat(members, rank).name;
    let plain = |name: &str, between: &str| name.replace(':', between).replace('/', "-");
    let mut between = "-".to_owned();
    // A machine may have the name of another one's rank: `a-1` beside the second rank of `a`.
    while name.contains(':') && members.iter().any(|other| plain(&other.host, "-") == plain(&name, &between)) {
        between.push('-');
    }
    plain(&name, &between)
}

/// Why these cannot run together: they are different programs.
pub(crate) fn problem(members: &[Member]) -> Option<String> {
    let first = members.first()?;
    let other = members.iter().find(|member| member.version != first.version)?;
    Some(format!(
        "the ranks are different programs: rank 0 on {} is {}, rank {} on {} is {}; install the same on all nodes",
        first.host, first.version, other.rank, other.host, other.version
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(rank: u32, host: &str, boot: &str) -> Member {
        Member { rank, host: host.to_owned(), boot: boot.to_owned(), version: "1".to_owned() }
    }

    #[test]
    fn a_machine_with_several_ranks_numbers_them() {
        let members = [member(0, "a", "x"), member(1, "b", "y"), member(2, "a", "x"), member(3, "c", "z")];
        let seats: Vec<Seat> = (0..4).map(|rank| seat(&members, rank)).collect();
        assert_eq!(seats.iter().map(|seat| seat.name.as_str()).collect::<Vec<_>>(), ["a:0", "b", "a:1", "c"]);
        assert_eq!(seats.iter().map(|seat| seat.number).collect::<Vec<_>>(), [0, 0, 1, 0]);
        assert_eq!(in_file_names(&members, 2), "a-1");
        let twins = [member(0, "node", "0123456789"), member(1, "node", "abcdefghij")];
        assert_eq!([0, 1].map(|rank| seat(&twins, rank).name), ["node-01234567", "node-abcdefgh"]);
    }

    #[test]
    fn a_machine_called_like_a_rank_of_another_has_files_of_its_own() {
        let members = [member(0, "a", "x"), member(1, "a", "x"), member(2, "a-1", "y"), member(3, "a-2", "z")];
        let names = [0, 1, 2, 3].map(|rank| in_file_names(&members, rank));
        assert_eq!(names, ["a-0", "a--1", "a-1", "a-2"]);
    }

    #[test]
    fn the_next_rank_that_counts_is_on_another_machine() {
        let on = |hosts: &str| {
            let members: Vec<Member> =
                hosts.chars().zip(0..).map(|(host, rank)| member(rank, &host.to_string(), "")).collect();
            strides(&members)
        };
        assert_eq!(on("abcd"), ([1, 2], true));
        assert_eq!(on("aabb"), ([2, 2], true), "two of each machine in turn");
        assert_eq!(on("abab"), ([1, 3], true));
        assert_eq!(on("aaa"), ([1, 2], false), "all beside each other");
        assert_eq!((on("ab"), on("a")), (([1, 1], true), ([0, 0], false)));
    }

    #[test]
    fn different_programs_are_named_with_their_nodes() {
        let mut members = [member(0, "a", ""), member(1, "b", "")];
        assert_eq!(problem(&members), None);
        members[1].version = "2".to_owned();
        assert!(problem(&members).is_some_and(|text| text.contains("rank 1 on b is 2")));
    }
}
