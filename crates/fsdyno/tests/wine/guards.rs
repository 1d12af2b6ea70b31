//! What protects disks that are in use.

use std::os::unix::fs::symlink;

use testkit::text;

use crate::bench::{directory, wine};

/// A volume that no letter belongs to is read and written; a disk whose volumes are not visible is not written. A file
/// stands for the volume: Wine takes what is linked under this name for one.
#[test]
fn a_raw_volume_is_used_and_a_disk_that_may_be_in_use_is_not() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let image = place.path().join("image");
    std::fs::write(&image, vec![0u8; 4 << 20]).unwrap();
    let link = wine.prefix.join("dosdevices/x::");
    let _ = std::fs::remove_file(&link);
    symlink(&image, &link).unwrap();
    let shape = ["--name=a", "--size=1m", "--bs=64k", "--verify=crc32c", "--thread"];
    for engine in ["--ioengine=psync", "--ioengine=windowsaio"] {
        let wrote = wine.job(&[&shape[..], &[r"--filename=\\.\X\:", "--rw=write", engine]].concat());
        assert_eq!((&wrote["write"]["total_ios"], &wrote["error"]), (&16.into(), &0.into()), "{engine}");
    }
    std::fs::remove_file(&link).unwrap();
    assert!(std::fs::read(&image).unwrap()[..1 << 20].iter().any(|byte| *byte != 0), "the volume was written");

    let disk = [r"--filename=\\.\PhysicalDrive0", "--name=a", "--rw=write", "--size=1m"];
    let refused = wine.try_fsdyno(&disk);
    let said = text(&refused.stdout) + &text(&refused.stderr);
    assert!(!refused.status.success() && said.contains("refusing to write to it"), "{said}");
}
