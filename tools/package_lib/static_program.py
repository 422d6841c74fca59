"""Whether a program is static, and what has to go with one that is."""

from package_lib import archive

_PT_INTERP = 3  # of <elf.h>


def is_static(binary):
    """That no segment of a program for 64 bits names a loader."""
    head = binary.read_bytes()[:4096]
    offset = int.from_bytes(head[32:40], "little")
    size, count = (int.from_bytes(head[at:at + 2], "little") for at in (54, 56))
    return all(int.from_bytes(head[at:at + 4], "little") != _PT_INTERP
               for at in range(offset, offset + size * count, size))


def notices(binary, name):
    """The members of an archive that say whose code is inside: one, or of a program with a loader none."""
    if not is_static(binary):
        return []
    from package_lib import notices as made  # of the linker's map, which tests of a program with a loader lack

    return [archive.member(name, made.third_party(binary))]
