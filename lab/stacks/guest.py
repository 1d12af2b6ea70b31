"""A guest: User-Mode Linux, a kernel that runs as a process, on the root folder of the host.

The guest has parts that the host's kernel may lack: an NFS client and server, netem, device mapper. Programs of the
host run in it unchanged. Three serial lines lead out of it: output and errors of the command, and a line for control.
"""

import contextlib
import os
import queue
import secrets
import shlex
import subprocess
import threading
import time
from pathlib import Path

from .stack import LAB, SYSTEM_PATH, TIMED_OUT, Broken, Command, Place, Stack, do, say

NEEDS = ("cc", "linux.uml", "/usr/lib/uml/modules", "modprobe", "ip", "tc", "mkfs.ext4")
# A guest boots in seconds on a quiet host. On a busy one it takes as long as it takes, as long as it works.
SECONDS_OF_SILENCE = 90
SECONDS_TO_BOOT_MAX = 600


def why_not() -> str | None:
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "no /dev/net/tun for the guest's network"
    if os.getcwd().startswith("/mnt/"):
        return "the current folder is below /mnt, which the guest covers with its own mounts"
    return None


def why_no_fuse() -> str | None:
    return None if os.access("/dev/fuse", os.R_OK | os.W_OK) else "no /dev/fuse"


def add_options(parser) -> None:
    parser.add_argument("--memory-mb", type=int, default=768, help="memory of the guest, and so of its page cache")
    parser.add_argument("--disk-mb", type=int, default=2048, help="size of each of the guest's disks")


