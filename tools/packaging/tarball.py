"""The program with its manual pages, completions and notices in a .tar.gz."""

from package_lib import archive, elf
from package_lib.build import root_of


def package(binary, version, out):
    root = root_of(__file__)
    folder = f"liststore-{version}-linux-{elf.processor(binary)}"
    members = [
        archive.member(f"{folder}/bin/liststore", binary, 0o755),
        archive.member(f"{folder}/LICENSE", root / "LICENSE"),
    ]
    return [archive.write_tar_gz(out / f"{folder}.tar.gz", members)]
