//! The keys that a question writes: a list that is known before the first request, and what `clean` may delete.

use serde::{Deserialize, Serialize};

/// The keys of a job of `ioengine=http`: one object for each block of a file of this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeySet {
    pub(super) name: String,
    pub(super) block_bytes: u64,
    pub(super) count: u64,
}

impl KeySet {
    /// All keys, without the folder of the run.
    pub(super) fn all(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.count).map(|number| self.key(number))
    }

    pub(super) fn key(&self, number: u64) -> String {
        format!("{}_{}_{}", self.name, number * self.block_bytes, self.block_bytes)
    }

    /// Whether the key is one of them.
    fn has(&self, key: &str) -> bool {
        let mut parts = key.rsplitn(3, '_');
        let (length, offset, name) = (parts.next(), parts.next(), parts.next());
        let number = |digits: Option<&str>| digits?.parse::<u64>().ok();
        let (Some(length), Some(offset)) = (number(length), number(offset)) else { return false };
        let is_block = length == self.block_bytes && length > 0 && offset % length == 0;
        // Written again, it must be the same text: `_007` is a key of somebody else.
        name == Some(&self.name) && is_block && offset / length < self.count && self.key(offset / length) == key
    }
}

/// Whether the key, without the folder of the run, is on the list.
pub(super) fn is_on(list: &[KeySet], key: &str) -> bool {
    list.iter().any(|set| set.has(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_a_run_writes_are_on_its_list() {
        let list = [KeySet { name: "k4".into(), block_bytes: 4096, count: 3 }];
        for key in list[0].all() {
            assert!(is_on(&list, &key), "{key}");
        }
        assert_eq!(list[0].all().last().as_deref(), Some("k4_8192_4096"));
        for other in [
            "k4_12288_4096",
            "k4_1_4096",
            "k4_0_8192",
            "k5_0_4096",
            "k4",
            "k4_+0_4096",
            "k4_00_4096",
            "x/k4_0_4096",
            "",
        ] {
            assert!(!is_on(&list, other), "{other}");
        }
    }
}
