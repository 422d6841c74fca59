"""The Java library liststore-junit5 with the program in it: a .jar and its .pom."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from package_lib import archive, elf, static_program
from package_lib.build import Failure, root_of


def missing():
    return next((f"there is no {name} here" for name in ("javac", "mvn") if shutil.which(name) is None), "")


def package(binary, version, out):
    root = root_of(__file__)
    pom = root / "tools/fixtures/java/pom.xml"
    found = re.search(r"<artifactId>liststore-junit5</artifactId>\s*<version>(.*)</version>", pom.read_text())
    if not found or found.group(1) != version:
        raise Failure(f"{pom} has another version than {version}")
    with tempfile.TemporaryDirectory() as folder:
        # Compiled by Maven, which gets JUnit for it; put together here, the same bytes each time.
        run = subprocess.run(["mvn", "-B", "-q", "-ntp", "-f", str(pom), f"-Dwork={folder}", "compile"],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise Failure(f"Maven does not compile {pom}: {run.stdout.strip()}")
        classes = pathlib.Path(folder) / "classes"
        members = [
            archive.member("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n"
                           f"Implementation-Version: {version}\r\nAutomatic-Module-Name: liststore.testing\r\n\r\n"),
            archive.member("META-INF/LICENSE", root / "LICENSE"),
            *static_program.notices(binary, "META-INF/THIRD_PARTY.txt"),
            archive.member("META-INF/maven/liststore/liststore-junit5/pom.xml", pom),
            archive.member("liststore/testing/liststore", binary, 0o755),
            *(archive.member(path.relative_to(classes).as_posix(), path)
              for path in sorted(classes.rglob("*.class"))),
        ]
        jar = archive.write_zip(out / f"liststore-junit5-{version}-linux-{elf.processor(binary)}.jar", members)
    # `mvn install:install-file` wants to be told what the jar is.
    return [jar, pathlib.Path(shutil.copyfile(pom, out / f"liststore-junit5-{version}.pom"))]
