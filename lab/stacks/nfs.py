"""NFS with the client of a real kernel in a guest. The server is ganesha on the host, or that of the guest's kernel."""

import os
import signal
import socket
import threading
from pathlib import Path

from . import guest
from .guest import Guest, make_disk
from .stack import Daemon, Stack, do

HOST_ADDRESS = "198.18.7.1"
TAP = "lab0"
NFS_PORT = 20490
MOUNT_PORT = 20491

GANESHA_NEEDS = ("mount.nfs", "ganesha.nfsd", "/usr/lib/*/ganesha/libfsalvfs.so", "rpcbind")
GANESHA_CONFIG = """
NFS_CORE_PARAM {{ NFS_Port = {nfs_port}; MNT_Port = {mount_port}; Protocols = {protocols};
  Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true; Plugins_Dir = "{plugins}"; }}
NFSV4 {{ Graceless = true; Lease_Lifetime = 10; RecoveryBackend = fs; RecoveryRoot = "{room}/recovery";
  Minor_Versions = 0,1,2; }}
EXPORT_DEFAULTS {{ Access_Type = RW; Squash = No_Root_Squash; SecType = sys; Protocols = {protocols};
  Transports = TCP; }}
EXPORT {{ Export_Id = 77; Path = "{room}/export"; Pseudo = /export; FSAL {{ Name = VFS; }} }}
LOG {{ Default_Log_Level = EVENT; }}
"""


def add_link_options(parser, rate_mbit: float = 0) -> None:
    parser.add_argument("--delay-ms", type=float, default=0, help="added to the round trip, by netem in the guest")
    parser.add_argument("--rate-mbit", type=float, default=rate_mbit, help="of the link, each way; 0: no limit")


def add_mount_options(parser) -> None:
    parser.add_argument("--vers", choices=("3", "4.0", "4.1", "4.2"), default="4.2", help="version of NFS")
    parser.add_argument("--soft", action="store_true", help="soft mount with timeo=10,retrans=1")
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


def ganesha_mount_options(options) -> str:
    more = f",mountport={MOUNT_PORT},nolock" if options.vers == "3" else ""
    return f"{mount_options(options)},port={NFS_PORT}{more}"


def link_variables(options, crossings: int = 1) -> dict[str, str]:
    """`crossings` is how often a round trip passes the shaped card: twice over lo, which carries both directions."""
    return {
        "LAB_DELAY_MS": f"{options.delay_ms:g}",
        "LAB_RATE_MBIT": f"{options.rate_mbit:g}",
        "LAB_CARD_DELAY_US": f"{options.delay_ms * 1000 / crossings:.0f}",
    }


def make_tap(options) -> None:
    """Makes the host's end of the guest's network, in the network namespace of the stack."""
    do("ip", "tuntap", "add", TAP, "mode", "tap")
    do("ip", "addr", "add", f"{HOST_ADDRESS}/24", "dev", TAP)
    do("ip", "link", "set", TAP, "up")
    if options.rate_mbit:
        rate = f"{options.rate_mbit:g}mbit"
        do("tc", "qdisc", "add", "dev", TAP, "root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms")


def start_ganesha(room, options) -> Daemon:
    (room.path / "export").mkdir()
    (room.path / "recovery").mkdir()
    version_3 = options.vers == "3"
    if version_3:
        # ganesha must register version 3 with rpcbind to start. The stack has its own /run and its own port 111.
        do("mount", "-t", "tmpfs", "tmpfs", "/run")
        rpcbind = Daemon(room, "rpcbind", ["rpcbind", "-f"])
        rpcbind.wait_until(lambda: listens(111))
    config = room.path / "ganesha.conf"
    config.write_text(
        GANESHA_CONFIG.format(
            room=room.path,
            nfs_port=NFS_PORT,
            mount_port=MOUNT_PORT,
            protocols="3,4" if version_3 else "4",
            plugins=next(Path("/usr/lib").glob("*/ganesha")),
        )
    )
    words = ["ganesha.nfsd", "-F", "-f", config, "-L", room.path / "ganesha.log", "-p", room.path / "ganesha.pid"]
    server = Daemon(room, "ganesha", words)
    server.wait_until(lambda: listens(NFS_PORT))
    return server


