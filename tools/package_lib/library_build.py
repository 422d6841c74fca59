"""The libraries as they are installed: what `cmake --install` says, and the shared one from a build of its own."""

import os
import pathlib
import re
import subprocess

from package_lib.build import Failure, root_of

_ROOT = root_of(__file__)


def _run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise Failure(f"{' '.join(str(word) for word in command[:4])} ... failed:\n{tail}")


def _jobs():
    return os.environ.get("LISTSTORE_JOBS") or str(os.cpu_count() or 1)


def install(build, prefix):
    """The static libraries, headers, CMake's and pkg-config's files, program and unit of `build`, below `prefix`."""
    if not (build / "build.ninja").is_file():
        raise Failure(f"{build} is no folder that liststore was built in: liststore-dev and the shared library are"
                      " made there")
    _run("cmake", "--build", build, "--parallel", _jobs(), "--target", "liststore", "liststore_cql_server",
         "liststore_testing", "liststore_program")
    _run("cmake", "--install", build, "--prefix", prefix)


def shared(build, prefix):
    """The shared library below `prefix`; it is compiled anew, in `build`. Returns its paths, links included."""
    settings = {
        "CMAKE_BUILD_TYPE": "Release", "CMAKE_CXX_FLAGS_RELEASE": "-O3 -DNDEBUG", "BUILD_SHARED_LIBS": "ON",
        "LISTSTORE_BUILD_TESTS": "OFF", "LISTSTORE_BUILD_BENCH": "OFF", "LISTSTORE_BUILD_TOOLS": "OFF",
        "LISTSTORE_BUILD_CQL_SERVER": "OFF",
    }
    _run("cmake", "-G", "Ninja", "-S", _ROOT, "-B", build, *(f"-D{name}={value}" for name, value in settings.items()))
    _run("cmake", "--build", build, "--parallel", _jobs(), "--target", "liststore")
    _run("cmake", "--install", build, "--prefix", prefix, "--strip")
    return sorted((prefix / "lib").glob("libliststore.so*"))


def soname(library):
    """As the loader looks for it: "libliststore.so.0.1"."""
    said = subprocess.run(["readelf", "-dW", str(library)], capture_output=True, text=True, check=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", said).group(1)


def dependencies(library):
    """Debian's packages of what a library needs, each from the version on that it was linked with."""
    said = subprocess.run(["readelf", "-dW", str(library)], capture_output=True, text=True, check=True).stdout
    places = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    found = {}
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
        place = re.search(rf"(\S*/){re.escape(name)} \(", places).group(1)
        # Packages have it below /lib or below /usr/lib, which are one folder; lib32 is another.
        pattern = f"*{place.removeprefix('/usr')}{name}"
        owner = subprocess.run(["dpkg-query", "--search", pattern], capture_output=True, text=True, check=False)
        packages = {line.split(":")[0] for line in owner.stdout.splitlines()}
        if len(packages) != 1:
            raise Failure(f"{library.name} needs {name}, which is of {sorted(packages) or 'no package'}")
        package = packages.pop()
        version = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}\n", f"{package}"],
                                 capture_output=True, text=True, check=True).stdout.splitlines()[0]
        # Without the revision: what Debian mends keeps the interface.
        found[package] = re.sub(r"-[^-]*$", "", version)
    return ", ".join(f"{package} (>= {version})" for package, version in sorted(found.items()))


def members(prefix, below, archive_member):
    """All files below `prefix`/`below`, each as archive_member(name, path)."""
    folder = pathlib.Path(prefix, below)
    return [archive_member(str(path.relative_to(prefix)), path)
            for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
