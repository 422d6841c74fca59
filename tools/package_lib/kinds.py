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
    not_for_others: str  # why it is not made for another processor; empty: it is


def _load(path):
    spec = importlib.util.spec_from_file_location(f"liststore_packaging_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    missing = module.missing() if hasattr(module, "missing") else ""
    return Kind(path.stem, module.__doc__.strip().split("\n")[0], module.package, missing,
                getattr(module, "NOT_FOR_OTHER_PROCESSORS", ""))


def find(folder):
    """All of them by name."""
    return {path.stem: _load(path) for path in sorted(folder.glob("*.py"))}


def choose(known, only, is_for_another=False):
    """Those that are to be made: the names in `only`, or all that this machine can make, for itself or for another
    processor."""
    reasons = {kind.name: kind.missing or (kind.not_for_others if is_for_another else "") for kind in known.values()}
    if only is None:
        for name, reason in reasons.items():
            if reason:
                print(f"{name:12} left out: {reason}")
        return [kind for kind in known.values() if not reasons[kind.name]]
    chosen = []
    for name in only.split(","):
        if name not in known:
            raise Failure(f"--only: '{name}' is not a kind of package; there are {', '.join(known)}")
        if reasons[name]:
            raise Failure(f"--only: {name} cannot be made here: {reasons[name]}")
        chosen.append(known[name])
    return chosen
