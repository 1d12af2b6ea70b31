//! Starts the write-back of each chunk early, while the next chunks are made.
//!
//! Otherwise the kernel collects dirty pages up to a tenth of the memory and writes them in fsync(2): the device is
//! idle first, and the caller waits afterwards. With a bounded number of windows in flight both are busy, the measured
//! rate is that of the device, and the rest of the page cache stays available.

use fsdyno_os::files::{FileCause, FileError, OpenFile};

/// Bytes whose write-back is started together.
const WINDOW_BYTES: u64 = 8 << 20;
/// Windows in flight before the oldest is waited for.
const WINDOWS_MAX: u64 = 8;

/// sync_file_range(2): start writing.
const BEGIN: u32 = 0b010;
/// sync_file_range(2): write, and wait.
const FINISH: u32 = 0b111;

/// The windows of one file.
pub(super) struct WriteBehind {
    enabled: bool,
    /// The write-back of everything below this offset was started.
    begun: u64,
    from: u64,
}

impl WriteBehind {
    /// Begins at the offset `from`. Without a later fsync the write-back is not enabled.
    pub(super) fn new(enabled: bool, from: u64) -> WriteBehind {
        WriteBehind { enabled, begun: from, from }
    }

    /// Called when the file has been written up to `end`.
    pub(super) fn written_to(&mut self, file: &OpenFile, end: u64) -> Result<(), FileError> {
        while self.enabled && end - self.begun >= WINDOW_BYTES {
            self.range(file, self.begun, BEGIN)?;
            self.begun += WINDOW_BYTES;
            if let Some(oldest) =
                self.begun.checked_sub(WINDOWS_MAX * WINDOW_BYTES).filter(|oldest| *oldest >= self.from)
            {
                self.range(file, oldest, FINISH)?;
                // The pages are clean now and not read before the run. This is only advice: a refusal is no failure.
                let _ = file.drop_cache(oldest, WINDOW_BYTES);
            }
        }
        Ok(())
    }

    /// Calls sync_file_range(2). A wait returns the device's errors; a system without the call is no error.
    fn range(&mut self, file: &OpenFile, start: u64, flags: u32) -> Result<(), FileError> {
        match file.sync_range(start, WINDOW_BYTES, flags) {
            Err(error) if matches!(error.cause, FileCause::Device | FileCause::NoSpace) => Err(error),
            Err(_) => {
                self.enabled = false;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}
