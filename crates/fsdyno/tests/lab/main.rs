//! Tests the statements on network and object mounts with real ones, and traps that need their own disk or machine:
//! each test sets up a stack of the lab and runs itself in it. Where a stack cannot be set up the test is skipped, with
//! the reason.
#![forbid(unsafe_code)]

mod attribution;
mod below;
mod bench;
mod case_c;
mod commands;
mod daemons;
mod devices;
mod filesystems;
mod machine;
mod neighbour_matrix;
mod neighbours;
mod nfs;
mod phases;
mod s3fs;
mod series;
mod sockets;
mod stack;
mod stores;
mod time;
mod time_proof;
mod time_traps;
mod trust;
mod vsock;
