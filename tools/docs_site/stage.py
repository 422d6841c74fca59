"""The pages of the site, gathered from the source tree.

Documents keep their paths, so that links between them hold as they are. What they link to besides, sources and
folders, becomes a page as well: a source as a block of code, a folder as a list of what is in it. Pictures are
copied.
"""

import os
import pathlib
import re
import shutil

# What the site has, and in which order; what matches no pattern of a section stands in the last one.
SECTIONS = (
    ("Start", ("README.md", "docs/ten_minutes.md", "docs/moving_to_fixtures.md", "docs/packages.md")),
    ("Tests", ("docs/test_double.md", "docs/fixtures/*.md", "tools/fixtures/*/README.md", "docs/http.md", "docs/dynamodb.md",
               "docs/console.md")),
    ("Inside of a program", ("docs/embedding.md", "docs/cache.md")),
    ("Server", ("docs/operations.md", "docs/settings.md", "docs/clients.md", "docs/roles.md", "docs/tls.md",
                "docs/durability.md", "docs/migration.md")),
    ("CQL", ("docs/cql_support.md", "docs/cql_errors.md", "docs/data_model.md")),
    ("Figures", ("docs/benchmarks.md", "docs/scale.md", "docs/memory.md")),
    ("Inside", ("docs/architecture.md", "docs/threading.md", "docs/commit_log.md", "docs/log_records.md",
                "docs/saved_store.md", "docs/snapshot.md", "CONTRIBUTING.md", "docs/style.md",
                "docs/testing.md", "CHANGELOG.md")),
    ("Decisions", ("docs/decisions/index.md", "docs/decisions/*.md")),
)
ROOTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "tools/fixtures/*/README.md")
# Told of last by the search: why and since when, where others say how.
LATE = ("docs/decisions/", "CHANGELOG.md")
PICTURES = {".png", ".svg", ".jpg"}
# Languages of blocks of code by how a file's name ends.
LANGUAGES = {".h": "cpp", ".cc": "cpp", ".c": "c", ".py": "python", ".sh": "sh", ".js": "javascript", ".go": "go",
             ".java": "java", ".rs": "rust", ".txt": "text", ".cql": "sql"}

LINK = re.compile(r"(\]\()([^)#\s]*)(#[^)\s]*)?(\))")
# Blocks of code, fenced or indented behind an empty line, and code within a line: nothing in them is a link.
CODE = re.compile(r"^(?:```.*?^```$)|`+[^`]*`+|(?<=\n\n)(?: {4}[^\n]*\n)+", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


class Problem(Exception):
    """What a page says that cannot be shown, by the name of its file."""


class Staging:
    """Writes pages below `folder` until nothing that they link to is missing."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.titles = {}
        self.pictures = set()

    def gather(self):
        waiting = [path.relative_to(self.root).as_posix()
                   for pattern in ROOTS for path in sorted(self.root.glob(pattern))]
        while waiting:
            name = waiting.pop()
            if name not in self.titles:
                waiting += self.write_page(name)
        for name in self.pictures:
            self.copy(name)

    def write_page(self, name):
        """Writes the page of `name`, a path of the tree; the paths that it links to."""
        path = self.root / name
        linked = []
        if name.endswith(".md"):
            text = self.with_links(name, path.read_text(encoding="utf-8"), linked)
        elif path.is_dir():
            text = self.folder_page(name, linked)
        else:
            text = self.source_page(name)
        title = TITLE.search(CODE.sub("", text))
        if title is None:
            raise Problem(f"{name}: has no title")
        self.titles[name] = title.group(1).replace("`", "")
        if name.startswith(LATE):
            text = f"---\nsearch:\n  boost: 0.2\n---\n{text}"
        target = self.folder / page_of(self.root, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return linked

    def with_links(self, name, text, linked):
        """The text of a document, its links to what is no document led to the pages of that."""
        def changed(match):
            opened, target, anchor, closed = match.groups()
            if not target or re.match(r"[a-z]+:", target):
                return match.group(0)
            path = os.path.normpath(os.path.join(os.path.dirname(name), target))
            if path.startswith("..") or not (self.root / path).exists():
                raise Problem(f"{name}: {target} leads nowhere")
            if pathlib.PurePath(path).suffix in PICTURES:
                self.pictures.add(path)
                return match.group(0)
            linked.append(path)
            page = os.path.relpath(page_of(self.root, path), os.path.dirname(name) or ".")
            return f"{opened}{page}{anchor or ''}{closed}"

        pieces, end = [], 0
        for code in CODE.finditer(text):
            pieces += [LINK.sub(changed, text[end:code.start()]), code.group(0)]
            end = code.end()
        return "".join(pieces) + LINK.sub(changed, text[end:])

    def folder_page(self, name, linked):
        """What is in a folder of the tree, as a list; a link that one of its documents explains goes there."""
        lines = [f"# {name}", ""]
        for path in sorted((self.root / name).iterdir()):
            if path.name.startswith((".", "__")) or path.is_dir() or path.suffix in PICTURES:
                continue
            inside = f"{name}/{path.name}"
            linked.append(inside)
            page = os.path.relpath(page_of(self.root, inside), name)
            title = TITLE.search(path.read_text(encoding="utf-8")) if path.suffix == ".md" else None
            lines.append(f"- [{title.group(1) if title else path.name}]({page})")
        return "\n".join(lines) + "\n"

    def source_page(self, name):
        text = (self.root / name).read_text(encoding="utf-8")
        language = LANGUAGES.get(pathlib.PurePath(name).suffix, "sh" if text.startswith("#!") else "text")
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
        # Found by the pages that link to it: the search is for documents.
        head = "---\nsearch:\n  exclude: true\n---\n"
        return f"{head}# {pathlib.PurePath(name).name}\n\n`{name}`\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def copy(self, name):
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / name, target)

    def navigation(self):
        """The sections with their pages; each page is in one of them."""
        pages = {page_of(self.root, name): title for name, title in self.titles.items()}
        sections = []
        for title, patterns in SECTIONS:
            found = [name for pattern in patterns for name in sorted(pages)
                     if pathlib.PurePath(name).match(pattern) and name.count("/") == pattern.count("/")]
            found = list(dict.fromkeys(found))
            sections.append({title: [{pages.pop(name): name} for name in found]})
        rest = {True: [], False: []}
        for name, title in sorted(pages.items()):
            rest[name.startswith("docs/") and name.count("/") == 1].append({title: name})
        sections[-2][SECTIONS[-2][0]] += rest[True]
        return [*sections, {"Sources": rest[False]}] if rest[False] else sections


def page_of(root, name):
    """The file of the page that shows `name`, both as paths of the tree."""
    if name.endswith(".md"):
        return name
    if (root / name).is_dir():
        return f"{name}/README.md" if (root / name / "README.md").exists() else f"{name}/index.md"
    return f"{name}.md"
