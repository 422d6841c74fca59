"""A Dockerfile from scratch with the program as its root: `docker build`, or `docker import` of the root alone."""

from package_lib import archive, elf, linked, notices
from package_lib.build import root_of

missing = linked.missing

# Whoever that is, it is not root; what images without users usually have.
_USER = 65532


def root_members(binary):
    """What is in the container: the program, a user, and places for data and for temporary files."""
    root = root_of(__file__)
    return [
        archive.member("liststore", binary, 0o755),
        archive.member("etc/passwd", f"root:x:0:0::/:/none\nliststore:x:{_USER}:{_USER}::/data:/none\n"),
        archive.member("etc/group", f"root:x:0:\nliststore:x:{_USER}:\n"),
        archive.Member("data/", mode=0o700, owner=_USER),
        archive.Member("tmp/", mode=0o1777),
        archive.member("usr/share/doc/liststore/LICENSE", root / "LICENSE"),
        archive.member("usr/share/doc/liststore/THIRD_PARTY.txt", notices.third_party(binary)),
    ]


def package(binary, version, out):
    folder = f"liststore-{version}-container-linux-{elf.processor(binary)}"
    dockerfile = root_of(__file__) / "tools/packaging/container/Dockerfile"
    root = archive.gzipped(archive.tar(root_members(binary)))
    return [archive.write_tar_gz(out / f"{folder}.tar.gz", [
        archive.member(f"{folder}/Dockerfile", dockerfile),
        archive.member(f"{folder}/root.tar.gz", root),
    ])]
