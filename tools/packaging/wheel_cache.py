"""Python wheels of liststore-cache: the store and cache inside of a Python process, with the engine in them."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from package_lib import archive, build, elf, linked, notices

NOT_FOR_OTHER_PROCESSORS = "its module is compiled for the Python of this machine"

_ROOT = build.root_of(__file__)
_PACKAGE = _ROOT / "tools/python_cache"
_BUILD = _ROOT / "build/python_cache"
# The first Python whose stable interface has buffers: one module for it and all that follow.
_STABLE_SINCE = (3, 11)
_LIMITED_API = "0x030b0000"
_OLDER = ("3.9", "3.10")
# Libraries that a wheel for manylinux may take from the machine (PEP 600), as far as this one does.
_OF_THE_MACHINE = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
_ASK = ("import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_config_var('EXT_SUFFIX'),"
        " sysconfig.get_path('include'))")


def _headers():
    """Version -> (suffix of modules, folder of Python.h): of Debian's Python, and of the interpreters whose paths
    LISTSTORE_PYTHONS has, with colons between."""
    found = {}
    for interpreter in os.environ.get("LISTSTORE_PYTHONS", "").split(":") + ["/usr/bin/python3"]:
        if not interpreter or not shutil.which(interpreter):
            continue
        said = subprocess.run([interpreter, "-c", _ASK], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            version, suffix, folder = said.stdout.strip().split(maxsplit=2)
            if pathlib.Path(folder, "Python.h").is_file():
                found.setdefault(version, (suffix, pathlib.Path(folder)))
    return found


def _choose(headers):
    """The modules to make: one by the stable interface, and one for each older Python that is here."""
    chosen = []
    stable = [version for version in headers if tuple(map(int, version.split("."))) >= _STABLE_SINCE]
    if stable:
        oldest = min(stable, key=lambda version: tuple(map(int, version.split("."))))
        chosen.append(("cp311-abi3", ".abi3.so", headers[oldest][1], _LIMITED_API))
    for version in _OLDER:
        if version in headers:
            tag = "cp" + version.replace(".", "")
            chosen.append((f"{tag}-{tag}", *headers[version], ""))
    return chosen


def _zstd():
    for place in [*pathlib.Path("/usr/lib").glob("*-linux-gnu"), pathlib.Path("/usr/lib64"), pathlib.Path("/usr/lib")]:
        if (place / "libzstd.a").is_file():
            return place / "libzstd.a"
    return None


def missing():
    if not _choose(_headers()):
        return "there is no Python 3.11 or later with its Python.h (package python3-dev)"
    if _zstd() is None:
        return "there is no libzstd.a (package libzstd-dev)"
    return linked.missing()


def _run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise build.Failure(f"{' '.join(str(word) for word in command[:3])} ... failed:\n{tail}")
    return done.stdout


def _compile(suffix, include, limited_api):
    """The module, stripped, and its notices. The engine is compiled once for all of them."""
    settings = {
        "CMAKE_BUILD_TYPE": "Release", "CMAKE_CXX_FLAGS_RELEASE": "-O3 -DNDEBUG", "LISTSTORE_BUILD_PYTHON_CACHE": "ON",
        "LISTSTORE_BUILD_TESTS": "OFF", "LISTSTORE_BUILD_BENCH": "OFF", "LISTSTORE_BUILD_TOOLS": "OFF",
        "LISTSTORE_BUILD_CQL_SERVER": "OFF", "LISTSTORE_ZSTD_LIBRARY": _zstd(),
        "LISTSTORE_WERROR": os.environ.get("LISTSTORE_WERROR", "OFF"),
        "LISTSTORE_PYTHON_INCLUDE": include, "LISTSTORE_PYTHON_SUFFIX": suffix,
        "LISTSTORE_PYTHON_LIMITED_API": limited_api,
    }
    jobs = os.environ.get("LISTSTORE_JOBS") or str(os.cpu_count() or 1)
    _run("cmake", "-G", "Ninja", "-S", _ROOT, "-B", _BUILD, *(f"-D{name}={value}" for name, value in settings.items()))
    _run("cmake", "--build", _BUILD, "--parallel", jobs, "--target", "liststore_python_cache")
    stripped = _BUILD / f"stripped/_native{suffix}"
    stripped.parent.mkdir(exist_ok=True)
    module = _BUILD / f"tools/python_cache/_native{suffix}"
    _run("strip", "--strip-unneeded", "-o", stripped, module)
    # The interpreter's headers are of the interpreter, which the module is loaded into.
    return stripped, notices.third_party(module, include)


def platform_tag(module):
    """manylinux_X_Y_<processor>, where X.Y is the latest glibc that a symbol of the module is of."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", _run("readelf", "-dW", module)))
    if needed - _OF_THE_MACHINE:
        raise build.Failure(f"{module.name} needs {', '.join(sorted(needed - _OF_THE_MACHINE))}, which not every machine"
                            " has: link it statically")
    symbols = _run("readelf", "--version-info", "-W", module)
    strange = set(re.findall(r"Name: ((?:GLIBCXX|CXXABI|GCC)_[0-9.]+)", symbols))
    if strange:
        raise build.Failure(f"{module.name} takes {', '.join(sorted(strange))} from the machine: link it statically")
    versions = [tuple(map(int, text.split("."))) for text in re.findall(r"Name: GLIBC_([0-9.]+)", symbols)]
    if not versions:
        raise build.Failure(f"{module.name} names no version of glibc: {symbols[:200]}")
    major, minor = max(versions)[:2]
    return f"manylinux_{major}_{minor}_{elf.processor(module)}"


