#!/usr/bin/env python3
"""tools/package without a program: archives that are the same each time, kinds, checksums, what a linker's map says.

    tests/packages/package_test.py ROOT
"""

import gzip
import hashlib
import io
import lzma
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock
import zipfile

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tools"))

from package_lib import (archive, build, checksums, commands, completions, deb_file, elf, kinds, linked,  # noqa: E402
                         man_pages, notices, sysroot)

TIME = 1_700_000_000
MEMBERS = [
    archive.member("share/b", "text\n"),
    archive.member("bin/a", b"\x7fELF", 0o755),
    archive.Member("lib/link", link="a"),
    archive.Member("data/", mode=0o700, owner=65532),
]


def package(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools/package", *arguments], capture_output=True, text=True,
                          timeout=60, check=False)


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        os.environ["SOURCE_DATE_EPOCH"] = str(TIME)

    def test_bytes_depend_on_content_alone(self):
        first = archive.gzipped(archive.tar(MEMBERS))
        os.umask(0o077)
        self.assertEqual(archive.gzipped(archive.tar(reversed(MEMBERS))), first)

    def test_a_tar_has_its_folders_and_owners(self):
        with tarfile.open(fileobj=io.BytesIO(archive.tar(MEMBERS))) as file:
            found = {info.name: info for info in file}
        self.assertEqual(list(found), ["bin", "bin/a", "data", "lib", "lib/link", "share", "share/b"])
        self.assertEqual({info.mtime for info in found.values()}, {TIME})
        self.assertEqual((found["data"].mode, found["data"].uid), (0o700, 65532))
        self.assertEqual((found["bin/a"].mode, found["bin/a"].uid, found["bin/a"].uname), (0o755, 0, ""))
        self.assertEqual(found["lib/link"].linkname, "a")

    def test_two_members_of_one_name_are_refused(self):
        with self.assertRaises(ValueError):
            archive.tar([archive.member("a", "1"), archive.member("a", "2")])

    def test_a_zip_keeps_modes_and_order(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [archive.write_zip(pathlib.Path(folder, name), MEMBERS[:2]) for name in ("1.zip", "2.zip")]
            self.assertEqual(paths[0].read_bytes(), paths[1].read_bytes())
            with zipfile.ZipFile(paths[0]) as file:
                infos = file.infolist()
        self.assertEqual([info.filename for info in infos], ["share/b", "bin/a"])
        self.assertEqual(infos[1].external_attr >> 16, 0o100755)
        self.assertEqual(infos[0].date_time, time.gmtime(TIME)[:6])


class DebTest(unittest.TestCase):
    def test_a_deb_is_read_back(self):
        os.environ["SOURCE_DATE_EPOCH"] = str(TIME)
        made = deb_file.Package("x", {"Section": "misc", "Depends": ""}, [
            archive.member("usr/bin/x", "hello\n", 0o755), archive.member("etc/x", "option\n")],
            {"postinst": "#!/bin/sh\n"}, ("/etc/x",))
        with tempfile.TemporaryDirectory() as folder:
            data = deb_file.write(pathlib.Path(folder), made, "1.0", "amd64").read_bytes()
        members, at = {}, 8
        self.assertEqual(data[:at], b"!<arch>\n")
        while at < len(data):
            name, size = data[at:at + 16].decode().strip(), int(data[at + 48:at + 58])
            members[name] = data[at + 60:at + 60 + size]
            at += 60 + size + size % 2
        self.assertEqual(list(members), ["debian-binary", "control.tar.xz", "data.tar.xz"])
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(members["control.tar.xz"]))) as file:
            read = {name: file.extractfile(f"./{name}").read().decode()
                    for name in ("control", "conffiles", "md5sums")}
            self.assertEqual(file.getmember("./postinst").mode, 0o755)
        # A configuration file may be changed: its sum is dpkg's business.
        self.assertEqual(read["md5sums"], hashlib.md5(b"hello\n").hexdigest() + "  usr/bin/x\n")
        self.assertEqual(read["conffiles"], "/etc/x\n")
        self.assertIn("Package: x\nVersion: 1.0\nArchitecture: amd64\n", read["control"])
        self.assertNotIn("Depends", read["control"])


