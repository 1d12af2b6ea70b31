"""NFS: the client of a real kernel, in a guest; the server is ganesha on the host, or the kernel's own in the guest."""

import os
import signal
import socket
import threading
from pathlib import Path

from . import guest
from .guest import Guest
from .stack import Daemon, Stack, do

HOST_ADDRESS = "198.18.7.1"
TAP = "lab0"
NFS_PORT = 20490
MOUNT_PORT = 20491

GANESHA_CONFIG = """
NFS_CORE_PARAM {{ NFS_Port = {nfs_port}; MNT_Port = {mount_port}; Protocols = {protocols};
  Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true; Plugins_Dir = "{plugins}"; }}
NFSV4 {{ Graceless = true; Lease_Lifetime = 10; RecoveryBackend = fs; RecoveryRoot = "{room}/recovery";
  Minor_Versions = 0,1,2; }}
EXPORT_DEFAULTS {{ Access_Type = RW; Squash = No_Root_Squash; SecType = sys; Protocols = {protocols}; Transports = TCP; }}
EXPORT {{ Export_Id = 77; Path = "{room}/export"; Pseudo = /export; FSAL {{ Name = VFS; }} }}
LOG {{ Default_Log_Level = EVENT; }}
"""


def add_link_options(parser) -> None:
    parser.add_argument("--delay-ms", type=float, default=0, help="added to the round trip, by netem in the guest")
    parser.add_argument("--rate-mbit", type=float, default=0, help="rate of the link in each direction; 0: as fast as it is")


def add_mount_options(parser) -> None:
    parser.add_argument("--vers", choices=("3", "4.0", "4.1", "4.2"), default="4.2", help="version of NFS")
    parser.add_argument("--soft", action="store_true", help="soft mount, timeo=10,retrans=1: a stalled server means EIO")
    parser.add_argument("--nconnect", type=int, default=1, help="connections of the mount")
    parser.add_argument("--mount-options", default="", help="more options for mount, with commas between them")


def mount_options(options) -> str:
    words = [f"vers={options.vers}"]
    if options.soft:
        words.append("soft,timeo=10,retrans=1")
    if options.nconnect > 1:
        words.append(f"nconnect={options.nconnect}")
    if options.mount_options:
        words.append(options.mount_options)
    return ",".join(words)


def link_variables(options) -> dict[str, str]:
    return {"LAB_DELAY_MS": f"{options.delay_ms:g}", "LAB_RATE_MBIT": f"{options.rate_mbit:g}"}


def make_tap(options) -> None:
    """The host's end of the guest's network, in the stack's own network namespace."""
    do("ip", "tuntap", "add", TAP, "mode", "tap")
    do("ip", "addr", "add", f"{HOST_ADDRESS}/24", "dev", TAP)
    do("ip", "link", "set", TAP, "up")
    if options.rate_mbit:
        rate = f"{options.rate_mbit:g}mbit"
        do("tc", "qdisc", "add", "dev", TAP, "root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms")


def make_disk(room, name: str, megabytes: int) -> Path:
    """A disk image with ext4, without background work of the kernel on its tables later."""
    image = room.path / name
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    do("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    return image


def start_ganesha(room, options, undo) -> Daemon:
    (room.path / "export").mkdir()
    (room.path / "recovery").mkdir()
    version_3 = options.vers == "3"
    if version_3:
        # ganesha registers version 3 with rpcbind or does not start. /run is the stack's own, so is port 111.
        do("mount", "-t", "tmpfs", "tmpfs", "/run")
        rpcbind = Daemon(room, "rpcbind", ["rpcbind", "-f"], undo)
        rpcbind.wait_until(lambda: listens(111))
    config = room.path / "ganesha.conf"
    config.write_text(GANESHA_CONFIG.format(
        room=room.path, nfs_port=NFS_PORT, mount_port=MOUNT_PORT, protocols="3,4" if version_3 else "4",
        plugins=next(Path("/usr/lib").glob("*/ganesha")),
    ))
    words = ["ganesha.nfsd", "-F", "-f", config, "-L", room.path / "ganesha.log", "-p", room.path / "ganesha.pid"]
    server = Daemon(room, "ganesha", words, undo)
    server.wait_until(lambda: listens(NFS_PORT))
    return server


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def carry_out(server: Daemon, order: str) -> None:
    """What bin/lab-server asks for."""
    word, _, seconds = order.partition(" ")
    if word == "kill":
        os.kill(server.process.pid, signal.SIGKILL)
        return
    os.kill(server.process.pid, signal.SIGSTOP)
    threading.Timer(float(seconds), os.kill, (server.process.pid, signal.SIGCONT)).start()


class Nfs(Stack):
    name = "nfs"
    summary = "NFS 3 or 4.x: kernel client in a guest, ganesha on the host, a link of known delay and rate"
    needs = (*guest.NEEDS, "mount.nfs", "ganesha.nfsd", "/usr/lib/*/ganesha/libfsalvfs.so", "rpcbind")
    own_network = True

    def add_options(self, parser) -> None:
        guest.add_options(parser)
        add_link_options(parser)
        add_mount_options(parser)

    def why_not(self):
        return guest.why_not()

    def stand(self, room, options, undo):
        make_tap(options)
        disk = make_disk(room, "local.img", options.disk_mb)
        server = start_ganesha(room, options, undo)
        more = f",port={NFS_PORT}" + (f",mountport={MOUNT_PORT},nolock" if options.vers == "3" else "")
        variables = {
            "LAB_NFS": "/mnt/nfs", "LAB_TARGET": "/mnt/nfs", "LAB_LOCAL": "/mnt/local", "LAB_WIRE": "vec0",
            "LAB_EXPORT": str(room.path / "export"), "LAB_SERVER_IS": "ganesha",
            "LAB_NFS_OPTIONS": mount_options(options) + more, **link_variables(options),
        }
        place = Guest(room, options, "nfs", variables, undo, disks=(disk,), tap=TAP)
        place.answers["server"] = lambda order: carry_out(server, order)
        place.wait_until_up()
        return place
