"""A disk with limits: a control group on a loop device, version 1 (blkio) or version 2 (io.max)."""

import os
from pathlib import Path

from .host_filesystems import add_size, mount_image, variables, why_no_loop
from .room import CGROUPS
from .stack import LAB, Place, Stack, do

LIMITS = ("read-bps", "write-bps", "read-iops", "write-iops")


class Throttle(Stack):
    name = "throttle"
    summary = "ext4 on a loop device with limits on bytes and requests per second; bin/lab-throttle changes them"
    needs = ("losetup", "mkfs.ext4")

    def add_options(self, parser) -> None:
        add_size(parser)
        parser.add_argument("--in-memory", action="store_true", help="no other load of the machine's disks reaches it")
        for limit in LIMITS:
            parser.add_argument(f"--{limit}", type=int, default=0, metavar="N", help="per second; 0: no limit")

    def why_not(self):
        return why_no_loop() or (None if tree() else "no control group controller for block devices (blkio or io)")

    def stand(self, room, options):
        folder, device = mount_image(room, "ext4", options.size_mb, memory=options.in_memory)
        cgroup = tree() / room.cgroup_name()
        if (cgroup.parent / "cgroup.subtree_control").exists():
            (cgroup.parent / "cgroup.subtree_control").write_text("+io")
        cgroup.mkdir()
        number = os.stat(device).st_rdev
        known = variables(folder, device) | {
            "LAB_CGROUP": str(cgroup),
            "LAB_DEVICE_NUMBER": f"{os.major(number)}:{os.minor(number)}",
        }
        wanted = [f"{limit}={vars(options)[limit.replace('-', '_')]}" for limit in LIMITS]
        do(LAB / "bin/lab-throttle", *wanted, environment=known)
        return Place(known, cgroup)


def tree() -> Path | None:
    """Returns the folder below which control groups can limit block devices."""
    version_1 = CGROUPS / "blkio"
    if (version_1 / "blkio.throttle.read_bps_device").exists():
        return version_1
    controllers = CGROUPS / "cgroup.controllers"
    return CGROUPS if controllers.exists() and "io" in controllers.read_text().split() else None
