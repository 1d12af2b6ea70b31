"""A FUSE file system that makes the faults that a test asks for."""

import os
from pathlib import Path

from . import guest
from .host_filesystems import mount_image, why_no_loop
from .stack import LAB, Daemon, Place, Stack, do, is_mounted

CONNECTIONS = Path("/sys/fs/fuse/connections")


class Fuse(Stack):
    name = "fuse"
    summary = "a FUSE file system that is slow, fails, hangs or moves less than asked for, as bin/lab-fault says"
    needs = ("cc", "pkg-config", "/usr/include/fuse3/fuse.h", "fusermount3")

    def why_not(self):
        return guest.why_no_fuse()

    def stand(self, room, options):
        program = room.path / "faultfs"
        flags = do("pkg-config", "--cflags", "--libs", "fuse3").split()
        do("cc", "-O2", "-Wall", "-Wextra", "-o", program, LAB / "faultfs.c", *flags)
        behind, folder = room.path / "behind", room.path / "mnt"
        behind.mkdir()
        folder.mkdir()
        # Since version 3.12 the library has ten threads by default, and ten requests that hang would stop everything.
        version = tuple(map(int, do("pkg-config", "--modversion", "fuse3").split(".")[:2]))
        threads = ["-o", "max_threads=500"] if version >= (3, 12) else []
        daemon = Daemon(room, "faultfs", [program, behind, folder, "-f", *threads])
        daemon.wait_until(lambda: is_mounted(folder))
        if not is_mounted(CONNECTIONS):
            do("mount", "-t", "fusectl", "fusectl", CONNECTIONS)
        connection = os.minor(folder.stat().st_dev)
        return Place(
            {
                "LAB_TARGET": str(folder),
                "LAB_FUSE": str(folder),
                "LAB_FUSE_BEHIND": str(behind),
                "LAB_FAULTS": str(folder / ".faults"),
                "LAB_FUSE_ABORT": str(CONNECTIONS / str(connection) / "abort"),
            }
        )


class Bindfs(Stack):
    name = "bindfs"
    summary = "bindfs, a daemon without a server, over ext4; its network is idle"
    needs = ("losetup", "mkfs.ext4", "bindfs", "fusermount3")
    own_network = True

    def why_not(self):
        return guest.why_no_fuse() or why_no_loop()

    def stand(self, room, options):
        below, device = mount_image(room, "ext4", 1024)
        folder = room.path / "bound"
        folder.mkdir()
        daemon = Daemon(room, "bindfs", ["bindfs", "-f", below, folder])
        daemon.wait_until(lambda: is_mounted(folder))
        return Place(
            {"LAB_TARGET": str(folder), "LAB_FUSE": str(folder), "LAB_LOCAL": str(below), "LAB_DEVICE": device}
        )
