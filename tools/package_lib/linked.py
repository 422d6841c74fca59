"""What of other projects is inside of a program or module: found in the linker's map and the compiler's dependencies,
not in a list that somebody keeps, and named as dpkg knows it."""

import dataclasses
import functools
import pathlib
import re
import subprocess

from package_lib import sysroot
from package_lib.build import Failure

# Source package -> its licence, as SPDX writes it, of the parts that are linked. The whole texts are in the copyright
# files, which the notices have; a package that is not named here stops the packaging.
_LICENCES = {
    "abseil": "Apache-2.0",
    "boost1.81": "BSL-1.0",
    "cli11": "BSD-3-Clause",
    # The libraries of Debian's compiler for another processor: glibc's start files and headers, and the kernel's.
    "cross-toolchain-base": "LGPL-2.1-or-later AND GPL-2.0-only WITH Linux-syscall-note",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-12-cross": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libbsd": "BSD-3-Clause AND BSD-2-Clause AND ISC",
    "libedit": "BSD-3-Clause",
    "libmd": "BSD-3-Clause AND BSD-2-Clause AND ISC",
    "libxcrypt": "LGPL-2.1-or-later",
    "libyaml": "MIT",
    "libzstd": "BSD-3-Clause",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "lz4": "BSD-2-Clause",
    "ncurses": "X11-distribute-modifications-variant",
    "openssl": "Apache-2.0",
    "snappy": "BSD-3-Clause",
    "tomlplusplus": "MIT",
    "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
}


@dataclasses.dataclass(frozen=True, order=True)
class Package:
    name: str  # Debian's, of the files that were read: "libssl-dev"
    version: str
    source: str
    source_version: str
    homepage: str
    is_linked: bool  # code of one of its archives; else of its headers alone
    copyright_file: pathlib.Path

    @property
    def licence(self):
        if self.source not in _LICENCES:
            raise Failure(f"the program contains {self.name}, whose source package {self.source} has no licence in"
                          " tools/package_lib/linked.py: read its copyright file and add it")
        return _LICENCES[self.source]

    @property
    def copyright_text(self):
        if not self.copyright_file.is_file():
            raise Failure(f"there is no {self.copyright_file}, which the notices are made of: install {self.name} with its"
                          " documents")
        return self.copyright_file.read_text(encoding="utf-8", errors="replace")


def inputs_of(map_text):
    """The archives with a member in the program, and the objects: two sets of paths as the linker has them."""
    members = map_text.split("\nDiscarded input sections", 1)[0]
    archives = set(re.findall(r"^(\S+\.a)\(", members, re.MULTILINE))
    objects = set(re.findall(r"^LOAD (\S+\.o)$", map_text, re.MULTILINE))
    if not archives or not objects:
        raise Failure("the linker's map names no archives or no objects")
    return archives, objects


def _objects_of(archives, objects):
    """Where the objects of this build lie: folders of archives, and the objects themselves; relative paths."""
    folders = []
    for archive in archives:
        path = pathlib.PurePosixPath(archive)
        if not path.is_absolute():
            folders.append(f"{path.parent}/CMakeFiles/{path.stem.removeprefix('lib')}.dir/")
    return tuple(folders), {one for one in objects if not one.startswith("/")}


def _headers(build, archives, objects, without, root):
    """The headers of the system that the objects were compiled with, but for those in the folder `without` and in
    others of its name: Debian has Python's pyconfig.h in a folder of the architecture. `root` is where another
    processor's are."""
    name_without = f"/{pathlib.Path(without).name}/" if without else None
    folders, single = _objects_of(archives, objects)
    said = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    systems = ("/usr/", f"{root}/") if root else ("/usr/",)
    found, is_ours = set(), False
    for line in said.stdout.splitlines():
        if line and not line[0].isspace():
            name = line.split(":")[0]
            is_ours = name in single or name.startswith(folders)
        elif is_ours and line.strip().startswith(systems) and not (name_without and name_without in line):
            found.add(line.strip())
    if not found:
        raise Failure(f"ninja knows no headers of what was built in {build}: build it again with Ninja")
    return found


def _owners(paths, index):
    """The packages that paths are of: of those in `index`, if there is one, and of this machine's."""
    names = set()
    here = []
    for path in paths:
        if index is None or path not in index:
            here.append(path)
        elif (name := index.owner(path)) is not None:
            names.add(_InRoot(name))
        else:
            raise Failure(f"{path} is in the program and of no package that was unpacked: what is it?")
    return names | _owners_here(here)


class _InRoot(str):
    """The name of a package that is not this machine's."""


def _owners_here(paths):
    real = sorted({str(pathlib.Path(path).resolve()) for path in paths})
    if not real:
        return set()
    said = subprocess.run(["dpkg-query", "--search", *real], capture_output=True, text=True, check=False)
    owners = {}
    for line in said.stdout.splitlines():
        package, path = line.rsplit(": ", 1)
        owners[path] = package.split(",")[0].split(":")[0]
    unknown = [path for path in real if path not in owners]
    if unknown:
        raise Failure(f"{unknown[0]} is in the program and of no Debian package: what is it, and under which licence?")
    return set(owners.values())


def _described(name, is_linked, index):
    if isinstance(name, _InRoot):
        return Package(*index.describe(name), is_linked, index.copyright_file(name))
    form = "${Version}\t${source:Package}\t${source:Version}\t${Homepage}"
    said = subprocess.run(["dpkg-query", "--show", f"--showformat={form}\n", name],
                          capture_output=True, text=True, check=True)
    return Package(name, *said.stdout.splitlines()[0].split("\t"), is_linked,
                   pathlib.Path("/usr/share/doc", name, "copyright"))


@functools.lru_cache
def packages(binary, without=None):
    """All of them, by name. `binary` is where it was built, with its map beside it. Headers in the folder `without`
    are not looked at: those of an interpreter, for a module that runs in it."""
    map_file = binary.with_name(f"{binary.name}.map")
    build = next((folder for folder in binary.parents if (folder / "build.ninja").is_file()), None)
    if build is None or not map_file.is_file():
        raise Failure(f"there is no {map_file}: what is inside of a program is known where it was built")
    archives, objects = inputs_of(map_file.read_text(encoding="utf-8"))
    outside = [path for path in archives | objects if path.startswith("/")]
    root = sysroot.of(binary)
    index = sysroot.Index(root) if root else None
    linked = _owners(outside, index)
    headers = _owners(_headers(build, archives, objects, without, root), index) - linked
    return tuple(sorted([_described(name, True, index) for name in linked]
                        + [_described(name, False, index) for name in headers]))


def missing():
    """What this machine lacks to know it."""
    for command in ("dpkg-query", "ninja"):
        if subprocess.run(["sh", "-c", f"command -v {command}"], capture_output=True, check=False).returncode != 0:
            return f"there is no {command}, which says what is linked"
    return ""
