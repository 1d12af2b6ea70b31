//! Tests each trap with a record written by hand, and with a similar one that must have no finding.

mod arbitrary;
mod beside;
mod between;
mod explanations;
mod limits;
mod machine;
mod memory;
mod network;
mod nodes;
mod objects;
mod phases;
mod plans;
mod reads;
mod scene;
mod series;
mod shape;
mod writes;
