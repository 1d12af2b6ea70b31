//! Folders of the user, by the XDG base directory specification.

use std::path::{Path, PathBuf};

use crate::{UserFolder, folder_in};

pub(crate) fn data_folder() -> UserFolder {
    UserFolder { path: folder("XDG_DATA_HOME", ".local/share"), variables: "XDG_DATA_HOME nor HOME" }
}

pub(crate) fn configuration_folder() -> UserFolder {
    UserFolder { path: folder("XDG_CONFIG_HOME", ".config"), variables: "XDG_CONFIG_HOME nor HOME" }
}

fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    folder_in(variable).filter(|path| Path::is_absolute(path)).or_else(|| Some(folder_in("HOME")?.join(below_home)))
}
