//! Tests the faces of the program with the real binary: what is printed where, what is left on disk, and how it ends
//! when something fails.
#![forbid(unsafe_code)]

mod program;

mod doctor;
mod documents;
mod drivers;
mod escapes;
mod findings;
mod json;
mod layout;
mod network;
mod objects;
mod one_look;
mod output;
mod progress;
mod records;
mod refusals;
mod rights;
mod same_face;
mod settings;
mod signals;
mod signatures;
mod stores;
mod webdav;
mod widths;
mod words;
