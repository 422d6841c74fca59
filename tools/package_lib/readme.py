"""READMEs of packages."""

import re


def without_links(text):
    """Pages of the source tree by their names: who has the package has no ../../.. of it."""
    return re.sub(r"\[([^]]*)\]\((?:\.\./)+[^)]*\)", r"\1", text)
