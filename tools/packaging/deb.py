"""Debian packages: liststore, liststore-server, libliststore and liststore-dev."""

import gzip
import pathlib
import platform
import re
import tempfile
import time

from package_lib import archive, build, commands, completions, deb_file, elf, library_build, linked, man_pages, notices

_ROOT = build.root_of(__file__)
_FILES = _ROOT / "tools/packaging/debian"

missing = linked.missing


def _described(summary, *paragraphs):
    """The value of Description."""
    lines = [summary]
    for at, paragraph in enumerate(paragraphs):
        lines += ([" ."] if at else []) + [f" {line}" for line in paragraph]
    return "\n".join(lines)


_WHAT_IT_IS = ("liststore keeps the lists of a feature store in memory, with ScyllaDB's data",
               "model: partitions, clustering keys, write timestamps and TTLs. Drivers for",
               "CQL take it for a ScyllaDB.")


def _zipped(text):
    return gzip.compress(text.encode() if isinstance(text, str) else text, 9, mtime=0)


def _documents(name, version, copyright_text):
    """What every package has below usr/share/doc."""
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(build.time_of_packages()))
    changes = (f"liststore ({version}) unstable; urgency=medium\n\n  * Version {version}: see CHANGELOG.md of the"
               f" sources.\n\n -- {deb_file.MAINTAINER}  {when}\n")
    return [
        archive.member(f"usr/share/doc/{name}/copyright", copyright_text),
        archive.member(f"usr/share/doc/{name}/changelog.gz", _zipped(changes)),
    ]


def _copyright():
    year = time.gmtime(build.time_of_packages()).tm_year
    return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
            f"Upstream-Name: liststore\n\nFiles: *\nCopyright: {year} the liststore developers\nLicense: Apache-2.0\n"
            " On Debian systems, the whole text is in /usr/share/common-licenses/Apache-2.0.\n")


def _built_using(binary):
    sources = {(package.source, package.source_version) for package in linked.packages(binary) if package.is_linked}
    return ", ".join(f"{source} (= {version})" for source, version in sorted(sources))


def _program(binary, version):
    program = commands.of(binary)
    members = [
        archive.member("usr/bin/liststore", binary, 0o755),
        archive.member("usr/share/doc/liststore/THIRD_PARTY.txt.gz", _zipped(notices.third_party(binary))),
        archive.member("usr/share/doc/liststore/sbom.spdx.json.gz", _zipped(notices.sbom(binary, version))),
        archive.member("usr/share/lintian/overrides/liststore",
                       "# One file for every release: docs/packages.md of the sources.\n"
                       "liststore: statically-linked-binary\nliststore: shared-library-lacks-prerequisites\n"
                       "liststore: embedded-library *\n"),
        *_documents("liststore", version, _copyright()),
    ]
    for name, text in man_pages.make(program, version).items():
        members.append(archive.member(f"usr/share/man/man1/{name}.gz", _zipped(text)))
    for shell, text in completions.make(program).items():
        members.append(archive.member(f"usr/{completions.PLACES[shell]}", text))
    return deb_file.Package("liststore", {
        "Section": "database",
        "Suggests": "liststore-server",
        "Built-Using": _built_using(binary),
        "Description": _described(
            "in-memory store of lists that speaks CQL - program", _WHAT_IT_IS,
            ("This package has the program: a server for tests, a console, and tools to",
             "replay, measure and copy. It needs no other package.")),
    }, members)


def server_unit(template):
    """The unit for a user and a folder of settings that the package makes: what systemd's users of the moment imply is
    said, and that nobody else reads the settings."""
    text = template.replace("@CMAKE_INSTALL_FULL_BINDIR@", "/usr/bin")
    text, changed = re.subn(r"^DynamicUser=yes$", "User=liststore\nGroup=liststore\nNoNewPrivileges=yes\nRemoveIPC=yes",
                            text, flags=re.MULTILINE)
    text, folders = re.subn(r"^ConfigurationDirectory=liststore$", r"\g<0>\nConfigurationDirectoryMode=0750", text,
                            flags=re.MULTILINE)
    if (changed, folders) != (1, 1) or re.search(r"@\w+@", text):
        raise build.Failure("tools/systemd/liststore.service.in has changed: DynamicUser=yes and"
                            " ConfigurationDirectory=liststore are wanted once each, and no variable beside"
                            " CMAKE_INSTALL_FULL_BINDIR")
    return text


