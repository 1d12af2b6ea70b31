//! The index of a store: a digest of each file, so that listing does not read all files again. It is optional: where it
//! is missing, damaged, of another version or cannot be written, the files are read. It is written whole; of two
//! programs that write it at the same time the last one wins, and the next list reads what is missing.

use std::path::Path;

use fsdyno_engine::checksum::crc32c;
use fsdyno_os::files::{Readers, Stamp, read_whole, write_whole};
use fsdyno_results::Digest;
use fsdyno_stats::packed::{put, put_text, take, take_text};

/// The index's file name in the store.
const NAME: &str = ".fsdyno-index";

/// The first bytes of the index. The number grows with each change of [`Digest`] or of what it is made of.
const HEAD: &[u8] = concat!("fsdyno index 4 of ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// Largest index that is read, bytes.
const BYTES_MAX: u64 = 1 << 30;

/// Below this total size of the runs an index saves no time, bytes.
const WORTH_BYTES: u64 = 1 << 20;

/// The index is rewritten when this fraction (1/16) of the runs' bytes was not in it, or of its entries is outdated:
/// writing then costs less than reading did.
const PART: u64 = 16;

/// The digest of one file.
pub(super) struct IndexEntry {
    pub(super) name: String,
    pub(super) stamp: Stamp,
    pub(super) digest: Digest,
}

/// The entries of the index that were not taken yet.
#[derive(Default)]
pub(super) struct Index {
    /// Name, stamp and digest, by name.
    entries: Vec<(String, Stamp, Option<Digest>)>,
    bytes: u64,
}

impl Index {
    /// Reads the index of a store; empty where there is none that can be used.
    pub(super) fn read(directory: &Path) -> Index {
        read_whole(&directory.join(NAME), BYTES_MAX).ok().and_then(|bytes| Index::of_bytes(&bytes)).unwrap_or_default()
    }

    fn of_bytes(bytes: &[u8]) -> Option<Index> {
        let (sum, content) = bytes.strip_prefix(HEAD)?.split_first_chunk()?;
        (crc32c()(content) == u32::from_le_bytes(*sum)).then_some(())?;
        let mut index = Index { entries: Vec::new(), bytes: bytes.len() as u64 };
        let mut rest = content.iter();
        while !rest.as_slice().is_empty() {
            let name = take_text(&mut rest)?;
            let mut stamp = Stamp::default();
            for part in &mut stamp {
                *part = take(&mut rest)?;
            }
            index.entries.push((name, stamp, Some(Digest::take(&mut rest)?)));
        }
        Some(index)
    }

    /// Takes the digest of the file with this name and stamp; `None`: not in the index.
    pub(super) fn take(&mut self, name: &str, stamp: Stamp) -> Option<Digest> {
        let place = self.entries.binary_search_by(|(known, ..)| known.as_str().cmp(name)).ok()?;
        let (_, known, digest) = &mut self.entries[place];
        if *known == stamp { digest.take() } else { None }
    }

    /// Whether rewriting the index is worth it. `bytes`: of all runs; `read`: of those that the index lacks.
    pub(super) fn pays(&self, bytes: u64, read: u64) -> bool {
        let outdated = self.entries.iter().filter(|(.., digest)| digest.is_some()).count();
        bytes > WORTH_BYTES && (read > self.bytes / PART || outdated as u64 > self.entries.len() as u64 / PART)
    }

    /// Writes an index of these entries, which are sorted by name.
    pub(super) fn write(directory: &Path, entries: &[IndexEntry]) {
        let mut content = Vec::new();
        for IndexEntry { name, stamp, digest } in entries {
            put_text(&mut content, name);
            stamp.iter().for_each(|part| put(&mut content, *part));
            digest.put(&mut content);
        }
        let sum = crc32c()(&content).to_le_bytes();
        // Without an index the next list takes as long as this one.
        let _ = write_whole(&directory.join(NAME), Readers::Owner, &[HEAD, &sum, &content].concat());
    }
}
