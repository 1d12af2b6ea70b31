//! The plan as a pure function: jobs as a person writes them, facts of the machine by hand, and fio's answers.
#![forbid(unsafe_code)]

mod groups;
mod layouts;
mod queueing;
mod record;
mod refusals;
mod sizes;
mod world;
