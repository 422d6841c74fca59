"""The packages for npm: liststore for JavaScript and TypeScript, and the one that carries the program."""

import json

from package_lib import archive, elf, static_program
from package_lib import readme as readmes
from package_lib.build import Failure, root_of

SOURCE = "tools/fixtures/javascript"
# The processor, as `uname -m` says it -> as Node does.
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}


def package(binary, version, out):
    root = root_of(__file__)
    source = root / SOURCE
    processor = elf.processor(binary)
    platform = f"linux-{PROCESSORS[processor]}"
    manifest = read_manifest(source / "package.json", version)
    carrier = read_manifest(source / platform / "package.json", version)
    if manifest["optionalDependencies"].get(carrier["name"]) != version:
        raise Failure(f"{SOURCE}/package.json does not name {carrier['name']} {version} as an optional dependency")
    files = sorted(path for pattern in ("bin/*.js", "lib/*.js", "lib/*.d.ts", *top_level(manifest))
                   for path in source.glob(pattern))
    return [
        write(out / f"liststore-{version}.tgz", root, manifest, source / "README.md", [
            archive.member(f"package/{path.relative_to(source)}", path, 0o755 if path.parent.name == "bin" else 0o644)
            for path in files]),
        write(out / f"liststore-{platform}-{version}.tgz", root, carrier, None, [
            archive.member("package/bin/liststore", binary, 0o755),
            *static_program.notices(binary, "package/THIRD_PARTY.txt")]),
    ]


def top_level(manifest):
    """The patterns of package.json's `files` that name files, not folders."""
    return [pattern for pattern in manifest["files"] if "*" in pattern]


def read_manifest(path, version):
    if not path.is_file():
        raise Failure(f"{path} is not there: packages for npm are made for {', '.join(PROCESSORS)} alone")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest["version"] != version:
        raise Failure(f"{path} is of version {manifest['version']}, and the program of {version}")
    return manifest


def write(path, root, manifest, readme, members):
    """As `npm pack` does it: everything below package/."""
    members = [archive.member("package/package.json", json.dumps(manifest, indent=2) + "\n"),
               archive.member("package/LICENSE", root / "LICENSE"), *members]
    if readme is not None:
        members.append(archive.member("package/README.md", readmes.without_links(readme.read_text(encoding="utf-8"))))
    return archive.write_tar_gz(path, members)
