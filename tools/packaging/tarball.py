"""The program with its manual pages, completions and notices in a .tar.gz."""

from package_lib import archive, commands, completions, elf, linked, man_pages, notices
from package_lib.build import root_of

missing = linked.missing


def package(binary, version, out):
    root = root_of(__file__)
    folder = f"liststore-{version}-linux-{elf.processor(binary)}"
    program = commands.of(binary)
    members = [
        archive.member(f"{folder}/bin/liststore", binary, 0o755),
        archive.member(f"{folder}/share/doc/liststore/LICENSE", root / "LICENSE"),
        archive.member(f"{folder}/share/doc/liststore/THIRD_PARTY.txt", notices.third_party(binary)),
        archive.member(f"{folder}/share/doc/liststore/sbom.spdx.json", notices.sbom(binary, version)),
    ]
    for name, text in man_pages.make(program, version).items():
        members.append(archive.member(f"{folder}/share/man/man1/{name}", text))
    for shell, text in completions.make(program).items():
        # Where zsh looks in /usr/local; vendors' folders are those of packages.
        place = completions.PLACES[shell].replace("zsh/vendor-completions", "zsh/site-functions")
        members.append(archive.member(f"{folder}/{place}", text))
    return [archive.write_tar_gz(out / f"{folder}.tar.gz", members)]
