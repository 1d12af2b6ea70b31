//! What the tool says about network and object mounts, proved on real ones, and traps that need a disk or a machine of
//! their own: each test stands a stack of the lab up and runs itself in it. Where a stack cannot stand the test is
//! skipped, with the reason.
#![forbid(unsafe_code)]

mod attribution;
mod below;
mod bench;
mod case_c;
mod daemons;
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
mod time;
mod time_proof;
mod time_traps;
mod trust;
