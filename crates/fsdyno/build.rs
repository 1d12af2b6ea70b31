//! Links at a fixed address: the thousands of pointers of the option table are then right in the file and need not be
//! put right in memory at each start, which costs memory and time.

fn main() {
    println!("cargo:rustc-link-arg-bins=-no-pie");
    println!("cargo:rerun-if-changed=build.rs");
}
