//! Packs numbers and texts into few bytes. A number has seven bits per byte, the lowest first; all bytes except the
//! last have the highest bit set. A text follows its length. Counts by bucket are stored for each bucket in use: its
//! distance from the one before, and its count.

pub(crate) fn pack(used: impl Iterator<Item = (usize, u64)>) -> Box<[u8]> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for (bucket, count) in used {
        put(&mut bytes, (bucket - before) as u64);
        put(&mut bytes, count);
        before = bucket;
    }
    bytes.into_boxed_slice()
}

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The buckets and counts that were packed.
pub(crate) fn unpack(bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let mut rest = bytes.iter();
    let mut bucket = 0;
    std::iter::from_fn(move || {
        bucket += take(&mut rest)? as usize;
        Some((bucket, take(&mut rest)?))
    })
}

/// The highest bucket in packed counts, 0 if there is none; `None`: the bytes are no counts.
pub(crate) fn last_bucket(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes.iter();
    let mut bucket: usize = 0;
    while !rest.as_slice().is_empty() {
        bucket = bucket.checked_add(take(&mut rest)?.try_into().ok()?)?;
        take(&mut rest)?;
    }
    Some(bucket)
}

/// Takes a number; `None`: there is none.
pub fn take(rest: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let byte = *rest.next()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte < 0x80 {
            return Some(value);
        }
    }
}

/// Appends a text.
pub fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// Takes a text; `None`: there is none.
pub fn take_text(rest: &mut std::slice::Iter<'_, u8>) -> Option<String> {
    let length = take(rest)?.try_into().ok()?;
    Some(str::from_utf8(take_bytes(rest, length)?).ok()?.to_owned())
}

/// Takes the next `length` bytes; `None`: there are fewer.
pub fn take_bytes<'a>(rest: &mut std::slice::Iter<'a, u8>, length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.as_slice().split_at_checked(length)?;
    *rest = after.iter();
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{BUCKETS, Histogram};

    proptest! {
        #[test]
        fn packed_counts_are_the_same_counts(
            used in proptest::collection::btree_map(0..BUCKETS, 1..=u64::MAX, 0..50),
            more in 0..BUCKETS,
        ) {
            let mut histogram = Histogram::new();
            used.iter().for_each(|(bucket, count)| histogram.add(*bucket, *count / 100 + 1));
            let mut packed = histogram.clone();
            let bytes = packed.take_packed();
            prop_assert_eq!(packed.count(), 0);
            packed = Histogram::of_packed(&bytes).expect("they are counts");
            prop_assert_eq!(&packed, &histogram);
            prop_assert_eq!(packed.counts(), histogram.counts());
            prop_assert_eq!(packed.percentile(50.0), histogram.percentile(50.0));
            packed.add(more, 3);
            histogram.add(more, 3);
            prop_assert_eq!(&packed, &histogram);
        }
    }

    #[test]
    fn damaged_counts_are_refused() {
        let mut histogram = Histogram::new();
        histogram.add(BUCKETS - 1, 300);
        let bytes = histogram.take_packed();
        assert!(Histogram::of_packed(&bytes).is_some() && Histogram::of_packed(&[]).is_some());
        assert!(Histogram::of_packed(&bytes[..bytes.len() - 1]).is_none(), "a count ends too early");
        assert!(Histogram::of_packed(&[0xc0, 0x0e, 1]).is_none(), "there is no bucket 1,856");
    }
}
