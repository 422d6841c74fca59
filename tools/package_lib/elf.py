"""What the head of a program says."""

import struct

from package_lib.build import Failure

# e_machine of <elf.h> -> the names that uname, Debian and Go have for the processor.
_PROCESSORS = {62: ("x86_64", "amd64"), 183: ("aarch64", "arm64")}


def _names(binary):
    with binary.open("rb") as stream:
        head = stream.read(20)
    if head[:4] != b"\x7fELF":
        raise Failure(f"{binary} is not a program for Linux")
    machine = struct.unpack("<H", head[18:20])[0]
    if machine not in _PROCESSORS:
        raise Failure(f"{binary} is for the processor {machine} of elf.h; packages are made for "
                      + " and ".join(names[0] for names in _PROCESSORS.values()))
    return _PROCESSORS[machine]


def processor(binary):
    """As `uname -m` says it: "x86_64"."""
    return _names(binary)[0]


def debian_architecture(binary):
    """As dpkg and Go say it: "amd64"."""
    return _names(binary)[1]
