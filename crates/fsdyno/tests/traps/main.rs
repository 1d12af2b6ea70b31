//! The traps on a real filesystem, through the real binary: the wrong number is printed and marked, and its honest
//! twin is not.
#![forbid(unsafe_code)]

mod below;
mod bench;
mod beside;
mod face;
mod holes;
mod memory;
mod nodes;
mod objects;
mod plans;
mod reads;
mod removed;
mod replays;
mod stalls;
mod writes;
