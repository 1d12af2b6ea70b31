//! Finds the directory of the user's own configuration files.

use std::path::PathBuf;

/// `$XDG_CONFIG_HOME/fsdyno`, or `~/.config/fsdyno`; on Windows `%APPDATA%\fsdyno`. `None`: no home is known.
pub fn directory() -> Option<PathBuf> {
    Some(fsdyno_probe::configuration_folder().path?.join("fsdyno"))
}
