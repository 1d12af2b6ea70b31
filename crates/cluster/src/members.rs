//! The ranks, and the machines that they run on.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::partners::{Partners, partners};

/// A rank with its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The number of the rank, counted from 0.
    pub rank: u32,
    /// Its machine's name.
    pub host: String,
    /// The machine's boot id, which is unique; empty: not visible.
    pub boot: String,
    /// The program's version.
    pub version: String,
}

impl Member {
    /// This rank.
    pub fn here(rank: u32, version: &str) -> Member {
        let host = fsdyno_probe::host_name().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("rank-{rank}"));
        Member { rank, host, boot: fsdyno_probe::kernel().boot.unwrap_or_default(), version: version.to_owned() }
    }
}

/// The names and partners of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RankPartners {
    /// The name of its node: the machine's, with a number if the machine has several ranks.
    pub(crate) name: String,
    /// The same as a part of file names. It is unique, so that no rank overwrites another's files.
    pub(crate) file_name: String,
    /// The number among the ranks of its machine, counted from 0: the first one reads the machine's counters.
    pub(crate) number: u32,
    /// The ranks whose files this one uses in place of its own.
    pub(crate) partners: Partners,
    /// The first partner's part of file names.
    pub(crate) partner_file_name: String,
}

/// The name of a rank's node.
pub(crate) fn name(seats: &[RankPartners], rank: u32) -> String {
    seats.get(rank as usize).map_or_else(|| format!("rank-{rank}"), |seat| seat.name.clone())
}

/// The seats of all ranks, by rank. Time and memory grow linearly with the number of ranks.
pub(crate) fn seats(members: &[Member]) -> Vec<RankPartners> {
    let machines = machines(members);
    let ranks_of = counts(&machines);
    let mut starts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for member in members {
        starts.entry(&member.host).or_default().insert(&member.boot);
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    taken.extend(members.iter().map(|member| member.host.replace('/', "-")));
    let mut seated = vec![0; ranks_of.len()];
    let partners = partners(&machines);
    let seat = |((member, machine), partners): ((&Member, &usize), Partners)| {
        let number = seated[*machine];
        seated[*machine] += 1;
        // Two machines with the same name are told apart by their boot ids.
        let host = match starts.get(member.host.as_str()).is_some_and(|starts| starts.len() > 1) {
            true => format!("{}-{}", member.host, member.boot.get(..8).unwrap_or(&member.boot)),
            false => member.host.clone(),
        };
        let is_alone = ranks_of[*machine] == 1;
        let plain = host.replace('/', "-");
        let name = if is_alone { host } else { format!("{host}:{number}") };
        let file_name = if is_alone { plain } else { numbered(&plain, number, &taken) };
        RankPartners { name, file_name, number, partners, partner_file_name: String::new() }
    };
    let mut seats: Vec<RankPartners> = members.iter().zip(&machines).zip(partners).map(seat).collect();
    for rank in 0..seats.len() {
        seats[rank].partner_file_name = seats[seats[rank].partners.ranks[0] as usize].file_name.clone();
    }
    seats
}

/// A numbered name that is not taken: a machine may be called `a-1`, like the second rank of `a`.
fn numbered(host: &str, number: u32, taken: &BTreeSet<String>) -> String {
    let mut between = "-".to_owned();
    while taken.contains(&format!("{host}{between}{number}")) {
        between.push('-');
    }
    format!("{host}{between}{number}")
}

/// The machine of each rank, counted from 0 in the order of their first ranks.
pub(crate) fn machines(members: &[Member]) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let machine = |member: &Member| {
        let next = known.len();
        *known.entry((member.host.clone(), member.boot.clone())).or_insert(next)
    };
    members.iter().map(machine).collect()
}

/// The number of ranks of each machine.
fn counts(machines: &[usize]) -> Vec<usize> {
    let mut counts = vec![0; machines.iter().max().map_or(0, |last| last + 1)];
    machines.iter().for_each(|machine| counts[*machine] += 1);
    counts
}

/// Why these ranks cannot run together: their programs differ.
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
        let seats = seats(&members);
        assert_eq!(seats.iter().map(|seat| seat.name.as_str()).collect::<Vec<_>>(), ["a:0", "b", "a:1", "c"]);
        assert_eq!(seats.iter().map(|seat| seat.number).collect::<Vec<_>>(), [0, 0, 1, 0]);
        assert_eq!(seats[2].file_name, "a-1");
        let twins = super::seats(&[member(0, "node", "0123456789"), member(1, "node", "abcdefghij")]);
        assert_eq!([0, 1].map(|rank: usize| &twins[rank].name[..]), ["node-01234567", "node-abcdefgh"]);
    }

    #[test]
    fn a_machine_called_like_a_rank_of_another_has_files_of_its_own() {
        let members = [member(0, "a", "x"), member(1, "a", "x"), member(2, "a-1", "y"), member(3, "a-2", "z")];
        let names: Vec<String> = seats(&members).into_iter().map(|seat| seat.file_name).collect();
        assert_eq!(names, ["a-0", "a--1", "a-1", "a-2"]);
    }

    #[test]
    fn different_programs_are_named_with_their_nodes() {
        let mut members = [member(0, "a", ""), member(1, "b", "")];
        assert_eq!(problem(&members), None);
        members[1].version = "2".to_owned();
        assert!(problem(&members).is_some_and(|text| text.contains("rank 1 on b is 2")));
    }
}
