//! The record of a question: its runs, the requirements that they are judged by, and the answer in sentences.

mod change;
mod digest;
mod figures;
mod finding;
mod load;
mod metric;
mod phase;
mod point;
mod question;
mod ratio;
mod repeat;
mod rounds;
mod study;
pub mod test_name;
mod time_use;
mod tree;
mod verdict;

pub use change::{Change, Measure, Significance, changes, earlier, is_repeat, obstacles, scatter};
pub use digest::{Digest, DigestTarget, DigestTest};
pub use figures::{DirectionFigures, Figures, LatencyFigures};
pub use finding::{Finding, Number, Trust};
pub use load::Load;
pub use metric::{Lane, Metric};
pub use phase::{DeviceTraffic, PhaseConditions, PhaseRecord, PhaseWire};
pub use point::SweepPoint;
pub use question::Question;
pub use ratio::{Ratio, interval_of_rounds};
pub use repeat::Repeat;
pub use rounds::{NOT_EXAMINED, SMALL_BYTES, TestRounds};
pub use study::{Row, STUDY_SCHEMA_VERSION, Study, Target};
pub use time_use::TimeUse;
pub use tree::{DeviceWork, PrintedRecord, StorageTraffic, TreeRecord, WireOperation, WireTraffic};
pub use verdict::{Bound, Confidence, LowerBound, Requirement, RequirementKind, TestOrigin, Verdict, VerdictRow};
