"""What a stack is: what it needs, how it stands up, and the place in which commands run then."""

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
    """This machine lacks something the stack needs: a reason to skip, not a failure."""


class Broken(Exception):
    """The stack should have stood up here and did not."""


@dataclass
class Command:
    """What is to be run inside a stack, as its caller said it."""

    words: list[str]
    folder: str
    environment: dict[str, str]


class Place:
    """Where commands run while a stack stands: the namespaces of the stack. Guests of a virtual machine differ."""

    def __init__(self, variables: dict[str, str], cgroup: Path | None = None):
        self.variables = variables
        self.cgroup = cgroup

    def run(self, command: Command, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> int:
        """Runs the command to its end and returns its exit status, 128 + N if signal N ended it."""
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
    """One kind of storage. `stand` runs as the first process of namespaces that the stack has for itself: what it
    mounts and starts there needs no undoing, for it goes with them."""

    name = ""
    summary = ""
    needs: tuple[str, ...] = ()
    """Programs and files, as packages.py knows them."""
    own_network = False

    def add_options(self, parser) -> None:
        """Adds the stack's own options to an argparse parser."""

    def why_not(self) -> str | None:
        """The reason why this machine cannot carry the stack, apart from missing programs."""
        return None

    def stand(self, room, options) -> Place:
        raise NotImplementedError


def is_mounted(folder: Path) -> bool:
    """From the kernel's list: asking the folder itself fails or hangs when the daemon behind it does."""
    return any(line.split()[1] == str(folder) for line in Path("/proc/self/mounts").read_text().splitlines())


def say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr, flush=True)


def wait_as_init(pid: int) -> int:
    """Waits for one child and, as the first process of a namespace must, takes in every orphan on the way."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def do(*words, environment: dict[str, str] | None = None) -> str:
    """Runs a program that has to succeed and returns what it printed."""
    words = [str(word) for word in words]
    ended = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=os.environ | (environment or {})
    )
    if ended.returncode != 0:
        raise Broken(f"`{' '.join(words)}` failed with status {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


class Daemon:
    """A server of the stack, with its output in the room. It ends with the stack's namespaces."""

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
        """Waits for `ready()`; a daemon that ends or stays silent instead is an error with the end of its log."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                raise Broken(f"{self.name} ended with status {self.process.returncode}:\n{self.last_words()}")
            if time.monotonic() > deadline:
                raise Broken(f"{self.name} is not ready after {seconds} s:\n{self.last_words()}")
            time.sleep(0.02)

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
