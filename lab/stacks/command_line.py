"""The commands of the lab."""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time

from . import STACKS, inside, packages
from .room import Room, all_rooms
from .stack import BROKEN, SKIPPED, CannotStand, Command, say
from .supervisor import supervise

USAGE = """usage: lab list                                lists the stacks, and which of them can run on this machine
       lab install [STACK...]                  installs what the stacks need (all of them if none is named)
       lab run STACK [OPTION...] -- COMMAND... starts the stack, runs COMMAND in it, stops it
       lab up STACK [OPTION...]                starts the stack and leaves it running
       lab enter STACK -- COMMAND...           runs COMMAND in a stack that `lab up` has started
       lab down [STACK|all]                    stops stacks, and removes what a killed lab left
`lab run STACK --help` lists the options of a stack. Exit status: that of COMMAND; 77 if the stack cannot run
on this machine, 70 if it should have started and did not, 124 if --timeout was reached, 2 for a wrong command line."""


def main(words: list[str]) -> int:
    actions = {"list": show, "install": install, "run": run, "up": up, "enter": enter, "down": down}
    actions["inside"] = go_inside
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0 if words else 2
    if words[0] not in actions:
        say(f"no such command: {words[0]}\n{USAGE}")
        return 2
    try:
        return actions[words[0]](words[1:])
    except CannotStand as reason:
        say(f"skipped: {reason}")
        return SKIPPED


def show(_words) -> int:
    standing = {room.name for room in all_rooms() if room.owner()}
    for stack in STACKS.values():
        reason = why_not(stack)
        state = "stands" if stack.name in standing else f"cannot: {reason}" if reason else "can stand"
        print(f"{stack.name:<9} {stack.summary} [{state}]")
    return 0


def why_not(stack) -> str | None:
    """Returns why the stack cannot run on this machine as it is now."""
    if os.geteuid() != 0:
        return "needs root, for mounts and namespaces"
    absent = packages.missing(("unshare", *stack.needs))
    if absent:
        return f"not installed: {', '.join(absent)} (`lab install {stack.name}`)"
    return stack.why_not()


def install(words) -> int:
    if os.geteuid() != 0:
        raise CannotStand("the installation needs root")
    status = 0
    names = words or list(STACKS)
    # Installs all packages in one call if possible, because each call takes seconds.
    with contextlib.suppress(CannotStand):
        packages.install({need for name in names for need in named(name).needs})
    if not words:
        # If one of these is not available, only the tests that need it are skipped; the stacks still work.
        with contextlib.suppress(CannotStand):
            packages.install(packages.FOR_TESTS)
    for name in names:
        begun = time.monotonic()
        try:
            packages.install(named(name).needs)
            say(f"{name} is installed (took {time.monotonic() - begun:.1f} s)")
        except CannotStand as reason:
            say(f"{name} cannot be installed: {reason}")
            status = SKIPPED
    return status


def named(name: str):
    if name not in STACKS:
        say(f"no such stack: {name}; there are {', '.join(STACKS)}")
        raise SystemExit(2)
    return STACKS[name]


def parse(action: str, words, wants_command: bool):
    """Splits `STACK OPTION... -- COMMAND...` into the stack, its options and the command."""
    cut = words.index("--") if "--" in words else len(words)
    if not words or words[0].startswith("-"):
        say(f"which stack? There are {', '.join(STACKS)}")
        raise SystemExit(2)
    stack = named(words[0])
    parser = argparse.ArgumentParser(
        prog=f"lab {action} {stack.name}",
        description=stack.summary,
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    if action != "enter":
        parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="limit for `lab run`")
        stack.add_options(parser)
    options = parser.parse_args(words[1:cut])
    command = Command(words[cut + 1 :], os.getcwd(), dict(os.environ))
    if wants_command and not command.words:
        say(f"lab {action} {stack.name}: say what to run, after `--`")
        raise SystemExit(2)
    return stack, options, command


def check(stack) -> None:
    reason = why_not(stack)
    if reason:
        raise CannotStand(f"{stack.name} cannot stand here: {reason}")


def run(words) -> int:
    stack, options, command = parse("run", words, wants_command=True)
    check(stack)
    room = Room(f"{stack.name}-{os.getpid()}")
    room.claim()
    request = {"stack": stack.name, "options": vars(options), "command": vars(command)}
    return supervise(room, request, stack.own_network, options.timeout)


def up(words) -> int:
    stack, options, _ = parse("up", words, wants_command=False)
    check(stack)
    room = Room(stack.name)
    if room.owner() is None:
        room.remove()
        room.claim()
        request = {"stack": stack.name, "options": vars(options), "command": None}
        status = detach(room, request, stack.own_network)
        if status is not None:
            return status
    for name, value in room.read("variables").items():
        print(f"{name}={value}")
    print(f"run commands in it with `lab enter {stack.name} -- COMMAND`; take it down with `lab down {stack.name}`")
    return 0


def detach(room: Room, request: dict, own_network: bool) -> int | None:
    """Starts a supervisor in a separate session. Returns when the stack runs; the status if the supervisor ended."""
    messages = tempfile.TemporaryFile("w+")  # noqa: SIM115 (two processes use the file)
    owner = os.fork()
    if owner == 0:
        status = BROKEN
        try:
            os.setsid()
            room.own()
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            os.dup2(messages.fileno(), 1)
            os.dup2(messages.fileno(), 2)
            status = supervise(room, request, own_network, None)
        except SystemExit as end:
            status = end.code
        finally:
            os._exit(status)
    ended = 0
    while not ended and not (room.path / "variables").exists():
        time.sleep(0.05)
        ended, status = os.waitpid(owner, os.WNOHANG)
    messages.seek(0)
    sys.stderr.write(messages.read())
    return os.waitstatus_to_exitcode(status) if ended else None


def enter(words) -> int:
    stack, _, command = parse("enter", words, wants_command=True)
    room = Room(stack.name)
    if room.owner() is None:
        say(f"{stack.name} does not stand; `lab up {stack.name}` stands it up")
        return 2
    return inside.knock(room, command)


def down(words) -> int:
    wanted = words[0] if words else "all"
    if wanted != "all":
        named(wanted)
    status = 0
    for room in all_rooms():
        if wanted == "all" or room.name == wanted:
            status = take_down(room) or status
    return status


def take_down(room: Room) -> int:
    owner = room.owner()
    if owner and room.name not in STACKS:
        say(f"{room.name} is left alone: `lab run` (process {owner}) is at work in it")
        return 0
    if owner:
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner, signal.SIGTERM)
        for _ in range(600):
            if room.owner() is None:
                break
            time.sleep(0.05)
    left = room.remove()
    say(f"{room.name}: " + (f"could not remove {', '.join(left)}" if left else "gone"))
    return BROKEN if left else 0


def go_inside(words) -> int:
    """An internal command: the supervisor calls it inside the new namespaces."""
    return inside.main(STACKS, words[0])
