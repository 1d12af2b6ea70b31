//! The tree of ranks: each has one parent and a few children, so that no rank communicates with all others.

/// Most children of a rank. One more level costs a message's time; one more child costs reading its records.
const CHILDREN_MAX: usize = 8;

/// The parent of a rank; the first has none.
pub(crate) fn parent(rank: usize) -> Option<usize> {
    rank.checked_sub(1).map(|before| before / CHILDREN_MAX)
}

/// The children of a rank in the tree of `ranks` ranks.
pub(crate) fn children(rank: usize, ranks: usize) -> impl Iterator<Item = usize> {
    let first = rank * CHILDREN_MAX + 1;
    first.min(ranks)..(first + CHILDREN_MAX).min(ranks)
}

/// The child of `rank` whose branch contains the rank `other`; `None`: no branch below it does.
pub(crate) fn child_towards(rank: usize, other: usize) -> Option<usize> {
    std::iter::successors(Some(other), |below| parent(*below)).find(|below| parent(*below) == Some(rank))
}

/// Splits the items of a branch's ranks by the children of its first rank, without that rank's own.
pub(crate) fn by_child<T: Clone>(rank: usize, of_branch: &[(u32, T)], children: &[usize]) -> Vec<Vec<(u32, T)>> {
    let mut split = vec![Vec::new(); children.len()];
    for (other, part) in of_branch {
        let child = child_towards(rank, *other as usize);
        if let Some(at) = child.and_then(|child| children.iter().position(|known| *known == child)) {
            split[at].push((*other, part.clone()));
        }
    }
    split
}

/// Levels below the first rank.
pub(crate) fn levels(ranks: usize) -> u64 {
    std::iter::successors(ranks.checked_sub(1), |rank| parent(*rank)).count() as u64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_but_the_first_is_the_child_of_its_parent_alone() {
        for ranks in [1, 2, 9, 10, 1000] {
            let mut reached: Vec<usize> = (0..ranks).flat_map(|rank| children(rank, ranks)).collect();
            reached.sort_unstable();
            assert_eq!(reached, (1..ranks).collect::<Vec<_>>());
            assert!((1..ranks).all(|rank| children(parent(rank).unwrap(), ranks).any(|child| child == rank)));
        }
        assert_eq!([1, 2, 9, 10, 73, 74].map(levels), [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn each_branch_has_its_own_part() {
        let all: Vec<(u32, u32)> = (0..100).map(|rank| (rank, rank * 2)).collect();
        let parts = by_child(0, &all, &children(0, 100).collect::<Vec<_>>());
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 99, "all but its own");
        assert!(parts[2].contains(&(3, 6)) && parts[2].contains(&(25, 50)) && !parts[2].contains(&(4, 8)));
        let below: Vec<u32> = by_child(3, &parts[2], &[25, 26]).concat().iter().map(|(rank, _)| *rank).collect();
        assert_eq!(below, [25, 26], "the two of its children that have no others here");
        assert_eq!(child_towards(3, 4), None);
    }
}
