//! The index of a store: what its files held when they were read, so that a list reads none of them again. It is never
//! needed: where it is missing, damaged, of another version or cannot be written, the files are read. It is written whole;
//! of two programs that write it at the same time the last one counts, and what it lacks the next list reads again.

use std::path::Path;

use fsdyno_engine::checksum::crc32c;
use fsdyno_os::files::{Readers, Stamp, read_whole, write_whole};
use fsdyno_results::Digest;
use fsdyno_stats::packed::{put, put_text, take, take_text};

/// Its name in the store.
const NAME: &str = ".fsdyno-index";

/// What it begins with. The number grows with each change of [`Digest`] or of what it is made of.
const HEAD: &[u8] = concat!("fsdyno index 3 of ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// Most bytes of one.
const BYTES_MAX: u64 = 1 << 30;

/// Runs of fewer bytes in all are read in no time.
const WORTH_BYTES: u64 = 1 << 20;

/// The index is written anew when this part of its bytes had to be read from runs, or of its entries are outdated: what
/// writing costs is then less than what reading cost.
const PART: u64 = 16;

/// What a file held.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) stamp: Stamp,
    pub(super) digest: Digest,
}

/// What the index has on files, until it is taken.
#[derive(Default)]
pub(super) struct Index {
    /// By name.
    entries: Vec<(String, Stamp, Option<Digest>)>,
    bytes: u64,
}

impl Index {
    /// That of a store; an empty one where there is none that can be used.
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

    /// What the file of this name held when it had this stamp; `None`: not known.
    pub(super) fn take(&mut self, name: &str, stamp: Stamp) -> Option<Digest> {
        let place = self.entries.binary_search_by(|(known, ..)| known.as_str().cmp(name)).ok()?;
        let (_, known, digest) = &mut self.entries[place];
        if *known == stamp { digest.take() } else { None }
    }

    /// Whether a new one is worth writing. `bytes`: of all runs; `read`: of those that this one lacks.
    pub(super) fn pays(&self, bytes: u64, read: u64) -> bool {
        let outdated = self.entries.iter().filter(|(.., digest)| digest.is_some()).count();
        bytes > WORTH_BYTES && (read > self.bytes / PART || outdated as u64 > self.entries.len() as u64 / PART)
    }

    /// Writes one of these entries, which are sorted by name.
    pub(super) fn write(directory: &Path, entries: &[Entry]) {
        let mut content = Vec::new();
        for Entry { name, stamp, digest } in entries {
            put_text(&mut content, name);
            stamp.iter().for_each(|part| put(&mut content, *part));
            digest.put(&mut content);
        }
        let sum = crc32c()(&content).to_le_bytes();
        // Without one the next list takes as long as this one.
        let _ = write_whole(&directory.join(NAME), Readers::Owner, &[HEAD, &sum, &content].concat());
    }
}
