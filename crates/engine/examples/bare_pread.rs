//! A loop of pread that counts and times nothing: the floor for two jobs of the engine `psync` on two processors. It
//! reads blocks of 4 KiB at random places, and prints its reads per second.
//!
//! Words: the file, and the seconds.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figure is for the caller"))]

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    use std::io::Error;
    use std::os::unix::fs::FileExt;

    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, seconds] = words.as_slice() else { return Err(Error::other("words: FILE SECONDS")) };
    let seconds: f64 = seconds.parse().map_err(Error::other)?;
    let file = std::fs::File::open(path)?;
    let blocks = file.metadata()?.len() / 4096;
    let mut buffer = [0; 4096];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    let (start, mut reads) = (now(), 0);
    while now() - start < seconds {
        for _ in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            file.read_exact_at(&mut buffer, state % blocks * 4096)?;
            reads += 1;
        }
    }
    println!("{:.0}", f64::from(reads) / (now() - start));
    Ok(())
}

/// Seconds on the monotonic clock.
#[cfg(unix)]
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
fn main() {}
