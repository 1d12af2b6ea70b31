//! Where a person's own files for fsdyno lie.

use std::path::PathBuf;

/// `$XDG_CONFIG_HOME/fsdyno`, or `~/.config/fsdyno`; `None`: no home is known.
pub fn directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base =
        set("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(base.join("fsdyno"))
}
