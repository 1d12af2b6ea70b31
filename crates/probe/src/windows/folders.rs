//! Folders of the user.

use crate::{UserFolder, folder_in};

/// A folder of this machine only, because records describe its storage.
pub(crate) fn data_folder() -> UserFolder {
    let below_profile = || Some(folder_in("USERPROFILE")?.join(r"AppData\Local"));
    UserFolder { path: folder_in("LOCALAPPDATA").or_else(below_profile), variables: "LOCALAPPDATA nor USERPROFILE" }
}

/// A folder that follows the user to all machines.
pub(crate) fn configuration_folder() -> UserFolder {
    let below_profile = || Some(folder_in("USERPROFILE")?.join(r"AppData\Roaming"));
    UserFolder { path: folder_in("APPDATA").or_else(below_profile), variables: "APPDATA nor USERPROFILE" }
}
