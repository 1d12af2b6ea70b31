//! Signatures at a fixed place that are too long to occur by chance.

/// The bytes of a signature and their place.
pub(super) struct Mark {
    pub(super) offset: u32,
    /// Whether the offset counts back from the end of the device.
    pub(super) from_end: bool,
    pub(super) bytes: &'static [u8],
    pub(super) name: &'static str,
}

const fn mark(offset: u32, bytes: &'static [u8], name: &'static str) -> Mark {
    Mark { offset, from_end: false, bytes, name }
}

const fn before_end(offset: u32, bytes: &'static [u8], name: &'static str) -> Mark {
    Mark { offset, from_end: true, bytes, name }
}

const MIB: u32 = 1 << 20;

pub(super) const MARKS: &[Mark] = &[
    // Filesystems of Linux.
    mark(0, b"XFSB", "an xfs filesystem"),
    mark(65_600, b"_BHRfS_M", "a btrfs filesystem"),
    mark(4_120, BCACHEFS, "a bcachefs filesystem"),
    mark(1_024, b"\x10\x20\xf5\xf2", "an f2fs filesystem"),
    mark(1_024, b"\xe2\xe1\xf5\xe0", "an erofs filesystem"),
    mark(0, b"hsqs", "a squashfs filesystem"),
    mark(0, b"sqsh", "a squashfs filesystem"),
    mark(32_768, b"JFS1", "a jfs filesystem"),
    mark(65_588, b"ReIsErFs", "a reiserfs filesystem"),
    mark(65_588, b"ReIsEr2Fs", "a reiserfs filesystem"),
    mark(65_588, b"ReIsEr3Fs", "a reiserfs filesystem"),
    mark(8_212, b"ReIsErFs", "a reiserfs filesystem"),
    mark(8_244, b"ReIsErFs", "a reiserfs filesystem"),
    mark(65_536, b"ReIsEr4", "a reiser4 filesystem"),
    mark(0, b"\x45\x3d\xcd\x28", "a cramfs filesystem"),
    mark(0, b"\x28\xcd\x3d\x45", "a cramfs filesystem"),
    mark(512, b"\x45\x3d\xcd\x28", "a cramfs filesystem"),
    mark(0, b"-rom1fs-", "a romfs filesystem"),
    mark(0, b"SFOZ", "a zonefs filesystem"),
    mark(0, b"\x31\x18\x10\x06", "a ubifs filesystem"),
    mark(0, b"UBI#", "a UBI volume"),
    // Filesystems that several machines share.
    mark(65_536, b"\x01\x16\x19\x70", "a gfs or gfs2 filesystem"),
    mark(1_024, b"OCFSV2", "an ocfs2 filesystem"),
    mark(2_048, b"OCFSV2", "an ocfs2 filesystem"),
    mark(4_096, b"OCFSV2", "an ocfs2 filesystem"),
    mark(8_192, b"OCFSV2", "an ocfs2 filesystem"),
    mark(8, b"OracleCFS", "an ocfs filesystem"),
    mark(2 * MIB, b"\x5e\xf1\xab\x2f", "a VMFS filesystem"),
    mark(MIB, b"\x0d\xd0\x01\xc0", "a part of a VMFS volume"),
    // Filesystems of other systems.
    mark(32_769, b"CD001", "an ISO 9660 filesystem"),
    mark(32_769, b"BEA01", "a UDF filesystem"),
    mark(32_769, b"NSR0", "a UDF filesystem"),
    mark(3, b"NTFS    ", "an NTFS filesystem"),
    mark(0, b"\0\0\0ReFS\0", "a ReFS filesystem"),
    mark(3, b"EXFAT   ", "an exFAT filesystem"),
    mark(82, b"FAT32   ", "a FAT filesystem"),
    mark(54, b"FAT16   ", "a FAT filesystem"),
    mark(54, b"FAT12   ", "a FAT filesystem"),
    mark(1_024, b"H+\0\x04", "an HFS+ filesystem"),
    mark(1_024, b"HX\0\x05", "an HFS+ filesystem"),
    mark(32, b"NXSB", "an APFS container"),
    mark(0, b"\xce\xfa\xad\x1b", "a bfs filesystem"),
    mark(544, b"1SFB", "a BeFS filesystem"),
    mark(32, b"BFS1", "a BeFS filesystem"),
    mark(544, b"BFS1", "a BeFS filesystem"),
    mark(8_192, b"\x49\xe8\x95\xf9", "an HPFS filesystem"),
    mark(1_024, b"\xf5\xfc\x01\xa5", "a VxFS filesystem"),
    mark(8_192, b"\xa5\x01\xfc\xf5", "a VxFS filesystem"),
    mark(4_096, b"SPB5", "a Netware filesystem"),
    // Volumes and other layers below a filesystem.
    mark(0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    mark(3, b"-FVE-FS-", "an encrypted volume (BitLocker)"),
    mark(24, b"LVM2 001", "an LVM physical volume"),
    mark(536, b"LVM2 001", "an LVM physical volume"),
    mark(1_048, b"LVM2 001", "an LVM physical volume"),
    mark(1_560, b"LVM2 001", "an LVM physical volume"),
    mark(0, b"HM\x01\0", "an LVM physical volume"),
    mark(0, b"HM\x02\0", "an LVM physical volume"),
    mark(0, b"\xfc\x4e\x2b\xa9", "a RAID member (md)"),
    mark(4_096, b"\xfc\x4e\x2b\xa9", "a RAID member (md)"),
    mark(4_120, BCACHE, "a bcache device"),
    mark(0, b"dmvdo001", "a VDO volume"),
    mark(516, STRATIS, "a Stratis pool's device"),
    mark(4_612, STRATIS, "a Stratis pool's device"),
    mark(0, b"SnAp", "a snapshot (device mapper)"),
    mark(0, b"verity\0\0", "a verity volume (device mapper)"),
    mark(0, b"integrt\0", "an integrity volume (device mapper)"),
    mark(0, b"bluestore block device", "a Ceph OSD (BlueStore)"),
    mark(32, b"ORCLDISK", "an Oracle ASM disk"),
    mark(0, b"SPDKBLOB", "an SPDK blobstore"),
    before_end(4_036, b"\x83\x74\x02\x6b", "a DRBD device"),
    before_end(4_036, b"\x83\x74\x02\x6d", "a DRBD device"),
    before_end(512, b"\xde\x11\xde\x11", "a RAID member (DDF)"),
    before_end(131_584, b"\xde\x11\xde\x11", "a RAID member (DDF)"),
    before_end(1_024, b"Intel Raid ISM Cfg Sig. ", "a RAID member (Intel)"),
    before_end(1_024, b"NVIDIA", "a RAID member (Nvidia)"),
    before_end(512, b"$XIDE$", "a RAID member (LSI)"),
    before_end(512, b"\x37\xfc\x4d\x1e", "a RAID member (Adaptec)"),
    before_end(512, b"GEOM::", "a GEOM volume"),
    mark(4_640, b"\xf0\x16\x78\x5a", "a RAID member (HighPoint)"),
    mark(4_640, b"\xfd\x16\x78\x5a", "a RAID member (HighPoint)"),
    // Partition tables; the second copy of GPT is at the end of the device.
    mark(512, b"EFI PART", "a partition table (GPT)"),
    mark(4_096, b"EFI PART", "a partition table (GPT)"),
    before_end(512, b"EFI PART", "a partition table (GPT)"),
    before_end(4_096, b"EFI PART", "a partition table (GPT)"),
    mark(512, b"\x57\x45\x56\x82", "a partition table (BSD)"),
    mark(64, b"\x57\x45\x56\x82", "a partition table (BSD)"),
    mark(0, b"\x0b\xe5\xa9\x41", "a partition table (SGI)"),
    mark(0, b"\xc9\xc2\xd4\xc1", "a partition table (AIX)"),
];

const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";
