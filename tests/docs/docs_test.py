#!/usr/bin/env python3
"""What the documents promise: the example runs, README.md shows it, links lead somewhere.

    tests/docs/docs_test.py ROOT READING_HISTORY LIST_STORE_IN_C NEAR_CACHE KEPT_LISTS

Prints one line for each broken promise, and ends with status 1 when there was any.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLE = "docs/examples/reading_history.cc"
NEAR_CACHE = "docs/examples/near_cache.cc"
KEPT_LISTS = "docs/examples/kept_lists.cc"
EXAMPLE_PRINTS = "story-2\nstory-1\n"
C_EXAMPLE_PRINTS = (
    "1 removed\n1724949844999999999#qy8N9HY4UZOPw3eWbLT5Wg== story-2\n0 left a day later\n")

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# Pages on fixtures, and the files whose blocks they show: a first line that is a comment names the file.
FIXTURES = {"python": "tests/fixtures/python/stranger", "javascript": "tests/fixtures/javascript/stranger",
            "go": "tests/fixtures/go", "java": "tests/fixtures/java/driver", "rust": "tests/fixtures/rust",
            "cpp": "tests/fixtures/cpp"}
FIXTURE_LANGUAGES = ("python", "javascript", "typescript", "go", "java", "rust", "cpp", "cmake")
FIXTURE_BLOCK = re.compile(r"^```(\w+)\n(?:#|//) ([\w./-]+)\n", re.MULTILINE)
# Run from the page itself by tests/fixtures/first; what is in C++, which that does not do, is compared as all else.
CPP_BLOCK = re.compile(r"^```cpp\n.*?^```\n", re.MULTILINE | re.DOTALL)
FIRST_SECTION = re.compile(r"^## In two commands\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
DECISION = re.compile(r"^(\d{4})-[a-z0-9-]+\.md$")


def cpp_blocks(document):
    return re.findall(r"^```cpp\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def check_example(root, program):
    """README.md shows a part of the file that was built, and it does what it says."""
    source = (root / EXAMPLE).read_text(encoding="utf-8")
    blocks = cpp_blocks(root / "README.md")
    if len(blocks) != 1 or f"\n{blocks[0]}" not in source:
        yield f"README.md: its one cpp block must be whole lines of {EXAMPLE}"
    run = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0 or run.stdout != EXAMPLE_PRINTS:
        yield f"{EXAMPLE}: status {run.returncode}, printed {run.stdout!r}, not {EXAMPLE_PRINTS!r}"


def check_c_example(program):
    """The example in C prints what it says, and leaves its file where it was told to."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program, f"{folder}/lists.saved"], capture_output=True, text=True,
                             timeout=300, check=False)
    if run.returncode != 0 or run.stdout != C_EXAMPLE_PRINTS:
        yield (f"docs/examples/list_store.c: status {run.returncode}, printed {run.stdout!r}"
               f"{run.stderr!r}, not {C_EXAMPLE_PRINTS!r}")


def check_embedding(root, near_cache, kept_lists):
    """docs/embedding.md shows the files that were built, and what they print."""
    text = (root / "docs/embedding.md").read_text(encoding="utf-8")
    names = (EXAMPLE, NEAR_CACHE, KEPT_LISTS)
    if cpp_blocks(root / "docs/embedding.md") != [(root / name).read_text(encoding="utf-8") for name in names]:
        yield f"docs/embedding.md: its cpp blocks must be {', '.join(names)}, word for word"
    if "".join(f"    {line}\n" for line in EXAMPLE_PRINTS.splitlines()) not in text:
        yield f"docs/embedding.md: does not show what {EXAMPLE} prints"
    with tempfile.TemporaryDirectory() as folder:
        # The second time it finds what the first has left.
        kept = [kept_lists, f"{folder}/data"]
        for name, commands in ((NEAR_CACHE, [[near_cache]]), (KEPT_LISTS, [kept, kept])):
            runs = [subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
                    for command in commands]
            shown = "".join(f"    {line}\n" for run in runs for line in run.stdout.splitlines())
            if any(run.returncode != 0 for run in runs) or not shown or shown not in text:
                yield (f"{name}: status {[run.returncode for run in runs]}, prints what "
                       f"docs/embedding.md does not show: {shown}{runs[0].stderr}")


def check_fixtures(root):
    """Pages on fixtures show files that run as tests, word for word, and no other code."""
    for language, folder in FIXTURES.items():
        name = f"docs/fixtures/{language}.md"
        text = FIRST_SECTION.sub(lambda section: "".join(CPP_BLOCK.findall(section.group())),
                                 (root / name).read_text(encoding="utf-8"))
        for block in re.findall(r"^```\w+\n.*?^```$", text, re.MULTILINE | re.DOTALL):
            found = FIXTURE_BLOCK.match(block)
            if found is None:
                if block.startswith(tuple(f"```{shown}\n" for shown in FIXTURE_LANGUAGES)):
                    yield f"{name}: a block that names no file: {block.splitlines()[1]}"
                continue
            file = root / folder / found.group(2)
            if not file.is_file() or f"```{found.group(1)}\n{file.read_text(encoding='utf-8')}```" != block:
                yield f"{name}: the block of {found.group(2)} must be {folder}/{found.group(2)}, word for word"


def check_links(root, documents):
    """Relative links lead to files of the tree."""
    for document in documents:
        text = CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))
        for target in LINK.findall(text):
            if "://" not in target and not (document.parent / target).exists():
                yield f"{document.relative_to(root)}: {target} does not exist"


def check_decisions(root):
    """Decisions have numbers of their own, and titles that begin with them."""
    seen = {}
    for path in sorted((root / "docs/decisions").iterdir()):
        match = DECISION.match(path.name)
        if match is None:
            yield f"docs/decisions/{path.name}: not named NNNN-words.md"
            continue
        number = match.group(1)
        if number in seen:
            yield f"docs/decisions/{path.name}: {seen[number]} has the number already"
        seen[number] = path.name
        if not path.read_text(encoding="utf-8").startswith(f"# {number}: "):
            yield f"docs/decisions/{path.name}: its title does not begin with its number"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"),
                        *(root / "engine").rglob("*.md"), *(root / "data").rglob("*.md"),
                        *(root / "tools").rglob("*.md")])
    broken = [*check_example(root, sys.argv[2]), *check_c_example(sys.argv[3]),
              *check_embedding(root, sys.argv[4], sys.argv[5]), *check_fixtures(root), *check_links(root, documents),
              *check_decisions(root)]
    print("\n".join(broken) if broken else f"docs: {len(documents)} documents, nothing broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
