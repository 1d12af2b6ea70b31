//! Presents studies and storages to people and to other programs: the headline, tables and Markdown on a terminal, the
//! dyno sheet, CSV and OpenMetrics. Pure functions of [`fsdyno_results::Study`] and of evidence: they read no clock, no
//! terminal and no file, so that a saved study looks the same years later.
#![forbid(unsafe_code)]

mod calendar;
mod command;
mod document;
pub mod export;
mod headline;
pub mod inspect;
mod page;
mod quantity;
pub mod sheet;
mod summary;
pub mod tables;

pub use command::short_id;
pub(crate) use document::list_document;
pub use document::{QuestionError, document, refusal};
pub use headline::{
    Document, FindingCase, FindingGroup, Headline, LatencyMicroseconds, NodeFigures, NodesOfTest, PatternRanking,
    Ranges, Share, Spread, Step, TestFigures, TimeFigures, Times, TrustLine, VerdictLine,
};
pub use page::Page;
