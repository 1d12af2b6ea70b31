//! The tree of the ranks: each has one parent and a few children, so that no rank speaks with all others.

/// Children of a rank at most: a level more costs a message's time, a child more costs the reading of its records.
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
}
