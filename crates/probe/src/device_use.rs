//! The users of a device that a job would change, and what the device contains.

use std::path::PathBuf;

use crate::NotVisible;

/// Reasons not to change a device, or a file that a device lies on. Empty: none was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceUse {
    /// Mount points of the device and of its partitions.
    pub mounted_at: Vec<PathBuf>,
    /// Whether it is swap space of this system.
    pub swap: bool,
    /// Devices built on it (dm, md).
    pub holders: Vec<String>,
    /// The device that it is a part of and that is in use: the end of a sentence that begins with the device's name.
    pub through: Option<String>,
    /// Whether the kernel refuses to open it exclusively, because somebody has claimed it.
    pub claimed: bool,
    /// Other programs that have opened it for writing.
    pub writers: Vec<String>,
    /// Its content by the signatures in its first and last bytes: a filesystem, a volume, a partition table.
    pub holds: Option<String>,
    /// Why its users are not visible.
    pub unseen: Option<NotVisible>,
}

impl DeviceUse {
    /// Why it must not be changed unasked: the end of a sentence that begins with its name. The most certain reason
    /// comes first. `None`: nothing was found.
    pub fn reason(&self) -> Option<String> {
        if let Some(place) = self.mounted_at.first() {
            return Some(format!("is mounted at {}", place.display()));
        }
        if self.swap {
            return Some("is swap space in use".to_owned());
        }
        if !self.holders.is_empty() {
            return Some(format!("is part of {}", self.holders.join(", ")));
        }
        if let Some(reason) = &self.through {
            return Some(reason.clone());
        }
        if self.claimed {
            return Some(
                "is in use: by whom is not visible, but the kernel refuses an exclusive open (EBUSY)".to_owned(),
            );
        }
        if !self.writers.is_empty() {
            return Some(format!("is open for writing by {}", self.writers.join(", ")));
        }
        if let Some(name) = &self.holds {
            return Some(format!("holds {name}"));
        }
        self.unseen.as_ref().map(|reason| format!("may be in use ({reason})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_is_a_reason_and_the_surest_comes_first() {
        assert_eq!(DeviceUse::default().reason(), None);
        let mut found = DeviceUse { unseen: Some(NotVisible::new("/dev/x", "EIO")), ..DeviceUse::default() };
        let says = |found: &DeviceUse, words: &str| assert!(found.reason().unwrap().starts_with(words), "{words}");
        says(&found, "may be in use (not visible: /dev/x: EIO)");
        found.holds = Some("an xfs filesystem".to_owned());
        says(&found, "holds an xfs filesystem");
        found.writers = vec!["qemu (process 7)".to_owned()];
        says(&found, "is open for writing by qemu (process 7)");
        found.claimed = true;
        says(&found, "is in use: by whom is not visible");
        found.through = Some("backs loop0, which is mounted at /mnt".to_owned());
        says(&found, "backs loop0, which is mounted at /mnt");
        found.holders = vec!["dm-0".to_owned(), "md1".to_owned()];
        says(&found, "is part of dm-0, md1");
        found.swap = true;
        says(&found, "is swap space in use");
        found.mounted_at = vec!["/data".into(), "/home".into()];
        says(&found, "is mounted at /data");
    }
}
