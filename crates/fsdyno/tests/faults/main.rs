//! Tests realistic faults: errors, full disks, hangs, signals, limits. Most tests need stacks of the lab; where one
//! cannot be set up they are skipped, with the reason. Each test makes rows of the tables in docs/reliability.md and
//! fails if an outcome differs from the document. `FSDYNO_RELIABILITY=write` writes the new ones. `set_ups` reads the tests
//! that the document's table of dishonest set-ups names.

mod document;
mod ends;
mod fuse;
mod hangs;
mod lab;
mod limits;
mod phases;
mod program;
mod scarce;
mod set_ups;
mod space;
mod verify;
