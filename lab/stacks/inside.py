"""The first process inside a stack's namespaces. It starts the stack, runs the command, and ends."""

import argparse
import json
import os
import signal
import socket
import time

from .room import Room
from .stack import BROKEN, SKIPPED, Broken, CannotStand, Command, Place, do, say

DOOR = "door"
"""The socket in the room through which `lab enter` passes commands."""


def main(stacks, room_name: str) -> int:
    # Ctrl-C reaches the whole process group of the terminal: the command and the supervisor get it. The supervisor
    # then ends this process.
    signal.signal(signal.SIGINT, lambda *_: None)
    room = Room(room_name)
    request = room.read("request")
    stack = stacks[request["stack"]]
    options = argparse.Namespace(**request["options"])
    begun = time.monotonic()
    try:
        if stack.own_network:
            own_network(room)
        place = stack.stand(room, options)
    except CannotStand as reason:
        say(f"skipped: {stack.name} cannot stand here: {reason}")
        return SKIPPED
    except (Broken, OSError) as reason:
        say(f"{stack.name} did not stand up: {reason}")
        return BROKEN
    say(f"{room.name} stands (took {time.monotonic() - begun:.1f} s)")
    if request["command"] is None:
        serve(room, place)
    return place.run(Command(**request["command"]))


def own_network(room: Room) -> None:
    """Mounts /sys anew, to show the interfaces of the new network namespace. Keeps the control groups below it."""
    do("ip", "link", "set", "lo", "up")
    sys_here = room.path / "sys"
    sys_here.mkdir()
    do("mount", "-t", "sysfs", "sysfs", sys_here)
    do("mount", "--rbind", "/sys/fs/cgroup", sys_here / "fs/cgroup")
    do("mount", "--move", sys_here, "/sys")


def serve(room: Room, place: Place) -> None:
    """Runs the commands that come through the door, one after another, until the stack is stopped."""
    door = socket.socket(socket.AF_UNIX)
    os.chdir(room.path)
    door.bind(DOOR)
    door.listen()
    room.write("variables", place.variables)
    while True:
        caller, _ = door.accept()
        with caller:
            answer(caller, place)


def answer(caller: socket.socket, place: Place) -> None:
    message, descriptors, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    try:
        caller.sendall(str(place.run(Command(**json.loads(message)), *descriptors)).encode())
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def knock(room: Room, command: Command) -> int:
    """The other side of the door: runs the command in the stack with this process's stdin, stdout and stderr."""
    os.chdir(room.path)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(DOOR)
        socket.send_fds(caller, [json.dumps(vars(command)).encode()], [0, 1, 2])
        said = caller.recv(16)
    if not said:
        say(f"{room.name} was taken down")
        return BROKEN
    return int(said)
