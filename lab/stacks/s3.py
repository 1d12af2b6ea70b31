"""S3 through s3fs. s3rver, a small server, keeps the objects. The lab counts and slows down the traffic of its link."""

import sys
from pathlib import Path

from . import guest
from .guest import Guest, make_disk
from .host_filesystems import mount_tmpfs
from .nfs import (
    GANESHA_NEEDS,
    HOST_ADDRESS,
    TAP,
    add_link_options,
    add_mount_options,
    carry_out,
    ganesha_mount_options,
    link_variables,
    listens,
    make_tap,
    start_ganesha,
)
from .packages import RCLONE_PROGRAM, S3RVER_PROGRAM, VERSITYGW_PROGRAM
from .stack import Daemon, Place, Stack, do, is_mounted

PORT = 4568
TLS_PORT = 4570
WEBDAV_PORT = 4571
PROXY_PORT = 4572
BUCKET = "bench"
STORE_KEYS = "LABKEY:lab-secret-of-the-store"
"""The key that rclone's server accepts."""
KEYS = "S3RVER:S3RVER"
"""The keys that s3rver accepts."""


def add_s3fs_options(parser) -> None:
    parser.add_argument("--use-cache", action="store_true", help="s3fs keeps whole objects in a local folder")
    parser.add_argument("--s3fs-options", default="", help="more options for s3fs, with commas between them")


def start_s3rver(room, folder: Path, address: str) -> Daemon:
    words = [S3RVER_PROGRAM, "-d", folder, "-a", address, "-p", PORT, "--silent", "--configure-bucket", BUCKET]
    server = Daemon(room, "s3rver", words)
    server.wait_until(lambda: listens(PORT, address) and (folder / BUCKET).is_dir())
    return server


def start_versitygw(room, objects: Path, address: str) -> None:
    """It keeps what it knows of an object in the attributes of its file."""
    (objects / BUCKET).mkdir()
    key_id, secret = STORE_KEYS.split(":")
    keys = [f"ROOT_ACCESS_KEY={key_id}", f"ROOT_SECRET_KEY={secret}"]
    words = ["--port", f"{address}:{PORT}", "--keep-alive", "--quiet", "posix", objects]
    server = Daemon(room, "versitygw", ["env", *keys, VERSITYGW_PROGRAM, *words])
    server.wait_until(lambda: listens(PORT, address))


def store_variables(address: str) -> dict[str, str]:
    """What a program needs to ask the store itself."""
    key_id, secret = STORE_KEYS.split(":")
    return {
        "LAB_S3_URL": f"http://{address}:{PORT}",
        "AWS_ENDPOINT_URL": f"http://{address}:{PORT}",
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
    }


def s3fs_options(room, options, address: str, cache: Path, keys_of: str = KEYS) -> str:
    keys = room.path / "keys"
    keys.write_text(keys_of + "\n")
    keys.chmod(0o600)
    # s3rver cannot copy a part of an object. Without this option, s3fs asks for that where a part has not changed.
    words = [f"url=http://{address}:{PORT}", "use_path_request_style", f"passwd_file={keys}", "nomixupload"]
    if options.use_cache:
        words.append(f"use_cache={cache}")
    if options.s3fs_options:
        words.append(options.s3fs_options)
    return ",".join(words)


class S3fs(Stack):
    name = "s3fs"
    summary = "S3 through s3fs from s3rver, over a loopback interface of its own, with a rate if asked for"
    needs = ("ip", "tc", "s3fs", "fusermount3", "npm", "s3rver")
    own_network = True

    def add_options(self, parser) -> None:
        parser.add_argument("--rate-mbit", type=float, default=0, help="rate of the link; 0: as fast as it is")
        parser.add_argument("--server-mb", type=int, default=0, help="room for objects, in memory; 0: the host's disk")
        add_s3fs_options(parser)

    def why_not(self):
        return guest.why_no_fuse()

    def stand(self, room, options):
        if options.server_mb:
            objects = mount_tmpfs(room, "objects", options.server_mb)
        else:
            objects = room.path / "objects"
            objects.mkdir()
        server = start_s3rver(room, objects, "127.0.0.1")
        limit_loopback(options.rate_mbit)
        folder = room.path / "mnt"
        folder.mkdir()
        words = s3fs_options(room, options, "127.0.0.1", room.path / "cache")
        daemon = Daemon(room, "s3fs", ["s3fs", BUCKET, folder, "-f", "-o", words])
        daemon.wait_until(lambda: is_mounted(folder))
        return Place(
            {
                "LAB_TARGET": str(folder),
                "LAB_S3": str(folder),
                "LAB_S3_OBJECTS": str(objects / BUCKET),
                "LAB_WIRE": "lo",
                "LAB_SERVER_PID": str(server.process.pid),
                "LAB_RATE_MBIT": f"{options.rate_mbit:g}",
            }
        )


