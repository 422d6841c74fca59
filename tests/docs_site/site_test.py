#!/usr/bin/env python3
"""The documentation as a site: it is built without a warning, its links hold, it loads nothing from elsewhere, and
its search finds what there is, without a server.

    tests/docs_site/site_test.py ROOT WORK_FOLDER

The last line is `N passed, N failed, N skipped`. Pictures of some pages are left in WORK_FOLDER/pictures.
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse

import browser

# What each kind of element loads by which attribute; links are followed by readers alone.
LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src",
         "audio": "src", "object": "data", "embed": "src", "image": "href", "use": "href"}
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//")
# A word, and a page that its search has to name.
KNOWN = (("jump", "docs/test_double.html"), ("max_index_interval", "docs/cql_support.html"),
         ("FIFO", "docs/decisions/0008-eviction.html"),
         ("TimeoutStopSec", "docs/operations.html"), ("liststore_request_seconds", "docs/http.html"))


class Page(html.parser.HTMLParser):
    """What a page names: its own places, what it leads to, what it loads."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.loads, self.in_style = set(), [], [], False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        loaded = attributes.get(LOADS.get(tag, ""))
        if loaded and attributes.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(loaded)
        self.loads += attributes["srcset"].split() if "srcset" in attributes else []
        self.loads += loaded_by_style(attributes.get("style") or "")
        self.in_style = tag == "style"

    def handle_data(self, data):
        if self.in_style:
            self.loads += loaded_by_style(data)


def loaded_by_style(text):
    return re.findall(r"""(?:@import\s+|url\(\s*)["']?([^"')\s]+)""", text)


def build(root, out, work):
    return subprocess.run([sys.executable, root / "tools/site", "--out", out, "--work", work], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False)


class Site(unittest.TestCase):
    root = work = site = None
    pages = {}

    def address(self, name):
        return (self.site / name).as_uri()

    def test_links_lead_somewhere(self):
        for path, page in self.pages.items():
            for link in page.links + page.loads:
                if re.match(r"[a-z]+:", link):
                    continue
                target, _, place = link.partition("#")
                to = path if not target else pathlib.Path(
                    os.path.normpath(path.parent / urllib.parse.unquote(target.partition("?")[0])))
                with self.subTest(page=str(path.relative_to(self.site)), link=link):
                    self.assertTrue(to.is_file(), f"{to} is no file")
                    if place and to in self.pages and not place.startswith("__"):
                        self.assertIn(urllib.parse.unquote(place), self.pages[to].places)

    def test_nothing_comes_from_elsewhere(self):
        # The page for what is not found has addresses from the root of a server: there is none for it here.
        loads = [(path, load) for path, page in self.pages.items() for load in page.loads]
        loads += [(path, load) for path in self.site.rglob("*.css")
                  for load in loaded_by_style(path.read_text(encoding="utf-8"))]
        self.assertGreater(len(loads), len(self.pages))
        self.assertEqual([(str(path), load) for path, load in loads if ELSEWHERE.match(load)], [])

    def test_every_document_is_a_page(self):
        documents = [*self.root.glob("docs/**/*.md"), self.root / "CONTRIBUTING.md", self.root / "CHANGELOG.md"]
        pages = {path: self.site / path.relative_to(self.root).with_suffix(".html") for path in documents}
        missing = [str(path) for path, page in pages.items()
                   if not (page.with_name("index.html") if path.name == "README.md" else page).exists()]
        self.assertEqual(missing, [])

    def test_the_index_has_known_words(self):
        index = json.loads((self.site / "search/search_index.json").read_text(encoding="utf-8"))
        for word, page in KNOWN:
            with self.subTest(word=word):
                found = {entry["location"].partition("#")[0] for entry in index["docs"] if word in entry["text"]}
                self.assertIn(page, found)

    def test_what_leads_nowhere_ends_it(self):
        # A small tree of its own: a page that is missing, and a place within one.
        tree = self.work / "broken"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.root / "tools/docs_site", tree / "tools/docs_site")
        shutil.copyfile(self.root / "tools/site", tree / "tools/site")
        (tree / "docs/decisions").mkdir(parents=True)
        (tree / "docs/decisions/0001-one.md").write_text("# 0001: One\n\nText.\n", encoding="utf-8")
        (tree / "docs/one.md").write_text("# One\n\n## Here\n\nText.\n", encoding="utf-8")
        for link, status, said in (("docs/one.md#here", 0, ""), ("docs/two.md", 1, "docs/two.md leads nowhere"),
                                   ("docs/one.md#there", 1, "does not contain an anchor '#there'")):
            with self.subTest(link=link):
                (tree / "README.md").write_text(f"# A tree\n\n[one]({link}), [all](docs/decisions)\n",
                                                encoding="utf-8")
                run = build(tree, tree / "out", self.work / "build")
                self.assertEqual((run.returncode, said in run.stdout), (status, True), run.stdout)


