//! What to do next: offsets, sizes, directions, pacing and content. Pure, seeded, integers only.
//!
//! A [`Generator`] fills blocks of 64 [`Op`]s, so that whatever a pattern costs is paid once per block, outside
//! the loop that submits them.
#![forbid(unsafe_code)]

mod op;

pub use op::{BLOCK_OPS, Block, Op, OpKind};
