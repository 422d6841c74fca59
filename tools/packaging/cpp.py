"""The C++ library, its server and its fixture for tests as sources, in a .tar.gz for FetchContent."""

from package_lib import archive
from package_lib.build import root_of

NOT_FOR_OTHER_PROCESSORS = "it has sources, which are for all processors"

FILES = ("CMakeLists.txt", "LICENSE", "README.md")
FOLDERS = ("engine", "include", "tools/cmake", "tools/fixtures/cpp")


def package(binary, version, out):
    del binary  # Sources alone: a test in C++ has the server in its own process.
    root = root_of(__file__)
    folder = f"liststore-cpp-{version}"
    paths = [root / name for name in FILES]
    for name in FOLDERS:
        paths += [path for path in (root / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    members = [archive.member(f"{folder}/{path.relative_to(root).as_posix()}", path) for path in sorted(paths)]
    return [archive.write_tar_gz(out / f"{folder}.tar.gz", members)]
