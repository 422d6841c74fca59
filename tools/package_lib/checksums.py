"""SHA256SUMS, as `sha256sum --check` reads it."""

import hashlib

NAME = "SHA256SUMS"


def of(path):
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def write(folder, made):
    """Names the files that were made in this folder, and none of an earlier run. Returns its path."""
    files = sorted(set(made))
    sums = folder / NAME
    sums.write_text("".join(f"{of(path)}  {path.name}\n" for path in files))
    return sums
