"""Runs a command to which the kernel refuses io_uring, as container runtimes do: refuse_io_uring.py COMMAND..."""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
IO_URING_SETUP, EPERM = 425, 1
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

STEPS = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, IO_URING_SETUP), (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in STEPS))
program = Program(len(STEPS), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
