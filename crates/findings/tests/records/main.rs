//! Each trap on a record written by hand, and a twin that must stay silent.

mod arbitrary;
mod beside;
mod between;
mod explanations;
mod limits;
mod machine;
mod memory;
mod network;
mod nodes;
mod phases;
mod plans;
mod reads;
mod scene;
mod series;
mod shape;
mod writes;
