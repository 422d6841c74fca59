"""The static program, its version, and the time that stands in packages."""

import os
import pathlib
import platform
import re
import shutil
import subprocess


class Failure(Exception):
    """Why no package was made, in words that say what to do."""


def version(root):
    """As the build has it: "0.1.0"."""
    text = (root / "CMakeLists.txt").read_text()
    found = re.search(r"^project\(liststore VERSION ([0-9.]+)", text, re.MULTILINE)
    if not found:
        raise Failure("CMakeLists.txt names no version: expected 'project(liststore VERSION ...'")
    return found.group(1)


def epoch(root):
    """Seconds: SOURCE_DATE_EPOCH, or the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        if not given.isdigit():
            raise Failure(f"SOURCE_DATE_EPOCH is '{given}': expected seconds since 1970")
        return int(given)
    said = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], text=True, capture_output=True)
    if said.returncode != 0 or not said.stdout.strip():
        raise Failure(f"{root} is no git repository: set SOURCE_DATE_EPOCH to the time of the source")
    return int(said.stdout)


def time_of_packages():
    """What tools/package has set for all kinds."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def static_program(root, target=None):
    """Builds it in build/release, or of another processor in build/<target>, and returns its path."""
    preset = target or "release"
    _in_tree(root, f"ensure_packages build {target or ''}")
    if target:
        from package_lib import sysroot  # which is of this module

        sysroot.make(target)
    _in_tree(root, f"build_preset {preset} liststore_program liststore_static")
    return root / f"build/{preset}/static/liststore"


def _in_tree(root, command):
    subprocess.run(["bash", "-c", f"set -euo pipefail; source tools/setup.sh; {command}"], cwd=root, check=True)


def command(binary):
    """What runs a program: its path, of another processor behind that of an emulator."""
    from package_lib import elf  # which is of this module

    processor = elf.processor(binary)
    if processor == platform.machine():
        return [str(binary)]
    emulator = shutil.which(f"qemu-{processor}-static")
    if emulator is None:
        raise Failure(f"{binary} is for {processor}, and there is no qemu-{processor}-static to run it (package"
                      " qemu-user-static)")
    return [emulator, str(binary)]


def check(binary, wanted_version):
    """That it is a program of this version, and asks for no loader."""
    if not binary.is_file():
        raise Failure(f"there is no {binary}")
    headers = subprocess.run(["readelf", "-lW", str(binary)], text=True, capture_output=True)
    if headers.returncode != 0:
        raise Failure(f"{binary} is not a program for Linux: {headers.stderr.strip()}")
    if re.search(r"^\s*INTERP\s", headers.stdout, re.MULTILINE):
        raise Failure(f"{binary} needs libraries of the machine that it runs on: take build/release/static/liststore,"
                      " the target liststore_static")
    said = subprocess.run([*command(binary), "--version"], text=True, capture_output=True)
    first = said.stdout.split("\n")[0]
    if first != f"liststore {wanted_version}":
        raise Failure(f"{binary} says '{first}' and the source is of version {wanted_version}")


def root_of(path):
    """The source tree that a file of tools/packaging is in."""
    return pathlib.Path(path).resolve().parents[2]
