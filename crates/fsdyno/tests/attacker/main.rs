//! Another user of the same directory, a link planted, a mount swapped, a process killed: nobody's files are touched, and
//! nothing of ours stays. What needs a second user, a mount or a namespace needs root, and says so when it is skipped.

mod disks;
mod files;
mod kills;
mod loops;
mod markers;
mod scene;
mod shared_space;
mod swaps;
