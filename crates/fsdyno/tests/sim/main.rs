//! The whole binary against hand arithmetic: the `sim` engine plays a device with a set service time on a virtual
//! clock, so that every number of a report can be worked out on paper and must come out exactly.
#![forbid(unsafe_code)]

mod durability;
mod faults;
mod pacing;
mod recorded;
mod run;
mod sizes;
mod timing;
