//! The wall clock: for time stamps in records only, never for durations.

/// Milliseconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "only this function reads the wall clock")]
pub fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
