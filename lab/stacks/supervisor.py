"""The process that owns a running stack. It starts the stack in new namespaces, and cleans up whatever happens.

A stack's first process is process 1 of a PID namespace, with a mount namespace and, if the stack wants it, a network
namespace of its own. When that process ends, for whatever reason, the kernel ends every other process in there,
unmounts everything, frees the loop devices and deletes the interfaces. That process ends when the supervisor ends, even
by SIGKILL. The supervisor itself only removes the room: a folder, and perhaps a control group.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

from .room import Room
from .stack import BROKEN, LAB, SYSTEM_PATH, TIMED_OUT, say

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
SECONDS_TO_END = 20

LIBC = ctypes.CDLL(None, use_errno=True)


def supervise(room: Room, request: dict, own_network: bool, seconds: float | None) -> int:
    """Carries out a request inside a new stack, stops the stack, and removes its room, which the caller has made."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = None
    try:
        room.write("request", request)
        child = start_inside(room, own_network)
        return child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        say(f"{room.name} is ended: it has run for {seconds:.0f} s (--timeout)")
        return TIMED_OUT
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        take_down(room, child)


def interrupted(number, _frame):
    raise SystemExit(128 + number)


def start_inside(room: Room, own_network: bool) -> subprocess.Popen:
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]
    if own_network:
        words.append("--net")
    words += [sys.executable, str(LAB / "lab"), "inside", room.name]
    environment = os.environ | {"PATH": f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"}
    return subprocess.Popen(words, env=environment, preexec_fn=die_with_parent)


def die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def take_down(room: Room, child: subprocess.Popen | None) -> None:
    begun = time.monotonic()
    if child and child.returncode is None:
        # Does not use `child`: a signal may have come while it held its lock, and nobody would release the lock.
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    stuck = not all_ended()
    left = room.remove()
    if stuck:
        say(f"a process of {room.name} hangs in the kernel and could not be ended within {SECONDS_TO_END} s")
    if left:
        say(f"could not remove {', '.join(left)}; `lab down all` tries again")
    if stuck or left:
        raise SystemExit(BROKEN)
    say(f"{room.name} is gone (took {time.monotonic() - begun:.1f} s)")


def all_ended() -> bool:
    """Waits for the stack's first process, which becomes a child of this process when `unshare` is killed."""
    deadline = time.monotonic() + SECONDS_TO_END
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        return False
    return True
