"""A machine with devices that the host may lack: NVMe with a zoned namespace, SCSI, a zoned disk in memory.

QEMU without KVM emulates the processor, so nothing here says how fast anything is. Its kernel is Debian's, unpacked and
not installed; its root folder is the host's, as in the other guests.
"""

import glob
import os
import platform
import socket
import subprocess
from pathlib import Path

from .guest import Guest
from .packages import KERNEL, NEWER_KERNEL
from .stack import LAB, Stack, do

# The modules that reach the host's root folder. The kernel has all others loaded by modprobe.
FIRST_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "virtio_console")
NEEDS = ("qemu-system-x86_64", "/bin/busybox", "cpio", "modprobe", "depmod", "ip")
# The namespaces from the third one on: metadata of each block (ms) beside or within it (mset), and its protection
# information (pi: the type; pil: it comes first; pif=2: its guards have 64 bits).
METADATA = (
    *(",ms=8,pi=1", ",ms=16,pi=2,pil=1"),
    *(",ms=8,mset=1,pi=1", ",ms=64,mset=1"),
    *(",ms=16,pi=1,pif=2", ",ms=32,mset=1,pi=2,pif=2"),
)
ZONE_MB = 4
CAPACITY_MB = 3


class Machine(Guest):
    """The virtual machine. Its three lines are ports of a virtual console, each behind a pair of sockets."""

    def __init__(self, room, options, variables: dict[str, str], kernels: str):
        self.prepare(room, variables)
        pairs = [socket.socketpair() for _ in range(3)]
        ends = [pair[1].fileno() for pair in pairs]
        # The control line leads both ways.
        self.control, self.output, self.errors = (pair[0].detach() for pair in pairs)
        self.orders = os.dup(self.control)
        kernel = Path(sorted(glob.glob(kernels))[-1])
        folder = kernel.parent.parent / "lib/modules"
        version = kernel.name.removeprefix("vmlinuz-")
        variables_of_init = {
            "LAB_SETUP": LAB / "guest/devices",
            "LAB_ROOM": room.path,
            "LAB_MODULES": folder,
            "LAB_LINES": "/dev/vport0p1,/dev/vport0p2,/dev/vport0p3",
        }
        words = [
            *("qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-smp", "2", "-m", str(options.memory_mb)),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-kernel", kernel, "-initrd", self.first_root(folder / version)),
            # On a busy host the check of the timer fails, which would end the boot.
            *("-append", "console=ttyS0 quiet panic=-1 no_timer_check " + " ".join(f"{name}={value}" for name, value in variables_of_init.items())),
            *("-chardev", f"file,id=console,path={room.path / 'console.log'}", "-serial", "chardev:console"),
            # The first virtual device: the names of its ports begin with vport0.
            *("-device", "virtio-serial-pci"),
            *("-virtfs", "local,path=/,mount_tag=host,security_model=none,multidevs=remap"),
        ]
        for number, end in enumerate(ends, 1):
            words += ["-chardev", f"socket,id=line{number},fd={end}", "-device", f"virtserialport,chardev=line{number},nr={number}"]
        words += self.nvme(room, options)
        with (room.path / "qemu.log").open("wb") as log:
            self.process = subprocess.Popen(
                [str(word) for word in words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=ends,
                cwd=room.path,
                start_new_session=True,
            )
        for _, end in pairs:
            end.close()
        self.begin_to_listen()

    def nvme(self, room, options) -> list[str]:
        """A controller with its namespaces: a plain one, one with zones, and those with metadata."""
        words = ["-device", "nvme,id=nvme,serial=lab"]
        zoned = (
            f",zoned=true,zoned.zone_size={ZONE_MB}M,zoned.zone_capacity={CAPACITY_MB}M"
            f",zoned.max_open={options.max_open},zoned.max_active={options.max_open}"
        )
        for number, more in enumerate(("", zoned, *METADATA), 1):
            image = room.path / f"nvme{number}.img"
            with image.open("wb") as file:
                file.truncate(options.disk_mb << 20)
            words += ["-drive", f"file={image},if=none,id=disk{number},format=raw,discard=unmap"]
            words += ["-device", f"nvme-ns,drive=disk{number},bus=nvme,nsid={number}{more}"]
        return words

    def first_root(self, modules: Path) -> Path:
        """The first root folder of the kernel: a shell, and what mounts the host's root folder."""
        root = self.room.path / "initramfs"
        for folder in ("dev", "host", "modules"):
            (root / folder).mkdir(parents=True)
        needed = in_order(modules)
        for module in needed:
            do("cp", modules / module, root / "modules")
        do("cp", "/bin/busybox", root / "busybox")
        init = root / "init"
        init.write_text((LAB / "guest/first-init").read_text().replace("@MODULES@", " ".join(Path(module).name for module in needed)))
        init.chmod(0o755)
        archive = self.room.path / "initramfs.cpio"
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        with archive.open("wb") as file:
            subprocess.run(
                ["cpio", "-o", "-H", "newc", "--quiet"], input=names.encode(), cwd=root, stdout=file, check=True
            )
        return archive


def in_order(modules: Path) -> list[str]:
    """The files of the first modules, each after those that it needs."""
    lines = (line.split(":") for line in (modules / "modules.dep").read_text().splitlines())
    needs = {Path(file).name.split(".")[0]: (file, others.split()) for file, others in lines}
    order: list[str] = []
    for name in FIRST_MODULES:
        # A module that is built into the kernel has no file. Of the needed ones, the last comes first.
        file, others = needs.get(name, (None, []))
        order += [module for module in (*reversed(others), file) if module and module not in order]
    return order


class Devices(Stack):
    name = "devices"
    summary = "NVMe with a zoned namespace, SCSI and a zoned disk in memory, in a virtual machine (QEMU; slow)"
    kernels = KERNEL
    needs = (*NEEDS, KERNEL)

    def add_options(self, parser) -> None:
        parser.add_argument("--memory-mb", type=int, default=1024, help="memory of the machine")
        parser.add_argument("--disk-mb", type=int, default=64, help="size of each disk")
        parser.add_argument("--max-open", type=int, default=6, help="zones of the NVMe namespace that can be open")

    def why_not(self):
        if platform.machine() != "x86_64":
            return "its kernel and its devices are those of x86_64"
        if os.getcwd().startswith("/mnt/"):
            return "the current folder is below /mnt, which the guest covers with its own mounts"
        return None

    def stand(self, room, options):
        variables = {
            "LAB_TARGET": "/mnt/local",
            "LAB_DISK_MB": str(options.disk_mb),
            "LAB_ZONE_MB": str(ZONE_MB),
            "LAB_CAPACITY_MB": str(CAPACITY_MB),
            "LAB_NVME": "/dev/nvme0n1",
            "LAB_NVME_ZONED": "/dev/nvme0n2",
            "LAB_NULL_ZONED": "/dev/nullb0",
            "LAB_SCSI": "/dev/lab-scsi",
            "LAB_SCSI_GENERIC": "/dev/lab-scsi-generic",
        }
        place = Machine(room, options, variables, self.kernels)
        place.wait_until_up()
        return place


class NewerDevices(Devices):
    name = "newer-devices"
    summary = "the same with the kernel of Debian's backports, which writes atomically"
    kernels = NEWER_KERNEL
    needs = (*NEEDS, NEWER_KERNEL)
