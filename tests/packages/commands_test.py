#!/usr/bin/env python3
"""Manual pages and completions say what the program's help says, all of it.

    tests/packages/commands_test.py ROOT PROGRAM
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, PROGRAM = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
sys.path.insert(0, str(ROOT / "tools"))
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

from package_lib import commands, completions, man_pages  # noqa: E402


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False, **more)


def said_by_help(path):
    """The options and subcommands that `liststore PATH --help` shows."""
    text = run(PROGRAM, *path[1:], "--help").stdout.split("\nExamples:\n")[0]
    options = set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", text, re.MULTILINE))
    below = re.search(r"\nSubcommands:\n((?:  .*\n)+)", text)
    names = re.findall(r"^  ([a-z]\S*)", below.group(1), re.MULTILINE) if below else []
    return options, names


def walk(path=("liststore",)):
    """Every command with what its help shows, found from help to help."""
    options, names = said_by_help(path)
    yield path, options, names
    for name in names:
        yield from walk((*path, name))


COMMANDS = list(walk())
DESCRIBED = commands.of(PROGRAM)


class DescriptionTest(unittest.TestCase):
    def test_it_is_what_help_shows(self):
        described = {command.path: command for command in DESCRIBED.all()}
        self.assertGreater(len(COMMANDS), 30)
        self.assertEqual(set(described), {path for path, _, _ in COMMANDS})
        for path, options, names in COMMANDS:
            long_names = {name for option in described[path].options for name in option.names if name.startswith("--")}
            self.assertEqual(long_names, options, path)
            self.assertEqual([inner.path[-1] for inner in described[path].commands], names)

    def test_the_flag_that_says_it_is_not_shown(self):
        self.assertNotIn("--describe-commands", run(PROGRAM, "--help").stdout)


class ManualPageTest(unittest.TestCase):
    def setUp(self):
        self.pages = man_pages.make(DESCRIBED, "0.1.0")

    def test_every_option_and_command_is_in_its_page(self):
        self.assertEqual(len(self.pages), 1 + len(DESCRIBED.commands))
        for path, options, names in COMMANDS:
            page = self.pages["-".join(path[:2]) + ".1"].replace("\\-", "-")
            for name in options:
                self.assertRegex(page, rf"\\fB{name}\\fR", path)
            for name in names if len(path) > 1 else []:
                self.assertIn(f".SH {' '.join((*path[1:], name)).upper()}\n", page)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_roff_understands_them(self):
        for name, text in self.pages.items():
            shown = run("groff", "-man", "-Tutf8", "-ww", input=text)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), name)
        shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", run("groff", "-man", "-Tutf8", input=self.pages["liststore-serve.1"]).stdout)
        self.assertRegex(shown, r"--cql-port UINT \(default: 9042\)\s+\[LISTSTORE_CQL_PORT\]")
        self.assertIn("\n   What is kept\n", shown)
        # A line of an example begins where it stood, and a dash stays a dash.
        self.assertRegex(shown, r"\n +liststore serve --cql-port 0 ")


class CompletionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = completions.make(DESCRIBED)
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = {}
        for shell, text in cls.texts.items():
            cls.paths[shell] = pathlib.Path(cls.folder.name, pathlib.Path(completions.PLACES[shell]).name)
            cls.paths[shell].write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def in_bash(self, *words):
        """What bash offers for the last word."""
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f"source {self.paths['bash']}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _liststore;"
                  " printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = run("bash", "--norc", "-c", script, cwd=self.folder.name)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_offers_every_command_and_option(self):
        for path, options, names in COMMANDS:
            self.assertLessEqual(options | set(names), set(self.in_bash(*path, "")), path)

    def test_bash_knows_what_is_asked_for(self):
        self.assertEqual(self.in_bash("liststore", "ser"), ["serve"])
        self.assertEqual(self.in_bash("liststore", "serve", "--cql-p"), ["--cql-port"])
        self.assertEqual(self.in_bash("liststore", "serve", "--memory-policy", "e"), ["evict"])
        self.assertEqual(self.in_bash("liststore", "serve", "--memory-policy", "=", "e"), ["evict"])
        self.assertEqual(self.in_bash("liststore", "serve", "--cql-port", ""), [])
        # A value that is called like a subcommand is none.
        self.assertNotIn("show", self.in_bash("liststore", "serve", "--rack", "clock", ""))
        self.assertEqual(self.in_bash("liststore", "bench", "wire", "--qui"), ["--quick"])
        self.assertEqual(self.in_bash("liststore", "serve", "--ready-file", "_list"), ["_liststore"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_reads_its_file(self):
        done = run("zsh", "-f", "-n", self.paths["zsh"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_zsh_and_fish_have_every_command_and_option(self):
        for path, options, names in COMMANDS:
            function = "_" + "_".join(re.sub(r"\W", "_", word) for word in path)
            body = re.search(rf"^{function}\(\) \{{\n(.*?)^\}}", self.texts["zsh"], re.MULTILINE | re.DOTALL).group(1)
            condition = " ".join(("__liststore_at", *path[1:]))
            fish = [line for line in self.texts["fish"].splitlines() if re.search(rf"-n '?{condition}'? -", line)]
            for name in options:
                self.assertRegex(body, rf"{name}[=\[]", path)
                self.assertTrue(any(re.search(rf" -l {name[2:]}( |$)", line) for line in fish), (path, name))
            for name in names:
                self.assertIn(f"{name}:", body)
                self.assertTrue(any(f" -a {name} " in line for line in fish), (path, name))

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_knows_what_is_asked_for(self):
        for line, wanted in (("liststore ser", ["serve"]), ("liststore serve --cql-p", ["--cql-port"]),
                             ("liststore bench wire --qui", ["--quick"]),
                             ("liststore serve --memory-policy e", ["evict"]), ("liststore clock adv", ["advance"])):
            done = run("fish", "--no-config", "-c", f"source {self.paths['fish']}; complete -C '{line}'")
            self.assertEqual([row.split("\t")[0] for row in done.stdout.splitlines()], wanted, line)


if __name__ == "__main__":
    unittest.main()
