//! Tests attacks: another user of the same directory, a planted link, a swapped mount, a killed process. Nobody's files
//! are touched, and nothing of ours remains. Tests that need a second user, a mount or a namespace need root, and print
//! why they are skipped.

mod disks;
mod files;
mod kills;
mod loops;
mod markers;
mod scene;
mod shared_space;
mod stores;
mod swaps;