class ChecksumsTest(unittest.TestCase):
    def test_sha256sum_agrees(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("b", "a"):
                pathlib.Path(folder, name).write_text(name)
            pathlib.Path(folder, "folder").mkdir()
            made = [pathlib.Path(folder, name) for name in ("b", "a")]
            pathlib.Path(folder, "of an earlier run").write_text("")
            sums = checksums.write(pathlib.Path(folder), made)
            self.assertEqual([line.split("  ")[1] for line in sums.read_text().splitlines()], ["a", "b"])
            subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=folder, check=True)


class KindsTest(unittest.TestCase):
    def test_each_file_is_a_kind_and_says_what_it_is(self):
        found = kinds.find(ROOT / "tools/packaging")
        self.assertLessEqual({"binary", "container", "deb", "sbom", "tarball"}, set(found))
        for kind in found.values():
            self.assertRegex(kind.summary, r"^[A-Z].+\.$", kind.name)

    def test_a_kind_is_a_file_that_somebody_adds(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "new.py").write_text('"""New."""\ndef package(binary, version, out):\n    return [out]\n')
            pathlib.Path(folder, "not_here.py").write_text(
                '"""Not here."""\ndef package(binary, version, out):\n    return []\n'
                'def missing():\n    return "there is no npm"\n')
            found = kinds.find(pathlib.Path(folder))
        self.assertEqual([kind.name for kind in kinds.choose(found, None)], ["new"])
        with self.assertRaisesRegex(build.Failure, "not_here cannot be made here: there is no npm"):
            kinds.choose(found, "new,not_here")

    def test_kinds_that_compile_are_not_for_another_processor(self):
        known = kinds.find(ROOT / "tools/packaging")
        made = {kind.name for kind in kinds.choose(known, None, is_for_another=True)}
        self.assertEqual(made & {"binary", "tarball", "cpp", "wheel_cache"}, {"binary", "tarball"} & made)
        self.assertIn("binary", made)
        with self.assertRaisesRegex(build.Failure, "cpp cannot be made here: it has sources"):
            kinds.choose(known, "binary,cpp", is_for_another=True)
        self.assertEqual([kind.name for kind in kinds.choose(known, "binary,cpp")], ["binary", "cpp"])

    def test_what_is_wrong_is_said(self):
        for arguments, said in (
                (["--only", "rpm"], "'rpm' is not a kind of package; there are "),
                (["--only", "binary", "--binary", "/nonexistent"], "there is no /nonexistent"),
                (["--only", "binary", "--binary", ROOT / "LICENSE"], "is not a program for Linux")):
            run = package(*arguments)
            self.assertEqual(run.returncode, 1)
            self.assertIn(said, run.stderr)

    def test_a_program_that_needs_libraries_is_refused(self):
        run = package("--only", "binary", "--binary", os.path.realpath(sys.executable))
        self.assertIn("needs libraries of the machine that it runs on", run.stderr)


