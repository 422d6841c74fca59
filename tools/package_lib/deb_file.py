"""Debian packages: deb(5), an ar archive of two tar archives. No tool of Debian's is needed."""

import dataclasses
import hashlib
import lzma

from package_lib import archive, build


@dataclasses.dataclass
class Package:
    name: str
    fields: dict  # of the control file, beside those that are the same for all
    members: list  # archive.Member, "usr/bin/liststore"
    scripts: dict = dataclasses.field(default_factory=dict)  # "postinst" -> its text
    conffiles: tuple = ()  # "/etc/..."
    more_control: dict = dataclasses.field(default_factory=dict)  # "shlibs" -> its text


def _control(package, version, architecture):
    # In KiB, each file rounded up, as dpkg-gencontrol counts.
    size = sum((len(member.data) + 1023) // 1024 or 1 for member in package.members)
    fields = {
        "Package": package.name,
        "Version": version,
        "Architecture": architecture,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(size),
        "Priority": "optional",
        **package.fields,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


MAINTAINER = "liststore developers <liststore@packages.invalid>"


def _ar(members):
    data = b"!<arch>\n"
    for name, content in members:
        data += f"{name:<16}{build.time_of_packages():<12}{0:<6}{0:<6}{0o100644:<8o}{len(content):<10}`\n".encode()
        data += content + b"\n" * (len(content) % 2)
    return data


def _xz(data):
    return lzma.compress(data, preset=6)


def write(out, package, version, architecture):
    """Returns the path of NAME_VERSION_ARCHITECTURE.deb."""
    control = [archive.member("control", _control(package, version, architecture))]
    sums = "".join(f"{hashlib.md5(member.data).hexdigest()}  {member.name}\n"
                   for member in sorted(package.members, key=lambda member: member.name)
                   if not member.link and not member.name.endswith("/")
                   and f"/{member.name}" not in package.conffiles)
    control.append(archive.member("md5sums", sums))
    if package.conffiles:
        control.append(archive.member("conffiles", "".join(f"{name}\n" for name in package.conffiles)))
    control += [archive.member(name, text) for name, text in package.more_control.items()]
    control += [archive.member(name, text, 0o755) for name, text in package.scripts.items()]
    path = out / f"{package.name}_{version}_{architecture}.deb"
    path.write_bytes(_ar([
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", _xz(archive.tar(control, "./"))),
        ("data.tar.xz", _xz(archive.tar(package.members, "./"))),
    ]))
    return path
