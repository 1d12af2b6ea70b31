//! Rows: options of fio's profiles. fio has them in its one table of names: any job may write them, and they change
//! nothing without the profile.

use super::JobRow;
use super::build::*;
use crate::option::{Status, Status::*};

const TIOBENCH: Status = WithoutEffect("for --profile=tiobench; without that, fio does nothing with it");
const ACT: Status = WithoutEffect("for --profile=act; without that, fio does nothing with it");

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("block", size(0, ignore)).tier(4).help("Block size of the profile").status(TIOBENCH),
    option("numruns", integer(0, COUNT_MAX, ignore)).tier(4).help("Runs of the profile").status(TIOBENCH),
    option("dir", text(ignore_text)).tier(4).help("Directory of the profile; jobs have directory").status(TIOBENCH),
    option("threads", integer(0, COUNT_MAX, ignore)).tier(4).help("Threads of the profile; jobs have numjobs")
        .status(TIOBENCH),
    option("device-names", text(ignore_text)).tier(4).help("Devices of the profile").status(ACT),
    option("load", integer(0, COUNT_MAX, ignore)).tier(4).help("Load of the profile").status(ACT),
    option("test-duration", text(ignore_text)).tier(4).help("Length of the profile").status(ACT),
    option("threads-per-queue", integer(0, COUNT_MAX, ignore)).tier(4).help("Threads of the profile").status(ACT),
    option("read-req-num-512-blocks", integer(0, COUNT_MAX, ignore)).tier(4).help("Reads of the profile").status(ACT),
    option("large-block-op-kbytes", integer(0, COUNT_MAX, ignore)).tier(4).help("Writes of the profile").status(ACT),
    option("prep", flag(ignore)).tier(4).help("Preparation by the profile").status(ACT),
];
