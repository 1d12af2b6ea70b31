//! Mappings of memory.

pub use crate::system::memory::{file_page_bytes, huge_page_bytes, lock, map, page_bytes, populate, unmap};
