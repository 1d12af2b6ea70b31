"""The room of one standing stack: the folder with its images, logs and sockets, and who owns it."""

import contextlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

ROOT = Path(os.environ.get("FSDYNO_LAB") or Path(tempfile.gettempdir()) / "fsdyno-lab")
ROOMS = ROOT / "rooms"
TOOLS = ROOT / "tools"
CGROUPS = Path("/sys/fs/cgroup")


class Room:
    """Everything of a stack that outlives its processes is in here, or is a control group of the same name."""

    def __init__(self, name: str):
        self.name = name
        self.path = ROOMS / name

    def claim(self) -> bool:
        """Makes the room with its owner, this process, in one step. False if the room is taken already."""
        unfinished = ROOMS / f".{self.name}.{os.getpid()}"
        unfinished.mkdir(parents=True)
        Room(unfinished.name).own()
        try:
            unfinished.rename(self.path)
        except OSError:
            shutil.rmtree(unfinished)
            return False
        return True

    def own(self) -> None:
        """Makes this process the owner."""
        (self.path / "owner").write_text(f"{os.getpid()} {started(os.getpid())}")

    def owner(self) -> int | None:
        """The process that stands behind this room; None if it is gone, or its number went to another process."""
        with contextlib.suppress(OSError, ValueError):
            pid, start = (self.path / "owner").read_text().split()
            if started(int(pid)) == start:
                return int(pid)
        return None

    def write(self, name: str, value) -> None:
        (self.path / name).write_text(json.dumps(value))

    def read(self, name: str):
        return json.loads((self.path / name).read_text())

    def cgroups(self) -> list[Path]:
        """The control groups of this room: below a controller of version 1, or in the one tree of version 2."""
        name = self.cgroup_name()
        return [place for place in (*CGROUPS.glob(f"*/{name}"), CGROUPS / name) if place.is_dir()]

    def cgroup_name(self) -> str:
        return f"fsdyno-lab-{self.name}"

    def remove(self) -> list[str]:
        """Removes what the kernel has not taken down with the stack's processes; returns what would not go."""
        left = []
        for cgroup in self.cgroups():
            if not gone(cgroup.rmdir):
                left.append(str(cgroup))
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():
            left.append(str(self.path))
        return left


def gone(remove) -> bool:
    """Tries for two seconds: a control group stays busy for a moment after its last process has ended."""
    for _ in range(40):
        try:
            remove()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            time.sleep(0.05)
    return False


def started(pid: int) -> str | None:
    """When a process was started, in the kernel's ticks: with its number, it names one process only. None: no such."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


def all_rooms() -> list[Room]:
    return [Room(path.name) for path in sorted(ROOMS.glob("*"))] if ROOMS.is_dir() else []
