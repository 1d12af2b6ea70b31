//! Tests the whole binary against calculation by hand: the `sim` engine simulates a device with a given service time on
//! a virtual clock, so that every number of a report can be computed on paper and must be exact.
#![forbid(unsafe_code)]

mod durability;
mod faults;
mod pacing;
mod recorded;
mod run;
mod sizes;
mod timing;
