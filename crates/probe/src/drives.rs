//! Interprets names of raw disks and volumes of Windows. It makes no system call, so that it is tested on every
//! system.

use std::path::PathBuf;

use crate::{DeviceUse, Fact, NotVisible};

/// What a name of a raw disk or volume stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Raw {
    /// `\\.\PhysicalDrive1`
    Disk(u32),
    /// `\\.\D:`, `\\.\Volume{…}`: the beginning of the volume's other names.
    Volume(String),
    /// Anything else below `\\.\`.
    Other,
}

/// The raw disk or volume that a path names, in each spelling: `\\.\`, `//./`, `\\?\`, `\??\`. `None`: the path names
/// a file.
pub(crate) fn raw(path: &str) -> Option<Raw> {
    const DISK: &str = "physicaldrive";
    let path = path.replace('/', r"\");
    let plain = path.strip_prefix(r"\\?\").or_else(|| path.strip_prefix(r"\??\"));
    // Without a path after it, the name is that of the device itself.
    let name = match plain {
        Some(name) if name.contains('\\') && !name.to_ascii_lowercase().starts_with("globalroot") => return None,
        Some(name) => name,
        None => path.strip_prefix(r"\\.\")?,
    };
    let lower = name.to_ascii_lowercase();
    if let Some(number) = lower.strip_prefix(DISK) {
        return Some(number.parse().map_or(Raw::Other, Raw::Disk));
    }
    match lower.trim_end_matches('\\').as_bytes() {
        [b'a'..=b'z', b':'] => Some(Raw::Volume(format!(r"{}:\", &name[..1].to_ascii_uppercase()))),
        _ if lower.starts_with("volume{") => Some(Raw::Volume(format!(r"\\?\{}\", name.trim_end_matches('\\')))),
        _ => Some(Raw::Other),
    }
}

/// A volume of the machine, and where it lies.
#[derive(Clone, Debug)]
pub(crate) struct VolumeLocation {
    /// `\\?\Volume{…}\`
    pub(crate) name: String,
    /// Drives and folders where it is mounted.
    pub(crate) mounted_at: Vec<PathBuf>,
    /// The numbers of the disks that it lies on.
    pub(crate) disks: Fact<Vec<u32>>,
}

/// Who uses a raw disk or volume. Each volume on a disk uses the disk, mounted or not. A volume that does not tell
/// its disks may be on any of them.
pub(crate) fn use_of(target: &Raw, volumes: Fact<Vec<VolumeLocation>>) -> DeviceUse {
    let mut found = DeviceUse::default();
    let volumes = match volumes {
        Ok(volumes) => volumes,
        Err(reason) => return DeviceUse { unseen: Some(reason), ..found },
    };
    if *target == Raw::Other {
        found.unseen = Some(NotVisible::new("the use of this device", "its name is that of no disk or volume"));
    }
    for volume in volumes {
        match target {
            Raw::Volume(name) => {
                if volume.is_called(name) {
                    found.mounted_at.extend(volume.mounted_at);
                }
            }
            Raw::Disk(number) => match &volume.disks {
                Ok(disks) if !disks.contains(number) => {}
                Ok(_) if volume.mounted_at.is_empty() => found.holders.push(volume.name),
                Ok(_) => found.mounted_at.extend(volume.mounted_at),
                Err(reason) => found.unseen = Some(reason.clone()),
            },
            Raw::Other => {}
        }
    }
    found
}

impl VolumeLocation {
    fn is_called(&self, name: &str) -> bool {
        let same = |own: &str| own.eq_ignore_ascii_case(name);
        same(&self.name) || self.mounted_at.iter().any(|point| same(&point.to_string_lossy()))
    }
}

/// Server and share of a remote drive, from the kernel's name behind its letter:
/// `\Device\LanmanRedirector\;Z:0000000000012345\server\share`.
pub(crate) fn share(device: &str) -> Option<(&str, &str)> {
    let (_, after) = device.split_once(r"\;")?;
    let mut words = after.split('\\').skip(1);
    words.next().zip(words.next()).filter(|(server, share)| !server.is_empty() && !share.is_empty())
}

/// Server and share of a path that contains them: `\\server\share\…`.
pub(crate) fn named_share(path: &str) -> Option<(&str, &str)> {
    let mut words = path.strip_prefix(r"\\?\UNC\").or_else(|| path.strip_prefix(r"\\"))?.split('\\');
    let (server, share) = words.next().zip(words.next())?;
    (!["", ".", "?"].contains(&server) && !share.is_empty()).then_some((server, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_disks_and_volumes_are_told_from_those_of_files() {
        assert_eq!(raw(r"\\.\PhysicalDrive12"), Some(Raw::Disk(12)));
        assert_eq!(raw(r"\\.\PHYSICALDRIVE0"), Some(Raw::Disk(0)));
        assert_eq!(raw(r"\\.\d:"), Some(Raw::Volume(r"D:\".into())));
        assert_eq!(raw(r"\\.\D:\"), Some(Raw::Volume(r"D:\".into())));
        assert_eq!(raw(r"\\.\Volume{1-2}"), Some(Raw::Volume(r"\\?\Volume{1-2}\".into())));
        assert_eq!(raw(r"\\.\PhysicalDrive"), Some(Raw::Other));
        assert_eq!(raw(r"\\.\Harddisk0Partition1"), Some(Raw::Other));
        for disk in ["//./PhysicalDrive3", r"\\?\PhysicalDrive3", r"\??\physicaldrive3"] {
            assert_eq!(raw(disk), Some(Raw::Disk(3)), "{disk}");
        }
        assert_eq!(raw(r"\\?\c:"), Some(Raw::Volume(r"C:\".into())));
        assert_eq!(raw(r"\\?\Volume{1-2}"), Some(Raw::Volume(r"\\?\Volume{1-2}\".into())));
        for device in [r"\\?\GLOBALROOT\Device\Harddisk0\Partition0", r"\\?\scsi#disk&ven_x#{53f56307}"] {
            assert_eq!(raw(device), Some(Raw::Other), "{device}");
        }
        let files =
            [r"C:\data\file", r"\\server\share\file", "file", r"\\?\C:\file", r"\\?\UNC\nas\x", r"\\?\Volume{1}\"];
        for file in files {
            assert_eq!(raw(file), None, "{file}");
        }
    }

    fn volumes() -> Fact<Vec<VolumeLocation>> {
        let lies = |name: &str, mounted_at: &[&str], disks: &[u32]| VolumeLocation {
            name: format!(r"\\?\Volume{{{name}}}\"),
            mounted_at: mounted_at.iter().map(PathBuf::from).collect(),
            disks: Ok(disks.to_vec()),
        };
        Ok(vec![
            lies("system", &[r"C:\"], &[0]),
            lies("recovery", &[], &[1]),
            lies("span", &[r"D:\", r"C:\mnt\"], &[2, 3]),
        ])
    }

    fn reason(path: &str) -> Option<String> {
        use_of(&raw(path).unwrap(), volumes()).reason()
    }

    /// A plan that writes is refused if there is a reason.
    #[test]
    fn what_holds_a_volume_is_in_use() {
        assert_eq!(reason(r"\\.\PhysicalDrive0").as_deref(), Some(r"is mounted at C:\"));
        assert_eq!(reason(r"\\.\PhysicalDrive1").as_deref(), Some(r"is part of \\?\Volume{recovery}\"));
        assert_eq!(
            reason(r"\\.\PhysicalDrive3").as_deref(),
            Some(r"is mounted at D:\"),
            "one of the disks that the volume spans"
        );
        assert_eq!(reason(r"\\.\PhysicalDrive4"), None, "nothing is on it");
        assert_eq!(reason(r"\\.\c:").as_deref(), Some(r"is mounted at C:\"));
        assert_eq!(reason(r"\\.\Volume{span}").as_deref(), Some(r"is mounted at D:\"));
        assert_eq!(reason(r"\\.\Volume{recovery}"), None, "mounted nowhere; its signature tells what it holds");
        assert!(reason(r"\\.\Harddisk0Partition1").unwrap().contains("may be in use"));
        assert!(use_of(&Raw::Other, Ok(Vec::new())).reason().is_some(), "without a volume too");
    }

    #[test]
    fn what_cannot_be_seen_may_be_in_use() {
        let hidden = || NotVisible::new("volumes", "Access denied");
        let target = Raw::Disk(4);
        let reason = |volumes| use_of(&target, volumes).reason().unwrap();
        assert_eq!(reason(Err(hidden())), "may be in use (not visible: volumes: Access denied)");
        let mut one_hides = volumes().unwrap();
        one_hides[2].disks = Err(hidden());
        assert!(reason(Ok(one_hides)).starts_with("may be in use"));
    }

    #[test]
    fn servers_and_shares() {
        let mapped = r"\Device\LanmanRedirector\;Z:0000000000012345\nas\data";
        assert_eq!(share(mapped), Some(("nas", "data")));
        assert_eq!(share(r"\Device\HarddiskVolume3"), None);
        assert_eq!(named_share(r"\\nas\data\file"), Some(("nas", "data")));
        assert_eq!(named_share(r"\\?\UNC\nas\data"), Some(("nas", "data")));
        for path in [r"\\.\PhysicalDrive1", r"\\?\C:\x", r"C:\x", r"\\nas"] {
            assert_eq!(named_share(path), None, "{path}");
        }
    }
}
