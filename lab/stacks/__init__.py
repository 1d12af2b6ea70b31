"""The stacks of the lab, in order of value."""

from .devices import Devices, NewerDevices
from .fuse import Bindfs, Fuse
from .guest import Dm
from .host_filesystems import Btrfs, Loop, Overlay, Tmpfs
from .nfs import Clients, Knfsd, Nfs
from .s3 import CaseC, CaseD, Gateway, S3fs, Store
from .throttle import Throttle

STACKS = {
    stack.name: stack
    for stack in (
        Nfs(),
        Knfsd(),
        Clients(),
        S3fs(),
        Store(),
        Gateway(),
        Loop("ext4"),
        Loop("xfs"),
        Btrfs(),
        Tmpfs(),
        Overlay(),
        Fuse(),
        Bindfs(),
        Throttle(),
        Dm(),
        CaseC(),
        CaseD(),
        Devices(),
        NewerDevices(),
    )
}
