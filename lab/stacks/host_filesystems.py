"""File systems of the host's own kernel, on loop devices or in memory."""

import os
from pathlib import Path

from .stack import Broken, Place, Stack, do


def why_no_loop() -> str | None:
    return None if os.path.exists("/dev/loop-control") else "no loop devices here (/dev/loop-control)"


def mount_image(room, kind: str, megabytes: int, options: str = "", make=(), memory: bool = False) -> tuple[Path, str]:
    """Makes an image of this kind and mounts it. Returns the mount point and the loop device.

    The kernel frees the device when the file system is unmounted. The device uses the image with direct I/O, so that
    there is no second page cache; an image in memory has no other one.
    """
    image = (mount_tmpfs(room, "memory", megabytes + 8) if memory else room.path) / f"{kind}.img"
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    do(f"mkfs.{kind}", "-q", *make, image)
    folder = room.path / "mnt"
    folder.mkdir()
    do("mount", "-t", kind, "-o", f"loop{options}", image, folder)
    device = do("findmnt", "--noheadings", "--output", "SOURCE", folder).strip().partition("[")[0]
    if not memory:
        do("losetup", "--direct-io=on", device)
    return folder, device


def variables(folder: Path, device: str = "") -> dict[str, str]:
    known = {"LAB_TARGET": str(folder), "LAB_LOCAL": str(folder)}
    return known | ({"LAB_DEVICE": device} if device else {})


def add_size(parser) -> None:
    parser.add_argument("--size-mb", type=int, default=1024, help="size of the file system")


class Loop(Stack):
    """ext4 or XFS."""

    def __init__(self, name: str):
        self.name = name
        self.summary = f"{name} on a loop device"
        self.needs = ("losetup", f"mkfs.{name}")

    def add_options(self, parser) -> None:
        add_size(parser)
        if self.name == "ext4":
            parser.add_argument("--inodes", type=int, help="inodes of the file system")

    def why_not(self):
        return why_no_loop() or why_no_filesystem(self.name)

    def stand(self, room, options):
        inodes = getattr(options, "inodes", None)
        make = ("-N", str(inodes)) if inodes else ()
        return Place(variables(*mount_image(room, self.name, options.size_mb, make=make)))


class Btrfs(Loop):
    def __init__(self):
        super().__init__("btrfs")
        self.summary = "btrfs on a loop device, with compression if asked for"

    def add_options(self, parser) -> None:
        super().add_options(parser)
        parser.add_argument("--compress", default="", metavar="ALGORITHM", help="zstd, lzo or zlib")

    def stand(self, room, options):
        compress = f",compress={options.compress}" if options.compress else ""
        return Place(variables(*mount_image(room, "btrfs", options.size_mb, compress)))


class Tmpfs(Stack):
    name = "tmpfs"
    summary = "a file system in memory"

    def add_options(self, parser) -> None:
        add_size(parser)

    def stand(self, room, options):
        return Place(variables(mount_tmpfs(room, "mnt", options.size_mb)))


def mount_tmpfs(room, name: str, megabytes: int) -> Path:
    folder = room.path / name
    folder.mkdir()
    do("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder)
    return folder


class Overlay(Stack):
    name = "overlay"
    summary = "an overlay whose two layers are on ext4; its file `below` is in the lower one until it is written to"
    needs = ("losetup", "mkfs.ext4")

    def add_options(self, parser) -> None:
        add_size(parser)
        parser.add_argument("--volatile", action="store_true", help="the overlay leaves out every sync")

    def why_not(self):
        return why_no_loop() or why_no_filesystem("overlay")

    def stand(self, room, options):
        layers, device = mount_image(room, "ext4", options.size_mb)
        for name in ("lower", "upper", "work"):
            (layers / name).mkdir()
        with (layers / "lower/below").open("wb") as file:
            file.write(os.urandom(1 << 20) * 64)
        merged = room.path / "merged"
        merged.mkdir()
        words = ",".join(f"{layer}dir={layers / layer}" for layer in ("lower", "upper", "work"))
        words += ",volatile" if options.volatile else ""
        do("mount", "-t", "overlay", "-o", words, "overlay", merged)
        return Place(variables(merged, device))


def why_no_filesystem(kind: str) -> str | None:
    """Returns whether the kernel has the file system, built in or as a module that it can load."""
    if kind in Path("/proc/filesystems").read_text().split():
        return None
    try:
        do("modprobe", kind)
    except (OSError, Broken):
        return f"this kernel has no {kind}"
    return None
