"""Debian's libraries for another processor, unpacked beside the build: nothing of them is installed, and the machine's
dpkg does not know them. The folder is whole when its INDEX is there."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

from package_lib import elf
from package_lib.build import Failure, root_of

_ROOT = root_of(__file__)
INDEX = "packages.json"
# As `uname -m` says it -> as dpkg does.
ARCHITECTURES = {"aarch64": "arm64"}
_FIELDS = ("name", "version", "source", "source_version", "homepage")
_FORMAT = "\\t".join(("${Package}", "${Version}", "${source:Package}", "${source:Version}", "${Homepage}")) + "\\n"


def folder_of(processor):
    """Where tools/cmake/<processor>.cmake looks."""
    return _ROOT / f"build/{processor}-root"


def of(binary):
    """The one that a program of another processor was linked in; None: of this machine's."""
    processor = elf.processor(binary)
    return None if processor == platform.machine() else folder_of(processor)


def library_packages(text):
    """Those of the section [build] of packages.txt that are for the program's processor, and no tools."""
    section = re.search(r"^\[build\]\n(.*?)^\[", text, re.MULTILINE | re.DOTALL).group(1)
    return [line for line in section.split() if re.fullmatch(r"(lib|zlib).*-dev", line)]


def make(processor):
    """The folder, loaded from Debian's archive and unpacked where it is not there yet or wants other packages."""
    root, architecture = folder_of(processor), ARCHITECTURES[processor]
    wanted = library_packages((_ROOT / "tools/packages.txt").read_text(encoding="utf-8"))
    if (root / INDEX).is_file() and json.loads((root / INDEX).read_text(encoding="utf-8"))["wanted"] == wanted:
        return root
    with tempfile.TemporaryDirectory(prefix="liststore-apt-") as state:
        unpack(_load(pathlib.Path(state), architecture, wanted), root, wanted)
    return root


def _load(state, architecture, wanted):
    """The .debs of `wanted` and of all that they stand on, loaded by an apt-get with a state of its own."""
    for name in ("lists/partial", "archives/partial"):
        (state / name).mkdir(parents=True)
    (state / "status").touch()
    (state / "apt.conf").write_text(
        f'Dir::State "{state}";\nDir::State::lists "{state}/lists";\nDir::State::status "{state}/status";\n'
        f'Dir::Cache "{state}";\nAPT::Architecture "{architecture}";\nAPT::Architectures {{ "{architecture}"; }};\n'
        'APT::Install-Recommends "false";\nAPT::Sandbox::User "root";\nDebug::NoLocking "true";\n', encoding="utf-8")
    environment = {**os.environ, "APT_CONFIG": str(state / "apt.conf"), "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    for arguments in (["update"], ["install", "--download-only", *wanted]):
        done = subprocess.run(["apt-get", "-q", "-y", *arguments], env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            said = "\n".join((done.stdout + done.stderr).splitlines()[-5:])
            raise Failure(f"apt-get {arguments[0]} for {architecture} failed:\n{said}")
    return sorted((state / "archives").glob("*.deb"))


def unpack(debs, root, wanted):
    """Makes `root` anew of .debs, without what they would run when they are installed."""
    shutil.rmtree(root, ignore_errors=True)
    # As Debian has them since its release 12: what packages still put into /lib is in /usr/lib.
    for name in ("bin", "lib", "sbin"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    packages = []
    for deb in debs:
        said = subprocess.run(["dpkg-deb", "--show", f"--showformat={_FORMAT}", str(deb)], capture_output=True, text=True,
                              check=True)
        package = dict(zip(_FIELDS, said.stdout.removesuffix("\n").split("\t")))
        archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], capture_output=True, check=True).stdout
        listed = subprocess.run(["tar", "-xvf", "-", "--keep-directory-symlink", "--no-same-owner", "-C", str(root)],
                                input=archive, capture_output=True, check=True)
        package["files"] = [line[1:] for line in listed.stdout.decode().splitlines() if not line.endswith("/")]
        packages.append(package)
    for path in (path for path in root.rglob("*") if path.is_symlink()):
        target = os.readlink(path)
        if target.startswith("/"):  # it would lead out of the root
            path.unlink()
            path.symlink_to(os.path.relpath(f"{root}{target}", path.parent))
    (root / INDEX).write_text(json.dumps({"wanted": wanted, "packages": packages}, indent=1), encoding="utf-8")


class Index:
    """What is known of the packages in a root."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        found = json.loads((self.root / INDEX).read_text(encoding="utf-8"))["packages"]
        self._packages = {package["name"]: package for package in found}
        # Of files: what a link leads to may be another package's.
        self._owners = {os.path.realpath(f"{self.root}{path}"): package["name"] for package in found
                        for path in package["files"] if not os.path.islink(f"{self.root}{path}")}

    def __contains__(self, path):
        return pathlib.Path(path).resolve().is_relative_to(self.root)

    def owner(self, path):
        """The package of a file of the root; None: there is none."""
        return self._owners.get(os.path.realpath(path))

    def describe(self, name):
        """(name, version, source, source_version, homepage)"""
        return tuple(self._packages[name][field] for field in _FIELDS)

    def copyright_file(self, name):
        return self.root / f"usr/share/doc/{name}/copyright"
