//! Reads the profiles of the folder `profiles`, which the build script has joined and compressed.

/// Name and text in turn, each ended by a zero byte.
const JOINED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/profiles.deflated"));

/// The files with their texts, by name.
pub(super) fn compiled_in() -> Vec<(String, String)> {
    let joined = miniz_oxide::inflate::decompress_to_vec(JOINED).expect("the build script has compressed it");
    let joined = String::from_utf8_lossy(&joined).into_owned();
    let parts: Vec<&str> = joined.split_terminator('\0').collect();
    parts.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
}