class NoticesTest(unittest.TestCase):
    PROGRAM = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little") + bytes(34) + b"\x38" + bytes(4096)  # without segments
    # binary is the program alone, and sbom the notices beside it; cpp has no program.
    WITHOUT = {"binary", "cpp", "sbom"}

    @staticmethod
    def members(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:
                return {name: file.read(name) for name in file.namelist()}
        with tarfile.open(path) as file:
            members = {info.name: file.extractfile(info).read() for info in file if info.isfile()}
        for name in [name for name in members if name.endswith("/root.tar.gz")]:
            with tarfile.open(fileobj=io.BytesIO(members[name])) as file:
                members |= {info.name: file.extractfile(info).read() for info in file if info.isfile()}
        return members

    def check(self, name, members):
        for member, data in members.items():
            if member.endswith(("README.md", "/METADATA")):
                self.assertNotIn(b"](../", data, f"{name}: {member} links to what is not in it")
        if self.PROGRAM not in members.values():
            return 0
        found = [data for member, data in members.items() if re.search(r"THIRD_PARTY\.txt(\.gz)?$", member)]
        self.assertEqual([gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data for data in found],
                         [b"of others\n"], name)
        return 1

    def test_who_gets_the_program_is_told_whose_code_is_inside(self):
        os.environ["SOURCE_DATE_EPOCH"] = str(TIME)
        version, known = build.version(ROOT), kinds.find(ROOT / "tools/packaging")
        patch, with_program = unittest.mock.patch.object, []
        with tempfile.TemporaryDirectory() as folder, \
                patch(notices, "third_party", return_value="of others\n"), patch(notices, "sbom", return_value="{}"), \
                patch(commands, "of", return_value=None), patch(man_pages, "make", return_value={}), \
                patch(completions, "make", return_value={}), patch(linked, "packages", return_value=()):
            program = pathlib.Path(folder, "liststore")
            program.write_bytes(self.PROGRAM)
            for name in sorted(set(known) - self.WITHOUT):
                kind = known[name].package
                if name == "deb":  # the others of this kind are libraries, which are compiled
                    made = kind.__globals__["_program"](program, version)
                    with_program += [name] * self.check(name, {one.name: one.data for one in made.members})
                    continue
                if name == "maven":  # without the classes
                    done = subprocess.CompletedProcess([], 0, "", "")
                    with patch(kind.__globals__["subprocess"], "run", return_value=done):
                        paths = kind(program, version, pathlib.Path(folder))
                elif name == "wheel_cache":  # around a module, which is compiled
                    own = kind.__globals__
                    with unittest.mock.patch.dict(
                            own, _compile=lambda *_: (program, notices.third_party(program)),
                            platform_tag=lambda _: "manylinux_2_17_x86_64",
                            _choose=lambda _: [("cp311-abi3", ".abi3.so", "include", "0x030b0000")]):
                        paths = kind(program, version, pathlib.Path(folder))
                else:
                    paths = kind(program, version, pathlib.Path(folder))
                archives = [path for path in paths if path.suffix != ".pom"]
                with_program += [name] * sum(self.check(path.name, self.members(path)) for path in archives)
        self.assertEqual(with_program, sorted(set(known) - self.WITHOUT))


class ElfTest(unittest.TestCase):
    def test_processors_have_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program")
            for machine, names in ((62, ("x86_64", "amd64")), (183, ("aarch64", "arm64"))):
                path.write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
                self.assertEqual((elf.processor(path), elf.debian_architecture(path)), names)
            path.write_bytes(b"\x7fELF" + bytes(14) + (8).to_bytes(2, "little"))
            with self.assertRaisesRegex(build.Failure, "processor 8"):
                elf.processor(path)


class OtherProcessorTest(unittest.TestCase):
    def setUp(self):
        os.environ["SOURCE_DATE_EPOCH"] = str(TIME)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, machine):
        path = self.folder / f"program-{machine}"
        path.write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
        return path

    def test_its_programs_run_behind_an_emulator(self):
        processor = {62: "x86_64", 183: "aarch64"}
        machine, other = (62, 183) if platform.machine() == "x86_64" else (183, 62)
        here, there = self.program(machine), self.program(other)
        self.assertEqual(build.command(here), [str(here)])
        with unittest.mock.patch.dict(os.environ, PATH=str(self.folder)):
            with self.assertRaisesRegex(build.Failure, f"is for {processor[other]}, and there is no qemu-.*qemu-user-static"):
                build.command(there)
            emulator = self.folder / f"qemu-{processor[other]}-static"
            emulator.touch(0o755)
            self.assertEqual(build.command(there), [str(emulator), str(there)])

    def test_only_libraries_are_loaded_for_it(self):
        self.assertEqual(sysroot.library_packages("[build]\ncmake\ng++\nlibz-dev\nzlib1g-dev\n\n[test]\nlibgtest-dev\n"),
                         ["libz-dev", "zlib1g-dev"])
        self.assertIn("libssl-dev", sysroot.library_packages((ROOT / "tools/packages.txt").read_text()))

    @unittest.skipUnless(shutil.which("dpkg-deb"), "there is no dpkg-deb")
    def test_a_root_knows_whose_its_files_are(self):
        debs = []
        for name, members in (
                ("libz1", [archive.member("lib/arch/libz.so.1.2", "shared"), archive.Member("lib/arch/libz.so.1", link="libz.so.1.2"),
                           archive.member("usr/share/doc/libz1/copyright", "All rights.\n")]),
                ("libz-dev", [archive.member("usr/lib/arch/libz.a", "static"), archive.member("usr/include/z.h", "header"),
                              archive.Member("usr/lib/arch/libz.so", link="/lib/arch/libz.so.1"),
                              archive.Member("usr/share/doc/libz-dev", link="libz1")])):
            package_of = deb_file.Package(name, {"Section": "libs", "Homepage": "of.z", "Description": "z"}, members)
            debs.append(deb_file.write(self.folder, package_of, "1.2-3", "arm64"))
        root = self.folder / "root"
        for _ in range(2):  # anew, over what is there
            sysroot.unpack(debs, root, ["libz-dev"])
        self.assertEqual((root / "usr/lib/arch/libz.so").read_text(), "shared")
        index = sysroot.Index(root)
        self.assertIn(root / "usr/include/z.h", index)
        self.assertNotIn(self.folder / "usr/include/z.h", index)
        for path, owner in (("usr/include/z.h", "libz-dev"), ("lib/arch/../arch/libz.a", "libz-dev"),
                            ("usr/lib/arch/libz.so", "libz1"), ("usr/include/y.h", None)):
            self.assertEqual(index.owner(root / path), owner, path)
        self.assertEqual(index.describe("libz-dev"), ("libz-dev", "1.2-3", "libz-dev", "1.2-3", "of.z"))
        self.assertEqual(index.copyright_file("libz-dev").read_text(), "All rights.\n")