def listens(port: int, address: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


def carry_out(server: Daemon, order: str) -> None:
    """Carries out the requests of bin/lab-server."""
    word, _, seconds = order.partition(" ")
    if word == "kill":
        os.kill(server.process.pid, signal.SIGKILL)
        return
    os.kill(server.process.pid, signal.SIGSTOP)
    threading.Timer(float(seconds), os.kill, (server.process.pid, signal.SIGCONT)).start()


class Nfs(Stack):
    name = "nfs"
    summary = "NFS 3 or 4.x: kernel client in a guest, ganesha on the host, a link of known delay and rate"
    needs = (*guest.NEEDS, *GANESHA_NEEDS)
    own_network = True

    def add_options(self, parser) -> None:
        guest.add_options(parser)
        add_link_options(parser)
        add_mount_options(parser)

    def why_not(self):
        return guest.why_not()

    def stand(self, room, options):
        make_tap(options)
        disk = make_disk(room, "local.img", options.disk_mb)
        server = start_ganesha(room, options)
        variables = {
            "LAB_TARGET": "/mnt/nfs",
            "LAB_NFS": "/mnt/nfs",
            "LAB_LOCAL": "/mnt/local",
            "LAB_WIRE": "vec0",
            "LAB_EXPORT": str(room.path / "export"),
            "LAB_NFS_OPTIONS": ganesha_mount_options(options),
            **link_variables(options),
        }
        place = Guest(room, options, "nfs", variables, disks=(disk,), tap=TAP)
        place.answers["server"] = lambda order: carry_out(server, order)
        place.wait_until_up()
        return place


class Knfsd(Stack):
    name = "knfsd"
    summary = "NFS 3 or 4.x: kernel server and client in one guest, with the server's own ext4 in view"
    needs = (*guest.NEEDS, "mount.nfs", "rpc.nfsd", "dmsetup", "rpcbind")

    def add_options(self, parser) -> None:
        guest.add_options(parser)
        add_link_options(parser)
        add_mount_options(parser)
        parser.add_argument("--disk-delay-ms", type=int, default=0, help="added to each request of the server's disk")

    def why_not(self):
        return guest.why_not()

    def variables(self, options) -> dict[str, str]:
        return {
            "LAB_TARGET": "/mnt/nfs",
            "LAB_NFS": "/mnt/nfs",
            "LAB_SERVER": "/mnt/server",
            "LAB_WIRE": "lo",
            "LAB_VERS": options.vers,
            "LAB_DISK_DELAY_MS": str(options.disk_delay_ms),
            "LAB_NFS_OPTIONS": mount_options(options) + (",nolock" if options.vers == "3" else ""),
            **link_variables(options, crossings=2),
        }

    def stand(self, room, options):
        disk = make_disk(room, "server.img", options.disk_mb)
        place = Guest(room, options, self.name, self.variables(options), disks=(disk,))
        place.wait_until_up()
        return place


class Clients(Knfsd):
    name = "clients"
    summary = "NFS 4.x: the kernel's server behind a link, and several clients of it, all in one guest"

    def add_options(self, parser) -> None:
        super().add_options(parser)
        parser.add_argument("--clients", type=int, default=4, help="how many: node1, node2 ...")

    def variables(self, options) -> dict[str, str]:
        known = super().variables(options)
        # Each client sees its own mounts only. The file system of the server is visible to all.
        mount = known.pop("LAB_NFS")
        own = {"LAB_TARGET": known["LAB_SERVER"], "LAB_CLIENTS": str(options.clients), "LAB_CLIENT_MOUNT": mount}
        return known | own | {"LAB_WIRE": "server"}
