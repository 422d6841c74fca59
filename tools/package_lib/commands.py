"""The program's commands and options, as the program itself says them (`liststore --describe-commands`,
programs/console/command_description.h)."""

import dataclasses
import json
import subprocess

from package_lib import build


@dataclasses.dataclass(frozen=True)
class Option:
    names: tuple  # ("-h", "--help"); none: an argument without a name
    argument: str
    takes_value: bool
    value: str  # what help calls it: "HOST:PORT"
    choices: tuple
    default: str
    text: str
    group: str
    environment: str
    required: bool
    several: bool


@dataclasses.dataclass(frozen=True)
class Command:
    path: tuple  # ("liststore", "bench", "wire")
    text: str
    footer: str
    options: tuple
    commands: tuple

    def all(self):
        """Itself, and those below it."""
        yield self
        for inner in self.commands:
            yield from inner.all()


def _option(said):
    return Option(tuple(said["names"]), said.get("argument", ""), said["takes_value"], said["value"],
                  tuple(said["choices"]), said["default"], said["text"], said["group"], said["environment"],
                  said["required"], said["several"])


def _command(said, above):
    path = (*above, said["name"])
    return Command(path, said["text"], said["footer"], tuple(_option(one) for one in said["options"]),
                   tuple(_command(one, path) for one in said["commands"]))


def of(program):
    """The whole program as one command."""
    said = subprocess.run([*build.command(program), "--describe-commands"], capture_output=True, text=True, check=True)
    return _command(json.loads(said.stdout), ())
