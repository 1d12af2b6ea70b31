//! Helpers with which engines return completions.

use crate::contract::Completion;

/// Number of further completions that fit without an allocation.
#[inline(always)]
pub(crate) fn spare_capacity<E>(completions: &Vec<Completion<E>>) -> usize {
    completions.capacity() - completions.len()
}

/// Appends `count` completions, which must fit into the capacity.
#[inline(always)]
pub(crate) fn append<E>(completions: &mut Vec<Completion<E>>, count: usize, mut next: impl FnMut() -> Completion<E>) {
    let length = completions.len();
    for place in &mut completions.spare_capacity_mut()[..count] {
        place.write(next());
    }
    // SAFETY: the slice above proved that there is room for `count` further entries, and the loop has written each of
    // them.
    unsafe { completions.set_len(length + count) }
}

/// Appends all of `source`, which must fit into the capacity.
#[cfg(target_os = "linux")]
#[inline(always)]
pub(crate) fn append_all<E>(
    completions: &mut Vec<Completion<E>>,
    source: impl ExactSizeIterator<Item = Completion<E>>,
) {
    assert!(source.len() <= spare_capacity(completions), "more completions than slots");
    completions.extend(source);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slot;

    #[test]
    fn append_keeps_what_is_there_and_never_grows() {
        let mut completions: Vec<Completion<()>> = Vec::with_capacity(3);
        completions.push(Completion { slot: Slot::returned(7), result: 70 });
        let address = completions.as_ptr();
        let mut numbers = 0..;
        assert_eq!(spare_capacity(&completions), 2);
        append(&mut completions, 2, || {
            let number = numbers.next().unwrap();
            Completion { slot: Slot::returned(number), result: i64::from(number) }
        });
        assert_eq!(completions.iter().map(|c| c.result).collect::<Vec<_>>(), [70, 0, 1]);
        assert_eq!((completions.as_ptr(), spare_capacity(&completions)), (address, 0));
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn append_refuses_what_does_not_fit() {
        append(&mut Vec::<Completion<()>>::new(), 1, || Completion { slot: Slot::returned(0), result: 0 });
    }
}
