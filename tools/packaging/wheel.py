"""The wheel `liststore` for pip: the program, its command, the pytest plugin and servers for tests."""

import base64
import hashlib
import sys

from package_lib import archive, elf, readme, static_program
from package_lib.build import Failure, root_of

SOURCE = "tools/fixtures/python"


def missing():
    return "" if sys.version_info >= (3, 11) else "Python 3.11, which reads pyproject.toml"


def package(binary, version, out):
    project = read_project(root_of(__file__), version)
    name, tags = project["name"], platform_tags(binary)
    info = f"{name}-{version}.dist-info"
    members = [archive.member(str(path.relative_to(sources)), path)
               for sources in [root_of(__file__) / SOURCE / "src"] for path in sorted(sources.rglob("*"))
               if path.suffix == ".py" or path.name == "py.typed"]
    members += [
        archive.member(f"{name}/bin/liststore", binary, 0o755),
        archive.member(f"{info}/licenses/LICENSE", root_of(__file__) / "LICENSE"),
        *static_program.notices(binary, f"{info}/licenses/THIRD_PARTY.txt"),
        archive.member(f"{info}/METADATA", metadata(project)),
        archive.member(f"{info}/WHEEL", wheel(tags)),
        archive.member(f"{info}/entry_points.txt", entry_points(project)),
    ]
    members.append(archive.member(f"{info}/RECORD", record(members, f"{info}/RECORD")))
    return [archive.write_zip(out / f"{name}-{version}-py3-none-{'.'.join(tags)}.whl", members)]


def read_project(root, version):
    import tomllib  # of Python 3.11

    project = tomllib.loads((root / SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["version"] != version:
        raise Failure(f"{SOURCE}/pyproject.toml is of version {project['version']}, and the program of {version}")
    return {**project, "readme": readme.without_links((root / SOURCE / project["readme"]).read_text(encoding="utf-8"))}


def platform_tags(binary):
    """A program without a loader runs on every Linux; one with libraries on this machine's alone, as far as is known."""
    processor = elf.processor(binary)
    if static_program.is_static(binary):
        return [f"{system}_{processor}" for system in ("manylinux_2_17", "manylinux2014", "musllinux_1_1")]
    return [f"linux_{processor}"]


def metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += [f"Requires-Dist: {wanted}" for wanted in project["dependencies"]]
    for extra, wanted in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in wanted]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + project["readme"]


def wheel(tags):
    return ("Wheel-Version: 1.0\nGenerator: tools/package\nRoot-Is-Purelib: false\n"
            + "".join(f"Tag: py3-none-{tag}\n" for tag in tags))


def entry_points(project):
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
                     for group, entries in groups.items())


def record(members, own_name):
    """Each file with its digest, as pip checks it, and this one, which cannot have one."""
    lines = []
    for member in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(member.data).digest()).rstrip(b"=").decode()
        lines.append(f"{member.name},sha256={digest},{len(member.data)}\n")
    return "".join(lines) + f"{own_name},,\n"
