"""Archives whose bytes depend on their content alone: members in the order of their names, of root where nothing else
is said, and of one time (SOURCE_DATE_EPOCH)."""

import dataclasses
import gzip
import io
import pathlib
import tarfile
import time
import zipfile

from package_lib import build


@dataclasses.dataclass(frozen=True)
class Member:
    name: str  # its path inside, without a leading slash
    data: bytes = b""
    mode: int = 0o644
    link: str = ""  # what a symbolic link points to
    owner: int = 0  # user and group; in tar archives


def member(name, source, mode=0o644):
    """Of a file, of text, or of bytes."""
    if isinstance(source, pathlib.Path):
        source = source.read_bytes()
    data = source.encode() if isinstance(source, str) else source
    return Member(name, data, mode)


def _folders_of(members):
    """The names of all folders that members are in, with a slash behind each."""
    found = set()
    for one in members:
        parts = one.name.rstrip("/").split("/")[:-1]
        found.update("/".join(parts[:end]) + "/" for end in range(1, len(parts) + 1))
    return found


def tar(members, prefix=""):
    """The bytes of a tar archive with its folders. `prefix` stands before each name: "./" in a .deb."""
    members = list(members)
    entries = {one.name: one for one in members}
    if len(entries) != len(members):
        raise ValueError("two members of one name")
    # A folder is a member of its own where it is empty, or somebody's: its name ends with a slash.
    names = sorted(set(entries) | _folders_of(members))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as file:
        for name in ([""] if prefix else []) + names:
            info = tarfile.TarInfo((prefix + name).rstrip("/") if name else prefix.rstrip("/"))
            info.mtime = build.time_of_packages()
            if name.endswith("/") or not name:
                entry = entries.get(name, Member(name, mode=0o755))
                info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, entry.mode, entry.owner, entry.owner
                file.addfile(info)
                continue
            entry = entries[name]
            info.mode, info.uid, info.gid = entry.mode, entry.owner, entry.owner
            if entry.link:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.link, 0o777
                file.addfile(info)
                continue
            info.size = len(entry.data)
            file.addfile(info, io.BytesIO(entry.data))
    return buffer.getvalue()


def gzipped(data):
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def write_tar_gz(path, members):
    path.write_bytes(gzipped(tar(members)))
    return path


def write_zip(path, members):
    """For wheels and jars, in the order that is given: some readers want their first member first."""
    # The format has no time before 1980.
    when = time.gmtime(max(build.time_of_packages(), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for one in members:
            info = zipfile.ZipInfo(one.name, when)
            info.create_system = 3  # Unix: the mode counts
            info.external_attr = (0o100000 | one.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, one.data)
    return path