class Gateway(Stack):
    """A bucket at versitygw's server and the same bucket through s3fs, so that what the mount adds can be measured."""

    name = "gateway"
    summary = "S3 from versitygw, and s3fs on it, over a loopback interface of its own, with a rate if asked for"
    needs = ("ip", "tc", "s3fs", "fusermount3", "versitygw")
    own_network = True

    def add_options(self, parser) -> None:
        parser.add_argument("--rate-mbit", type=float, default=0, help="rate of the link; 0: as fast as it is")
        parser.add_argument("--refuse-every", type=int, default=0, help="the mount's uploads of which one is refused (503)")

    def why_not(self):
        return guest.why_no_fuse()

    def stand(self, room, options):
        objects = mount_tmpfs(room, "objects", 1024)
        start_versitygw(room, objects, "127.0.0.1")
        limit_loopback(options.rate_mbit)
        folder, passwords = room.path / "mnt", room.path / "keys"
        folder.mkdir()
        passwords.write_text(STORE_KEYS + "\n")
        passwords.chmod(0o600)
        port = PROXY_PORT if options.refuse_every else PORT
        if options.refuse_every:
            proxy = [sys.executable, Path(__file__).with_name("refusing_proxy.py"), port, PORT, options.refuse_every]
            Daemon(room, "proxy", proxy).wait_until(lambda: listens(port, "127.0.0.1"))
        words = f"url=http://127.0.0.1:{port},use_path_request_style,passwd_file={passwords}"
        daemon = Daemon(room, "s3fs", ["s3fs", BUCKET, folder, "-f", "-o", words])
        daemon.wait_until(lambda: is_mounted(folder))
        return Place(
            {
                "LAB_TARGET": str(folder),
                "LAB_S3": str(folder),
                "LAB_S3_OBJECTS": str(objects / BUCKET),
                "LAB_WIRE": "lo",
                "LAB_RATE_MBIT": f"{options.rate_mbit:g}",
                **store_variables("127.0.0.1"),
            }
        )


def limit_loopback(rate_mbit: float) -> None:
    if rate_mbit:
        rate = f"{rate_mbit:g}mbit"
        do("tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms")


class Store(Stack):
    """A bucket at rclone's S3 server: in the path over HTTP (IPv4, IPv6), in the host's name over TLS. s3fs cannot use it: this
    server copies no object onto itself."""

    name = "store"
    summary = "S3 from rclone: bucket in the path or in the host's name, IPv4 and IPv6, TLS by an authority of its own; WebDAV"
    needs = ("ip", "openssl", "rclone-s3")
    own_network = True

    def stand(self, room, options):
        # Other programs keep the disk of this machine busy, for longer than a request may take.
        (mount_tmpfs(room, "served", 1024) / BUCKET).mkdir()
        hosts = room.path / "hosts"
        hosts.write_text(f"127.0.0.1 localhost store.lab {BUCKET}.store.lab\n::1 localhost\n")
        do("mount", "--bind", hosts, "/etc/hosts")
        make_certificate(room.path)
        # Each folder is changed by one server alone. With no time for its cache, rclone's timer of each folder spins.
        serve = [RCLONE_PROGRAM, "serve", "s3", "--vfs-cache-mode", "off", "--auth-key", STORE_KEYS.replace(":", ",")]
        plain = ["--addr", f"127.0.0.1:{PORT}", "--addr", f"[::1]:{PORT}"]
        tls = ["--addr", f"127.0.0.1:{TLS_PORT}", "--cert", "store.pem", "--key", "store.key", "--force-path-style=false"]
        server = Daemon(room, "rclone", [*serve, *plain, room.path / "served"])
        server.wait_until(lambda: listens(PORT, "127.0.0.1"))
        Daemon(room, "rclone-tls", [*serve, *tls, room.path / "served"]).wait_until(lambda: listens(TLS_PORT, "127.0.0.1"))
        key_id, secret = STORE_KEYS.split(":")
        login = ["--user", key_id, "--pass", secret]
        webdav = [RCLONE_PROGRAM, "serve", "webdav", *login, "--addr", f"127.0.0.1:{WEBDAV_PORT}"]
        folder = Daemon(room, "rclone-webdav", [*webdav, room.path / "served"])
        folder.wait_until(lambda: listens(WEBDAV_PORT, "127.0.0.1"))
        return Place(
            {
                "FSDYNO_HTTP_USER": key_id,
                "FSDYNO_HTTP_PASS": secret,
                "LAB_WEBDAV_URL": f"http://127.0.0.1:{WEBDAV_PORT}",
                "LAB_TARGET": str(room.path / "served" / BUCKET),
                "LAB_S3_OBJECTS": str(room.path / "served" / BUCKET),
                "LAB_S3_URL": f"http://127.0.0.1:{PORT}",
                "LAB_S3_URL_IPV6": f"http://[::1]:{PORT}",
                "LAB_S3_URL_TLS": f"https://store.lab:{TLS_PORT}",
                "LAB_S3_AUTHORITY": str(room.path / "authority.pem"),
                "AWS_ACCESS_KEY_ID": key_id,
                "AWS_SECRET_ACCESS_KEY": secret,
            }
        )


