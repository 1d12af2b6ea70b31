"""The base of all stacks: what a stack needs, how it starts, and where commands run in it."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

SKIPPED = 77
BROKEN = 70
TIMED_OUT = 124


class CannotStand(Exception):
    """This machine lacks something that the stack needs. This is a reason to skip, not a failure."""


class Broken(Exception):
    """The stack should have started on this machine and did not."""


@dataclass
class Command:
    """What the caller wants to run inside a stack."""

    words: list[str]
    folder: str
    environment: dict[str, str]


class Place:
    """Where commands run while a stack runs: in the namespaces of the stack. Stacks with a guest override this."""

    def __init__(self, variables: dict[str, str], cgroup: Path | None = None):
        self.variables = variables
        self.cgroup = cgroup

    def run(self, command: Command, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> int:
        """Runs the command to its end. Returns its exit status, or 128 + N if signal N ended it."""
        environment = command.environment | self.variables
        environment["PATH"] = f"{LAB / 'bin'}:{environment.get('PATH', '')}:{SYSTEM_PATH}"
        try:
            child = subprocess.Popen(
                command.words,
                cwd=command.folder,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                preexec_fn=self.enter_cgroup,
            )
        except OSError as error:
            say(f"cannot run {command.words[0]}: {error.strerror}")
            return 127
        return wait_as_init(child.pid)

    def enter_cgroup(self) -> None:
        if self.cgroup:
            (self.cgroup / "cgroup.procs").write_text("0")


class Stack:
    """One kind of storage. `stand` runs as the first process of the stack's own namespaces. It need not undo what it
    mounts and starts there, because the kernel removes that with the namespaces."""

    name = ""
    summary = ""
    needs: tuple[str, ...] = ()
    """The programs and files that the stack needs, by their names in packages.py."""
    own_network = False

    def add_options(self, parser) -> None:
        """Adds the options of the stack to an argparse parser."""

    def why_not(self) -> str | None:
        """Returns why this machine cannot run the stack, apart from missing programs."""
        return None

    def stand(self, room, options) -> Place:
        raise NotImplementedError


def is_mounted(folder: Path) -> bool:
    """Reads the kernel's list of mounts. A call on the folder itself would fail or hang when its daemon does."""
    return any(line.split()[1] == str(folder) for line in Path("/proc/self/mounts").read_text().splitlines())


def say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr, flush=True)


def wait_as_init(pid: int) -> int:
    """Waits for one child. Meanwhile also reaps orphans, as the first process of a namespace must do."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def do(*words, environment: dict[str, str] | None = None) -> str:
    """Runs a program that must succeed. Returns what it printed."""
    words = [str(word) for word in words]
    ended = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=os.environ | (environment or {})
    )
    if ended.returncode != 0:
        raise Broken(f"`{' '.join(words)}` failed with status {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


class Daemon:
    """Starts a server of the stack, with its output in the room. The server ends with the stack's namespaces."""

    def __init__(self, room, name: str, words: list):
        self.name = name
        self.log = room.path / f"{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=room.path,
            )

    def wait_until(self, ready, seconds: float = 20) -> None:
        """Waits for `ready()`. Raises an error with the end of the log if the daemon ends or is not ready in time."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                raise Broken(f"{self.name} ended with status {self.process.returncode}:\n{self.last_words()}")
            if time.monotonic() > deadline:
                raise Broken(f"{self.name} is not ready after {seconds} s:\n{self.last_words()}")
            time.sleep(0.02)

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
