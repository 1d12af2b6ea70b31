//! Tests several ranks of the program, started by Open MPI's launcher.

mod breaks;
mod clients;
mod hosts;
mod io500;
mod launcher;
mod nfs;
mod one_record;
mod questions;
mod same_storage;
mod stores;
