//! Joins the published profiles and compresses them: uncompressed they would be twice as large as the judging code.

use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("profiles");
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the folder of profiles can be read");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    files.sort();
    // Name and text in turn, each ended by a zero byte.
    let mut joined = Vec::new();
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a profile's name is text");
        joined.extend([name.as_bytes(), b"\0", &fs::read(&file).expect("a profile can be read"), b"\0"].concat());
    }
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("profiles.deflated");
    fs::write(target, miniz_oxide::deflate::compress_to_vec(&joined, 10)).expect("cargo's folder can be written");
}
