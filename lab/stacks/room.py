"""The room of one running stack: the folder with its images, logs and sockets, and the process that owns it."""

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
    """The folder that remains of a stack when its processes have ended, perhaps with a control group of its name."""

    def __init__(self, name: str):
        self.name = name
        self.path = ROOMS / name

    def claim(self) -> bool:
        """Makes the room with this process as its owner, in one step. Returns False if the room has an owner."""
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
        """Returns the process that owns this room; None if it has ended, also if another process has its number now."""
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
        """Returns the control groups of this room: below a controller (version 1) or in the one tree (version 2)."""
        name = self.cgroup_name()
        return [place for place in (*CGROUPS.glob(f"*/{name}"), CGROUPS / name) if place.is_dir()]

    def cgroup_name(self) -> str:
        return f"fsdyno-lab-{self.name}"

    def remove(self) -> list[str]:
        """Removes what the kernel has not removed with the stack's processes. Returns what could not be removed."""
        left = []
        for cgroup in self.cgroups():
            if not gone(cgroup.rmdir):
                left.append(str(cgroup))
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():
            left.append(str(self.path))
        return left


def gone(remove) -> bool:
    """Tries for two seconds, because a control group is busy for a moment after its last process has ended."""
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
    """Returns when a process was started, in ticks of the kernel; None if there is no such process. A process is known
    by its number and its start, because the kernel uses numbers again."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


def all_rooms() -> list[Room]:
    return [Room(path.name) for path in sorted(ROOMS.glob("*"))] if ROOMS.is_dir() else []
