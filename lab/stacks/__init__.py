"""The stacks of the lab, in order of value."""

from .guest import Dm
from .nfs import Knfsd, Nfs

STACKS = {stack.name: stack for stack in (Nfs(), Knfsd(), Dm())}
