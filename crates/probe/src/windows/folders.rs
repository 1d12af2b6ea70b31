//! Folders of the user.

use crate::{UserFolder, folder_in};

/// On this machine alone: records tell of its storage.
pub(crate) fn data_folder() -> UserFolder {
    let below_profile = || Some(folder_in("USERPROFILE")?.join(r"AppData\Local"));
    UserFolder { path: folder_in("LOCALAPPDATA").or_else(below_profile), variables: "LOCALAPPDATA nor USERPROFILE" }
}

/// On all machines of this user.
pub(crate) fn configuration_folder() -> UserFolder {
    let below_profile = || Some(folder_in("USERPROFILE")?.join(r"AppData\Roaming"));
    UserFolder { path: folder_in("APPDATA").or_else(below_profile), variables: "APPDATA nor USERPROFILE" }
}
