//! Stable sorting with one copy of the code for all types and orders. `slice::sort_by` is compiled again, 5 KB, for
//! each type and order, and so is collecting into a `BTreeMap` or a `BTreeSet` (but not `extend`). Use these
//! functions for lists that are long or sorted often.

use std::cmp::Ordering;

/// Sorts by a key.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |one, other| key(one).cmp(&key(other)));
}

/// Sorts by an order.
pub fn by<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    let mut from: Vec<usize> = (0..items.len()).collect();
    sort_indices(&mut from, &|one, other| order(&items[one], &items[other]));
    for place in 0..items.len() {
        // The element that belongs here may have been swapped away; the entry of its earlier place says where it is.
        while from[place] < place {
            from[place] = from[from[place]];
        }
        items.swap(place, from[place]);
    }
}

fn sort_indices(indices: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|one, other| order(*one, *other));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_standard_library(keys in proptest::collection::vec(0_u8..20, 0..200)) {
            let items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let (mut by_key, mut reversed) = (items.clone(), items);
            super::by_key(&mut by_key, |item| item.0);
            prop_assert_eq!(&by_key, &expected);
            super::by(&mut reversed, |one, other| other.cmp(one));
            expected.sort_by_key(|item| std::cmp::Reverse(*item));
            prop_assert_eq!(reversed, expected);
        }
    }
}
