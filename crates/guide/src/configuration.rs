//! Where a person's own files for fsdyno lie.

use std::path::PathBuf;

/// `$XDG_CONFIG_HOME/fsdyno`, or `~/.config/fsdyno`; on Windows `%APPDATA%\fsdyno`. `None`: no home is known.
pub fn directory() -> Option<PathBuf> {
    Some(fsdyno_probe::configuration_folder().path?.join("fsdyno"))
}
