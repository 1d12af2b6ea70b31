//! Devices that this kernel serves to other machines over NVMe, without claiming them.

use fsdyno_results::evidence::DeviceNumber;

use super::super::{Look, block, read_text};

/// The export of one of these devices, as the end of a sentence.
pub(super) fn of_device(look: &Look, family: &[DeviceNumber]) -> Option<String> {
    let subsystems = entries(&look.sys.join("kernel/config/nvmet/subsystems"));
    subsystems.into_iter().find_map(|subsystem| {
        let exported = entries(&subsystem.join("namespaces")).into_iter().any(|namespace| {
            let enabled = read_text(&namespace.join("enable")).is_ok_and(|text| text == "1");
            let device = read_text(&namespace.join("device_path")).ok().filter(|_| enabled);
            device.and_then(|path| block::block_number(path.as_ref())).is_some_and(|number| family.contains(&number))
        });
        let name = subsystem.file_name().filter(|_| exported)?.to_string_lossy().into_owned();
        Some(format!("is served to other machines as NVMe subsystem {name}"))
    })
}

fn entries(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;

    #[test]
    fn what_is_served_is_in_use_while_it_is() {
        let tree = fixture::tree();
        let namespace = tree.look.sys.join("kernel/config/nvmet/subsystems/nqn.x/namespaces/1");
        fs::create_dir_all(&namespace).unwrap();
        let Some(device) = ["/dev/loop0", "/dev/vda", "/dev/sda", "/dev/nvme0n1"]
            .into_iter()
            .find(|path| block::block_number(path.as_ref()).is_some())
        else {
            return;
        };
        let number = block::block_number(device.as_ref()).unwrap();
        fs::write(namespace.join("device_path"), format!("{device}\n")).unwrap();
        let served = |enabled: &str| {
            fs::write(namespace.join("enable"), enabled).unwrap();
            of_device(&tree.look, &[number])
        };
        assert_eq!(served("1\n").as_deref(), Some("is served to other machines as NVMe subsystem nqn.x"));
        assert_eq!(served("0\n"), None);
        assert_eq!(of_device(&tree.look, &[]), None);
    }
}
