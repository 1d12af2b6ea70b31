//! Tests the plan as a pure function: jobs as a person writes them, with made-up facts of the machine, against fio's
//! answers.
#![forbid(unsafe_code)]

mod groups;
mod layouts;
mod queueing;
mod record;
mod refusals;
mod sizes;
mod world;
mod zones;
