"""The kinds of packages: each file of tools/packaging is one."""

import dataclasses
import importlib.util
import typing

from package_lib.build import Failure


@dataclasses.dataclass
class Kind:
    name: str
    summary: str  # the first line of the file's documentation
    package: typing.Callable  # (binary, version, out) -> the files that were made
    missing: str  # what this machine lacks for it; empty: nothing


def _load(path):
    spec = importlib.util.spec_from_file_location(f"liststore_packaging_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    missing = module.missing() if hasattr(module, "missing") else ""
    return Kind(path.stem, module.__doc__.strip().split("\n")[0], module.package, missing)


def find(folder):
    """All of them by name."""
    return {path.stem: _load(path) for path in sorted(folder.glob("*.py"))}


def choose(known, only):
    """Those that are to be made: the names in `only`, or all that this machine can make."""
    if only is None:
        for kind in known.values():
            if kind.missing:
                print(f"{kind.name:12} left out: {kind.missing}")
        return [kind for kind in known.values() if not kind.missing]
    chosen = []
    for name in only.split(","):
        if name not in known:
            raise Failure(f"--only: '{name}' is not a kind of package; there are {', '.join(known)}")
        if known[name].missing:
            raise Failure(f"--only: {name} cannot be made here: {known[name].missing}")
        chosen.append(known[name])
    return chosen
