//! Assigns partners, whose files a rank uses in place of its own. A partner is on another machine, as files of ranks on
//! the same machine may be in its caches.

use serde::{Deserialize, Serialize};

/// The partners of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Partners {
    /// Two ranks; twice the same one where there is only one other.
    pub(crate) ranks: [u32; 2],
    /// Whether the partners of all ranks run on other machines than these.
    pub(crate) elsewhere: bool,
}

/// The partners of each rank. Each rank is the first partner of one rank and the second partner of one, so that no two
/// ranks use the same files at the same time. `machines`: the machine number of each rank.
pub(crate) fn partners(machines: &[usize]) -> Vec<Partners> {
    let count = machines.len();
    let mut ranks_of = vec![0; count];
    machines.iter().for_each(|machine| ranks_of[*machine] += 1);
    let largest = ranks_of.iter().copied().max().unwrap_or(0);
    // Ranks of one machine are neighbours in a ring. A step by the size of the largest machine always reaches another
    // machine, if the rest of the ring is at least as long.
    let mut ring: Vec<usize> = (0..count).collect();
    fsdyno_stats::sort::by_key(&mut ring, |rank| machines[*rank]);
    let elsewhere = count > 1 && largest * 2 <= count;
    let step = if elsewhere { largest } else { 1 };
    let has_second_step = if elsewhere { count > 2 * largest } else { count > 2 };
    let are_two_halves = elsewhere && ranks_of[..2] == [count / 2; 2] && count.is_multiple_of(2);
    let mut all = vec![Partners::default(); count];
    for place in 0..count {
        let first = ring[(place + step) % count];
        let second = match (has_second_step, are_two_halves) {
            (true, _) => ring[(place + step + 1) % count],
            // Two machines: the partner of the next rank of the same machine.
            (false, true) => ring[(place / step * step + (place + 1) % step + step) % count],
            (false, false) => first,
        };
        all[ring[place]] = Partners { ranks: [first, second].map(|rank| rank as u32), elsewhere };
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn on(hosts: &str) -> (Vec<u32>, Vec<u32>, bool) {
        let machines: Vec<usize> = hosts.bytes().map(|host| usize::from(host - b'a')).collect();
        let all = partners(&machines);
        let of = |which: usize| all.iter().map(|partners| partners.ranks[which]).collect();
        (of(0), of(1), all.iter().all(|partners| partners.elsewhere))
    }

    #[test]
    fn partners_are_on_other_machines_where_there_are_enough() {
        assert_eq!(on("abcd"), (vec![1, 2, 3, 0], vec![2, 3, 0, 1], true));
        assert_eq!(on("aabb"), (vec![2, 3, 0, 1], vec![3, 2, 1, 0], true), "one machine after the other");
        assert_eq!(on("abab"), (vec![1, 0, 3, 2], vec![3, 2, 1, 0], true), "each machine in turn");
        assert_eq!(on("aabbcc"), (vec![2, 3, 4, 5, 0, 1], vec![3, 4, 5, 0, 1, 2], true));
        assert_eq!(on("aabc"), (vec![2, 3, 0, 1], vec![2, 3, 0, 1], true), "no second way leaves the machine of two");
        assert_eq!(on("aaa"), (vec![1, 2, 0], vec![2, 0, 1], false), "all beside each other");
        assert_eq!((on("ab"), on("a")), ((vec![1, 0], vec![1, 0], true), (vec![0], vec![0], false)));
        assert!(!on("aab").2, "two of three ranks have one machine to go to, with one rank");
    }

    proptest! {
        #[test]
        fn no_two_ranks_have_the_same_partner_and_each_leaves_its_machine(
            drawn in proptest::collection::vec(0_usize..12, 1..60),
        ) {
            // Machines are numbered by their first ranks.
            let mut known: Vec<usize> = Vec::new();
            let mut machines: Vec<usize> = Vec::new();
            for machine in drawn {
                let number = known.iter().position(|other| *other == machine).unwrap_or_else(|| {
                    known.push(machine);
                    known.len() - 1
                });
                machines.push(number);
            }
            let all = partners(&machines);
            let largest = (0..known.len()).map(|machine| machines.iter().filter(|of| **of == machine).count()).max();
            let has_room = machines.len() > 1 && largest.is_some_and(|largest| largest * 2 <= machines.len());
            for which in 0..2 {
                let mut seen: Vec<u32> = all.iter().map(|partners| partners.ranks[which]).collect();
                seen.sort_unstable();
                prop_assert!(seen.iter().copied().eq(0..machines.len() as u32), "{all:?}");
            }
            for (rank, partners) in all.iter().enumerate() {
                prop_assert_eq!(partners.elsewhere, has_room);
                let leaves = |partner: &u32| machines[*partner as usize] != machines[rank];
                prop_assert!(!has_room || partners.ranks.iter().all(leaves), "{machines:?}: {all:?}");
            }
        }
    }
}