def _metadata(version):
    return (f"Metadata-Version: 2.1\nName: liststore-cache\nVersion: {version}\n"
            "Summary: Lists with TTLs in the memory of a Python process: liststore's store and cache\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n"
            "Provides-Extra: numpy\nRequires-Dist: numpy>=1.20; extra == \"numpy\"\n"
            "Provides-Extra: arrow\nRequires-Dist: numpy>=1.20; extra == \"arrow\"\n"
            "Requires-Dist: pyarrow>=12; extra == \"arrow\"\nDescription-Content-Type: text/markdown\n\n"
            + (_PACKAGE / "README.md").read_text())


def _hash(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _wheel(version, tag, module, third_party, out):
    full_tag = f"{tag}-{platform_tag(module)}"
    info = f"liststore_cache-{version}.dist-info"
    sources = sorted(path for path in (_PACKAGE / "liststore_cache").iterdir()
                     if path.suffix in (".py", ".pyi") or path.name == "py.typed")
    head = f"Wheel-Version: 1.0\nGenerator: liststore ({version})\nRoot-Is-Purelib: false\nTag: {full_tag}\n"
    members = [archive.member(f"liststore_cache/{path.name}", path) for path in sources]
    members += [
        archive.member(f"liststore_cache/{module.name}", module, 0o755),
        archive.member(f"{info}/METADATA", _metadata(version)),
        archive.member(f"{info}/WHEEL", head),
        archive.member(f"{info}/licenses/LICENSE", _ROOT / "LICENSE"),
        archive.member(f"{info}/licenses/THIRD_PARTY.txt", third_party),
    ]
    record = "".join(f"{one.name},{_hash(one.data)},{len(one.data)}\n" for one in members)
    members.append(archive.member(f"{info}/RECORD", record + f"{info}/RECORD,,\n"))
    return archive.write_zip(out / f"liststore_cache-{version}-{full_tag}.whl", members)


def package(binary, version, out):
    del binary  # has no part in it: the engine is compiled for a module
    return [_wheel(version, tag, *_compile(suffix, include, limited_api), out)
            for tag, suffix, include, limited_api in _choose(_headers())]
