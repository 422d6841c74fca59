"""SHA256SUMS, as `sha256sum --check` reads it."""

import hashlib

NAME = "SHA256SUMS"


def of(path):
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def write(folder):
    """Names every file that lies in the folder itself. Returns its path."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != NAME)
    sums = folder / NAME
    sums.write_text("".join(f"{of(path)}  {path.name}\n" for path in files))
    return sums
