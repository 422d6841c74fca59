"""What is inside of the program: an SBOM (SPDX 2.3, JSON), and THIRD_PARTY.txt with all licences."""

from package_lib import elf, linked, notices

missing = linked.missing


def package(binary, version, out):
    name = f"liststore-{version}-linux-{elf.processor(binary)}"
    sbom = out / f"{name}.spdx.json"
    sbom.write_text(notices.sbom(binary, version), encoding="utf-8")
    third_party = out / f"{name}.THIRD_PARTY.txt"
    third_party.write_text(notices.third_party(binary), encoding="utf-8")
    return [sbom, third_party]