def _server(version):
    unit = server_unit((_ROOT / "tools/systemd/liststore.service.in").read_text(encoding="utf-8"))
    scripts = {name: (_FILES / f"liststore-server.{name}").read_text(encoding="utf-8")
               for name in ("postinst", "prerm", "postrm")}
    return deb_file.Package("liststore-server", {
        "Section": "database",
        "Depends": f"liststore (= {version}), adduser",
        "Recommends": "systemd",
        "Description": _described(
            "in-memory store of lists that speaks CQL - service", _WHAT_IT_IS,
            ("This package runs it as a service of systemd, with a user of its own and its",
             "options in /etc/liststore.")),
    }, [
        archive.member("usr/lib/systemd/system/liststore.service", unit),
        archive.member("etc/liststore/liststore.toml", _FILES / "liststore.toml"),
        *_documents("liststore-server", version, _copyright()),
    ], scripts, ("/etc/liststore/liststore.toml",))


def _libraries(build_folder, version):
    with tempfile.TemporaryDirectory() as folder:
        static, shared = pathlib.Path(folder, "static"), pathlib.Path(folder, "shared")
        library_build.install(build_folder, static)
        library_build.shared(build_folder.parent / "package-shared", shared)
        library = shared / f"lib/libliststore.so.{version}"
        name = library_build.soname(library)
        yield _runtime(library, name, version)
        yield _development(static, name, version)


def _runtime_name(soname):
    """Debian's name for it: "libliststore0.1" of "libliststore.so.0.1"."""
    return soname.replace(".so.", "")


def _runtime(library, soname, version):
    name = _runtime_name(soname)
    return deb_file.Package(name, {
        "Section": "libs",
        "Depends": library_build.dependencies(library),
        "Description": _described(
            "in-memory store of lists - shared library", _WHAT_IT_IS,
            ("This package has the library that programs embed, for C++ and for C.",)),
    }, [
        archive.member(f"usr/lib/{library.name}", library),
        archive.Member(f"usr/lib/{soname}", link=library.name),
        *_documents(name, version, _copyright()),
    ], more_control={
        "shlibs": f"libliststore {soname.rsplit('.so.', 1)[1]} {name} (>= {version})\n",
        "triggers": "activate-noawait ldconfig\n",
    })


def _development(prefix, soname, version):
    targets = (_FILES / "liststoreSharedTargets.cmake").read_text(encoding="utf-8")
    members = [
        archive.Member("usr/lib/libliststore.so", link=soname),
        archive.member("usr/lib/cmake/liststore/liststoreSharedTargets.cmake",
                       targets.replace("@VERSION@", version).replace("@SONAME@", soname)),
        *_documents("liststore-dev", version, _copyright()),
    ]
    for below in ("include", "lib/cmake", "lib/pkgconfig"):
        members += library_build.members(prefix, below, lambda name, path: archive.member(f"usr/{name}", path))
    members += [archive.member(f"usr/lib/{path.name}", path) for path in sorted((prefix / "lib").glob("*.a"))]
    return deb_file.Package("liststore-dev", {
        "Section": "libdevel",
        "Depends": f"{_runtime_name(soname)} (= {version}), libabsl-dev, libcrypt-dev, liblz4-dev, libsnappy-dev,"
                   " libssl-dev, libzstd-dev",
        "Description": _described(
            "in-memory store of lists - development files", _WHAT_IT_IS,
            ("This package has the headers, the static libraries (the store, the server, and a",
             "fixture for tests in C++), and what CMake and pkg-config look for.")),
    }, members)


def package(binary, version, out):
    architecture = elf.debian_architecture(binary)
    packages = [_program(binary, version), _server(version)]
    # The libraries are compiled here, for this processor.
    if elf.processor(binary) == platform.machine():
        packages += _libraries(binary.parent.parent, version)
    return [deb_file.write(out, one, version, architecture) for one in packages]