def stay_on_one_processor() -> None:
    """Keeps the guest on one processor of the host. Each system call of the guest switches twice between processes
    of the host, and a switch between two processors takes several times as long."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[os.getpid() % len(allowed)]})


def make_disk(room, name: str, megabytes: int) -> Path:
    """Makes a disk image with ext4. Its tables are complete, so that the kernel does not work on them later."""
    image = room.path / name
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    do("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    return image


class Guest(Place):
    """A running guest. `setup` names the script in guest/ that makes the mounts; `variables` are its environment."""

    def __init__(self, room, options, setup: str, variables: dict[str, str], disks=(), tap=""):
        self.prepare(room, variables)
        self.output, output_end = os.pipe()
        self.errors, errors_end = os.pipe()
        self.control, control_end = os.pipe()
        orders_end, self.orders = os.pipe()
        # The guest's kernel refuses to watch one descriptor twice, so each line gets its own empty input.
        inputs = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
        with (room.path / "console.log").open("wb") as console:
            ends = (output_end, errors_end, orders_end, control_end, *inputs)
            lines = [
                "con=null",
                f"con0=fd:{inputs[0]},fd:{console.fileno()}",
                f"ssl0=fd:{inputs[1]},fd:{output_end}",
                f"ssl1=fd:{inputs[2]},fd:{errors_end}",
                f"ssl2=fd:{orders_end},fd:{control_end}",
            ]
            words = [
                "linux.uml",
                f"mem={options.memory_mb}M",
                "root=none",
                "rootfstype=hostfs",
                "rootflags=/",
                "rw",
                "quiet",
                f"init={LAB / 'guest/init'}",
                f"LAB_SETUP={LAB / 'guest' / setup}",
                f"LAB_ROOM={room.path}",
                *lines,
                *(f"ubd{number}={disk}" for number, disk in enumerate(disks)),
            ]
            if tap:
                words.append(f"vec0:transport=tap,ifname={tap},depth=128,gro=1")
            shim = room.path / "umlstate.so"
            do("cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", shim, LAB / "umlstate.c")
            self.process = subprocess.Popen(
                words,
                stdin=inputs[0],
                stdout=console,
                stderr=console,
                pass_fds=(*ends, console.fileno()),
                cwd=room.path,
                env=os.environ | {"LD_PRELOAD": str(shim)},
                start_new_session=True,
                preexec_fn=stay_on_one_processor,
            )
        for end in ends:
            os.close(end)
        self.begin_to_listen()

    def prepare(self, room, variables: dict[str, str]) -> None:
        """What any guest has before it starts."""
        Place.__init__(self, variables)
        self.room = room
        self.jobs = 0
        self.events: queue.Queue[str] = queue.Queue()
        self.answers: dict[str, callable] = {}
        self.write_variables(room.path / "variables.sh", variables)

    def begin_to_listen(self) -> None:
        threading.Thread(target=self.listen, daemon=True).start()

    @staticmethod
    def write_variables(path: Path, variables: dict[str, str]) -> None:
        path.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()))

    def listen(self) -> None:
        """Reads the control line of the guest, carries out its requests, and passes other lines on."""
        with os.fdopen(self.control, errors="replace") as lines:
            for line in lines:
                word, _, rest = line.strip().partition(" ")
                if word in self.answers:
                    self.answers[word](rest)
                else:
                    self.events.put(line.strip())
        self.events.put("ended")

    def progress(self) -> float:
        """Grows by 1 with each second of processor time of the guest, and with each byte on its console."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text(errors="replace").rpartition(")")[2].split()
                if int(fields[3]) == self.process.pid:
                    ticks += int(fields[11]) + int(fields[12])
        console = self.room.path / "console.log"
        return ticks / os.sysconf("SC_CLK_TCK") + (console.stat().st_size if console.exists() else 0)

    def wait_until_up(self) -> None:
        """Waits while the guest makes progress."""
        began = since = time.monotonic()
        reached = self.progress()
        said = ""
        while not said:
            try:
                said = self.events.get(timeout=1)
            except queue.Empty:
                now, progress = time.monotonic(), self.progress()
                if progress >= reached + 1:
                    reached, since = progress, now
                if now - since > SECONDS_OF_SILENCE or now - began > SECONDS_TO_BOOT_MAX:
                    said = f"no progress for {now - since:.0f} s, {now - began:.0f} s after its start"
        if said != "up":
            console = (self.room.path / "console.log").read_text(errors="replace").splitlines()
            raise Broken(f"the guest is not up ({said}); its last words:\n" + "\n".join(console[-15:]))

    def run(self, command: Command, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> int:
        """Runs the command in the guest. It has no standard input: a serial line has no end of file."""
        self.jobs += 1
        job = self.room.path / f"job-{self.jobs}"
        mark = f"end-of-job-{self.jobs}-{secrets.token_hex(8)}"
        self.write_job(job, command)
        pumps = [
            threading.Thread(target=pump, args=(source, target, f"\0{mark}\0".encode()))
            for source, target in ((self.output, stdout), (self.errors, stderr))
        ]
        for thread in pumps:
            thread.start()
        os.write(self.orders, f"{job} {mark}\n".encode())
        said = self.events.get()
        word, _, status = said.partition(" ")
        if word != "exit":
            say(f"the guest ended under the command ({said})")
            return TIMED_OUT
        for thread in pumps:
            thread.join(timeout=10)
        return int(status)

    def write_job(self, path: Path, command: Command) -> None:
        known = {name: value for name, value in command.environment.items() if name.isidentifier() and name != "_"}
        known |= self.variables
        # The system's folders come first, because the shims of version managers start slowly in the guest.
        known["PATH"] = f"{LAB / 'bin'}:{SYSTEM_PATH}:{command.environment.get('PATH', '')}"
        self.write_variables(path, known)
        with path.open("a") as job:
            job.write(f"cd -- {shlex.quote(command.folder)} || exit 126\nexec {shlex.join(command.words)}\n")


def pump(source: int, target: int, mark: bytes) -> None:
    """Copies bytes up to the mark, without the mark."""
    held = b""
    while mark not in held:
        arrived = os.read(source, 1 << 16)
        if not arrived:
            write_all(target, held)
            return
        held += arrived
        ready = held.find(mark) if mark in held else len(held) - beginning_of(mark, held)
        write_all(target, held[:ready])
        held = held[ready:]


def beginning_of(mark: bytes, held: bytes) -> int:
    """Returns how many bytes at the end of `held` could be the beginning of the mark."""
    for size in range(min(len(mark) - 1, len(held)), 0, -1):
        if held.endswith(mark[:size]):
            return size
    return 0


def write_all(target: int, content: bytes) -> None:
    """Writes all bytes. If the reader of the target has closed it, the bytes are dropped."""
    with contextlib.suppress(BrokenPipeError):
        while content:
            content = content[os.write(target, content) :]


class Dm(Stack):
    name = "dm"
    summary = "ext4 in a guest on a disk that bin/lab-disk slows down, breaks or stops (device mapper)"
    needs = (*NEEDS, "dmsetup")

    def add_options(self, parser) -> None:
        add_options(parser)

    def why_not(self):
        return why_not()

    def stand(self, room, options):
        disk = make_disk(room, "disk.img", options.disk_mb)
        variables = {"LAB_TARGET": "/mnt/local", "LAB_LOCAL": "/mnt/local", "LAB_DEVICE": "/dev/mapper/lab"}
        place = Guest(room, options, "dm", variables, disks=(disk,))
        place.wait_until_up()
        return place
