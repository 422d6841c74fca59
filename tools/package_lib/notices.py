"""THIRD_PARTY.txt of a program or module, and the SBOM of a program."""

import json
import time
import urllib.parse
import uuid

from package_lib import build, checksums, elf, linked

_RULE = "=" * 100


def _sources(packages):
    """Source package -> its packages in the program."""
    sources = {}
    for package in packages:
        sources.setdefault(package.source, []).append(package)
    return dict(sorted(sources.items()))


def third_party(binary, without=None):
    """What is inside of a program or module, of whom, and under which licences, with their texts; `without` as
    `linked.packages` has it."""
    sources = _sources(linked.packages(binary, without))
    lines = ["liststore is under the Apache License 2.0: see LICENSE. What was built of it contains code of these"
             " projects:", ""]
    for source, packages in sources.items():
        how = "linked" if any(package.is_linked for package in packages) else "headers"
        lines.append(f"  {source} {packages[0].source_version}: {packages[0].licence} ({how})")
    lesser = [source for source, packages in sources.items()
              if packages[0].licence.startswith("LGPL") and any(package.is_linked for package in packages)]
    if lesser:
        lines += ["", f"Under the LGPL: {', '.join(lesser)}. Whoever has this may link it again with versions of their"
                  " own, by the", "sources of liststore and `tools/package` (docs/packages.md)."]
    for source, packages in sources.items():
        lines += ["", _RULE, f"{source} {packages[0].source_version}"]
        lines += [f"  {packages[0].homepage}"] if packages[0].homepage else []
        lines += [_RULE, ""]
        texts = []
        for package in packages:
            if package.copyright_text not in texts:
                texts.append(package.copyright_text)
        lines += [text.rstrip() for text in texts]
    return "\n".join(lines) + "\n"


def _spdx_id(package):
    return "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in package.name)


def _purl(package, architecture):
    name, version = (urllib.parse.quote(text, safe="") for text in (package.name, package.version))
    return f"pkg:deb/debian/{name}@{version}?arch={architecture}"


def _spdx_package(package, architecture):
    return {
        "SPDXID": _spdx_id(package),
        "name": package.name,
        "versionInfo": package.version,
        "sourceInfo": f"built from the source package {package.source} {package.source_version}",
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": package.homepage or "NOASSERTION",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": package.licence,
        # In THIRD_PARTY.txt, whole.
        "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": _purl(package, architecture)}],
    }


def sbom(binary, version):
    """As SPDX 2.3 writes it in JSON."""
    packages, digest = linked.packages(binary), checksums.of(binary)
    architecture = elf.debian_architecture(binary)
    program = {
        "SPDXID": "SPDXRef-liststore",
        "name": "liststore",
        "versionInfo": version,
        "primaryPackagePurpose": "APPLICATION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-liststore")]
    for package in packages:
        kind = "STATIC_LINK" if package.is_linked else "CONTAINS"
        relationships.append(("SPDXRef-liststore", kind, _spdx_id(package)))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"liststore-{version}-linux-{elf.processor(binary)}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(build.time_of_packages())),
            "creators": [f"Tool: liststore-tools-package-{version}"],
        },
        "packages": [program] + [_spdx_package(package, architecture) for package in packages],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relationships],
    }
    return json.dumps(document, indent=1) + "\n"
