//! A mounted filesystem.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mount {
    /// The kernel's number of the mount; `None`: an older record without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Device number that its files show.
    pub device: DeviceNumber,
    /// The directory of the filesystem that is mounted: not `/` for bind mounts and subvolumes; `None`: an older
    /// record.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "as_text_if_known")]
    pub root: Option<PathBuf>,
    /// Directory where it is mounted.
    #[serde(serialize_with = "as_text")]
    pub mount_point: PathBuf,
    /// Device, `server:/path`, or label.
    pub source: String,
    /// `ext4`, `nfs4`, `fuse.s3fs`.
    pub fstype: String,
    /// All options of the mount, then those of the filesystem, as the kernel lists them, without repetitions.
    pub options: Vec<String>,
}

impl Mount {
    /// Whether writes are refused.
    pub fn read_only(&self) -> bool {
        self.option("ro").is_some()
    }

    /// Value of an option of the mount or its filesystem; empty for an option without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut words = self.options.iter().map(|option| option.split_once('=').unwrap_or((option, "")));
        words.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// A device number. Saved as `major:minor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceNumber {
    /// The driver's number. 0: the filesystem lies on no real device.
    pub major: u32,
    /// The number of the device within the driver.
    pub minor: u32,
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl From<DeviceNumber> for String {
    fn from(number: DeviceNumber) -> String {
        number.to_string()
    }
}

/// The text is not a device number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a device number is written major:minor")]
pub struct NoDeviceNumber;

impl FromStr for DeviceNumber {
    type Err = NoDeviceNumber;
    fn from_str(text: &str) -> Result<DeviceNumber, NoDeviceNumber> {
        let number = |word: &str| word.parse().map_err(|_| NoDeviceNumber);
        let (major, minor) = text.split_once(':').ok_or(NoDeviceNumber)?;
        Ok(DeviceNumber { major: number(major)?, minor: number(minor)? })
    }
}

impl TryFrom<String> for DeviceNumber {
    type Error = NoDeviceNumber;
    fn try_from(text: String) -> Result<DeviceNumber, NoDeviceNumber> {
        text.parse()
    }
}

/// A path may contain bytes that are not UTF-8; a record replaces them by the replacement character.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn as_text_if_known<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(options: &[&str]) -> Mount {
        Mount { options: options.iter().map(|option| option.to_string()).collect(), ..Mount::default() }
    }

    #[test]
    fn options_of_mount_and_filesystem_are_found() {
        let mount = mount(&["rw", "noatime", "upperdir=/a", "discard"]);
        assert_eq!(mount.option("noatime"), Some(""));
        assert_eq!(mount.option("upperdir"), Some("/a"));
        assert_eq!(mount.option("upper"), None);
        assert!(!mount.read_only());
    }

    #[test]
    fn read_only_mount_or_filesystem() {
        assert!(mount(&["rw", "ro", "errors=continue"]).read_only());
        assert!(!mount(&["rw", "errors=remount-ro"]).read_only());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_saved() {
        use std::os::unix::ffi::OsStringExt;
        let strange = PathBuf::from(std::ffi::OsString::from_vec(b"/m\xff".to_vec()));
        let mount = Mount { mount_point: strange, device: DeviceNumber { major: 8, minor: 1 }, ..Mount::default() };
        let saved = serde_json::to_value(&mount).unwrap();
        assert_eq!((&saved["mount_point"], &saved["device"]), (&"/m\u{fffd}".into(), &"8:1".into()));
        assert!(serde_json::from_value::<Mount>(saved).is_ok());
        assert_eq!("8".parse::<DeviceNumber>(), Err(NoDeviceNumber));
    }
}