def make_certificate(folder: Path) -> None:
    """An authority, and a certificate by it for the server's name and those of its buckets."""
    names = folder / "names"
    names.write_text("subjectAltName=DNS:store.lab,DNS:*.store.lab\nbasicConstraints=critical,CA:FALSE\n")
    new_key = ("-newkey", "rsa:2048", "-nodes", "-keyout")
    authority, key = folder / "authority.pem", folder / "authority.key"
    do("openssl", "req", "-x509", *new_key, key, "-out", authority, "-days", 2, "-subj", "/CN=the lab")
    request = folder / "store.csr"
    do("openssl", "req", *new_key, folder / "store.key", "-out", request, "-subj", "/CN=store.lab")
    by = ("-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", 2, "-extfile", names)
    do("openssl", "x509", "-req", "-in", request, *by, "-out", folder / "store.pem")


class CaseC(Stack):
    name = "case-c"
    summary = "a local disk, NFS (ganesha) and S3 (s3rver through s3fs) in one guest, the servers behind one link"
    needs = (*guest.NEEDS, *GANESHA_NEEDS, "s3fs", "fusermount3", "npm", "s3rver")
    own_network = True

    def add_options(self, parser) -> None:
        guest.add_options(parser)
        add_link_options(parser, rate_mbit=1000)
        add_mount_options(parser)
        add_s3fs_options(parser)

    def why_not(self):
        return guest.why_not()

    def stand(self, room, options):
        make_tap(options)
        disks = [make_disk(room, f"{name}.img", options.disk_mb) for name in ("local", "s3fs")]
        nfs_server = start_ganesha(room, options)
        objects, keys, store = self.start_store(room)
        s3 = s3fs_options(room, options, HOST_ADDRESS, Path("/run/s3fs/cache"), keys)
        variables = {
            "LAB_TARGET": "/mnt/s3",
            "LAB_LOCAL": "/mnt/local",
            "LAB_NFS": "/mnt/nfs",
            "LAB_S3": "/mnt/s3",
            "LAB_WIRE": "vec0",
            "LAB_EXPORT": str(room.path / "export"),
            "LAB_S3_OBJECTS": str(objects / BUCKET),
            "LAB_NFS_OPTIONS": ganesha_mount_options(options),
            "LAB_S3FS_OPTIONS": f"{s3},tmpdir=/run/s3fs",
            **store,
            **link_variables(options),
        }
        # The guest does not tell the two cases apart.
        place = Guest(room, options, "case-c", variables, disks=disks, tap=TAP)
        place.answers["server"] = lambda order: carry_out(nfs_server, order)
        place.wait_until_up()
        return place

    def start_store(self, room):
        """The folder of objects, the keys of s3fs, and the variables of programs that ask the store itself."""
        objects = room.path / "objects"
        objects.mkdir()
        start_s3rver(room, objects, HOST_ADDRESS)
        return objects, KEYS, {}


class CaseD(CaseC):
    name = "case-d"
    summary = "the same with versitygw as the store, which programs in the guest can ask, too"
    needs = (*guest.NEEDS, *GANESHA_NEEDS, "s3fs", "fusermount3", "versitygw")

    def start_store(self, room):
        objects = mount_tmpfs(room, "objects", 1024)
        start_versitygw(room, objects, HOST_ADDRESS)
        return objects, STORE_KEYS, store_variables(HOST_ADDRESS)
