//! What breaks in reality: errors, full disks, hangs, signals, limits. Most of it on the stacks of the lab; where one
//! cannot stand its tests are skipped, with the reason. Each test makes rows of the tables in docs/reliability.md and
//! fails when an outcome is another than the one that stands there. `FSDYNO_RELIABILITY=write` puts the new ones there.

mod document;
mod ends;
mod fuse;
mod hangs;
mod lab;
mod limits;
mod phases;
mod program;
mod scarce;
mod space;
mod verify;
