"""The stacks of the lab, in order of value."""

from .nfs import Nfs

STACKS = {stack.name: stack for stack in (Nfs(),)}
