"""The Go module liststoretest with the program in it, in a .tar.gz."""

from package_lib import archive, elf, static_program
from package_lib.build import root_of


def package(binary, version, out):
    root = root_of(__file__)
    source = root / "tools/fixtures/go"
    members = [
        archive.member("liststoretest/bin/liststore", binary, 0o755),
        archive.member("liststoretest/LICENSE", root / "LICENSE"),
        *static_program.notices(binary, "liststoretest/THIRD_PARTY.txt"),
        archive.member("liststoretest/go.mod", source / "go.mod"),
        *(archive.member(f"liststoretest/{path.name}", path) for path in sorted(source.glob("*.go"))),
    ]
    return [archive.write_tar_gz(out / f"liststoretest-go-{version}-linux-{elf.processor(binary)}.tar.gz", members)]
