//! Links the program of the tests to a fixed address. Each push starts it some 3,000 times, and a third of the CPU time of a
//! start is moving its 30 MB of unoptimised code to another address. A release is moved, as a protection against attacks.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("PROFILE") == "debug"
        && variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
