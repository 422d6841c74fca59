"""The Rust crate liststore-testing with the program in it."""

import re

from package_lib import archive, elf, static_program
from package_lib.build import Failure, root_of


def package(binary, version, out):
    root = root_of(__file__)
    source = root / "tools/fixtures/rust"
    manifest = (source / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(.*)"', manifest, re.MULTILINE)
    if not found or found.group(1) != version:
        raise Failure(f"{source}/Cargo.toml has another version than {version}")
    folder = f"liststore-testing-{version}"
    members = [
        archive.member(f"{folder}/bin/liststore", binary, 0o755),
        archive.member(f"{folder}/LICENSE", root / "LICENSE"),
        *static_program.notices(binary, f"{folder}/THIRD_PARTY.txt"),
        archive.member(f"{folder}/Cargo.toml", manifest),
        *(archive.member(f"{folder}/src/{path.name}", path) for path in sorted((source / "src").glob("*.rs"))),
    ]
    return [archive.write_tar_gz(out / f"{folder}-linux-{elf.processor(binary)}.crate", members)]
