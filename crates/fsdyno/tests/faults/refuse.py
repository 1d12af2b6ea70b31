"""Runs a command to which the kernel refuses system calls, as container runtimes do: refuse.py CALL=ERROR... -- COMMAND...

`threads=EAGAIN` refuses new threads and not new processes. Status 77: no filter can be set here."""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
# Where the filter finds the call's number and the low half of its first argument.
NUMBER, FIRST_ARGUMENT = 0, 16
CLONE_THREAD = 0x00010000

NUMBERS = {
    "x86_64": {"io_uring_setup": 425, "getrandom": 318, "getrusage": 98, "clone": 56, "clone3": 435},
    "aarch64": {"io_uring_setup": 425, "getrandom": 278, "getrusage": 165, "clone": 220, "clone3": 435},
}[os.uname().machine]


def refused(name, code):
    """The steps that answer a call with an error."""
    answer = [(RETURN, 0, 0, ERRNO | code)]
    if name != "threads":
        return [(EQUAL, 0, 1, NUMBERS[name])] + answer
    # The C library then asks with clone, whose flags a filter can read.
    steps = [(EQUAL, 0, 1, NUMBERS["clone3"]), (RETURN, 0, 0, ERRNO | errno.ENOSYS), (EQUAL, 0, 4, NUMBERS["clone"])]
    return steps + [(LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, CLONE_THREAD)] + answer + [(RETURN, 0, 0, ALLOW)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


cut = sys.argv.index("--")
steps = [(LOAD, 0, 0, NUMBER)]
for word in sys.argv[1:cut]:
    name, code = word.split("=")
    steps += refused(name, getattr(errno, code))
steps.append((RETURN, 0, 0, ALLOW))
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = Program(len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
    sys.exit(77)
os.execvp(sys.argv[cut + 1], sys.argv[cut + 1 :])
