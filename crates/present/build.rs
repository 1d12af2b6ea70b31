//! Compresses the style of the sheet: uncompressed it is four times as large in the program.

use std::path::Path;
use std::{env, fs};

fn main() {
    let file = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src/sheet/style.css");
    println!("cargo:rerun-if-changed={}", file.display());
    let style = fs::read(&file).expect("the style can be read");
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("style.css.deflated");
    fs::write(target, miniz_oxide::deflate::compress_to_vec(&style, 10)).expect("cargo's folder can be written");
}