class LinkedTest(unittest.TestCase):
    MAP = """Archive member included to satisfy reference by file (symbol)

tools/libliststore_top.a(unity_0_cxx.cxx.o)
                              tools/CMakeFiles/liststore_program.dir/main.cc.o (liststore::Top())
/usr/lib/x86_64-linux-gnu/libz.a(inflate.o)
                              tools/libliststore_top.a(unity_0_cxx.cxx.o) (inflate)

Discarded input sections

 .note.GNU-stack  0x0  0x0 /usr/lib/x86_64-linux-gnu/libnever.a(never.o)
LOAD /usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/rcrt1.o
LOAD tools/CMakeFiles/liststore_program.dir/main.cc.o
LOAD /usr/lib/x86_64-linux-gnu/libunused.a
"""

    def test_an_archive_counts_when_a_member_is_in_the_program(self):
        archives, objects = linked.inputs_of(self.MAP)
        self.assertEqual(archives, {"tools/libliststore_top.a", "/usr/lib/x86_64-linux-gnu/libz.a"})
        self.assertEqual(len(objects), 2)

    def test_a_map_of_nothing_is_refused(self):
        with self.assertRaises(build.Failure):
            linked.inputs_of("")

    def test_a_package_without_a_known_licence_stops(self):
        unknown = linked.Package("libnew-dev", "1", "new", "1", "", True, pathlib.Path("none"))
        with self.assertRaisesRegex(build.Failure, "libnew-dev.*source package new has no licence"):
            unknown.licence  # pylint: disable=pointless-statement


if __name__ == "__main__":
    unittest.main()