class InABrowser(unittest.TestCase):
    """Opened as files, with no server behind them."""

    site = pictures = program = None

    def setUp(self):
        if self.program is None:
            self.skipTest("there is no Chromium here")
        self.browser = browser.Browser(self.program)
        self.addCleanup(self.browser.close)

    def tearDown(self):
        if self.program is not None:
            self.assertEqual([url for url in self.browser.requests if not url.startswith(("file:", "data:", "blob:"))],
                             [])
            self.assertEqual(self.browser.problems, [])

    def open(self, name, query=""):
        self.browser.open((self.site / name).as_uri() + query)

    def test_the_search_finds_what_there_is(self):
        self.browser.look(1280, 900)
        for word, page in KNOWN:
            with self.subTest(word=word):
                self.open("index.html", f"?q={word}")
                links = "[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"
                self.browser.eventually(f"{links}.some((link) => link.includes({json.dumps(page)}))")
        self.browser.picture(self.pictures / "search.png")

    def test_pages_fit_a_desk_and_a_phone_light_and_dark(self):
        for name in ("index.html", "docs/test_double.html", "docs/http.html", "docs/benchmarks.html",
                     "docs/cql_support.html", "include/liststore/list_store.h.html"):
            grounds = set()
            for look, width, height in (("desk", 1280, 900), ("phone", 390, 844)):
                for dark in (False, True):
                    with self.subTest(page=name, look=look, dark=dark):
                        self.browser.look(width, height, dark)
                        self.open(name)
                        grounds.add(self.browser.ask("getComputedStyle(document.body).backgroundColor"))
                        # What is wider than the window scrolls by itself.
                        self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), width)
                        self.assertEqual(self.browser.ask(
                            "[...document.images].filter((image) => image.complete && !image.naturalWidth)"
                            ".map((image) => image.src)"), [])
                        part = "dark" if dark else "light"
                        self.browser.picture(self.pictures / f"{pathlib.Path(name).stem}-{look}-{part}.png")
            self.assertEqual(len(grounds), 2, f"{name}: light and dark are alike")


class Counts(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        self.passed += 1
        super().addSuccess(test)


def main():
    root, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    site = work / "site"
    built = build(root, site, work / "build")
    print(built.stdout.rstrip())
    if built.returncode != 0:
        print("0 passed, 1 failed, 0 skipped")
        return 1
    Site.root, Site.work, Site.site = root, work, site
    # The page for what is not found names the others from the root of a server.
    Site.pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    names = [os.environ.get("LISTSTORE_BROWSER", ""), "chromium", "chromium-browser", "google-chrome"]
    InABrowser.program = next(filter(None, map(shutil.which, filter(None, names))), None)
    InABrowser.site, InABrowser.pictures = site, work / "pictures"
    InABrowser.pictures.mkdir(exist_ok=True)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Site, InABrowser))
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Counts).run(suite)
    failed = len({str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors})
    print(f"{result.passed + 1} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
