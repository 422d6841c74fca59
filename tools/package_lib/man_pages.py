"""Manual pages: one for the program, and one for each of its commands with what is below it."""

import re
import time

from package_lib import build

_DEFAULT_GROUP = "Options"


def _plain(text):
    """Text as roff takes it: what it says and nothing that it does."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    # A word longer than a line is broken behind a comma.
    broken = re.sub(r"\S{50,}", lambda word: word.group().replace(",", ",\\:"), escaped)
    return re.sub(r"^\.", r"\\&.", broken, flags=re.MULTILINE)


def _bold(text):
    return f"\\fB{_plain(text)}\\fR"


def _italic(text):
    return f"\\fI{_plain(text)}\\fR"


def _name(path):
    return "-".join(path)


def _option_head(option):
    value = f" {_italic(option.value)}" if option.takes_value and option.value else ""
    names = ", ".join(_bold(name) for name in option.names) or _italic(option.argument)
    default = f" (default: {_plain(option.default)})" if option.default else ""
    variable = f" [{_bold(option.environment)}]" if option.environment else ""
    return f".TP\n{names}{value}{default}{variable}"


def _options(command):
    groups = {}
    for option in command.options:
        groups.setdefault(option.group, []).append(option)
    lines = []
    for group, options in groups.items():
        if group not in (_DEFAULT_GROUP, "Positionals"):
            lines.append(f".SS {_plain(group)}")
        for option in options:
            lines += [_option_head(option), _plain(" ".join(option.text.split()))]
    return lines


def _footer(text):
    """Paragraphs, and what is indented as it is; a line that ends with a colon before such is a heading."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        rows = block.split("\n")
        heading = re.fullmatch(r"([A-Z][A-Za-z ]*):", rows[0]) if len(rows) > 1 and rows[1][:1].isspace() else None
        if heading:
            lines.append(f".SS {_plain(heading.group(1))}")
            rows = rows[1:]
        else:
            lines.append(".PP")
        literal = False
        for row in rows:
            if row[:1].isspace() != literal:
                lines.append(".fi" if literal else ".nf")
                literal = not literal
            lines.append(_plain(row))
        if literal:
            lines.append(".fi")
    return lines


def _synopsis(command):
    arguments = [option for option in command.options if not option.names]
    words = [_bold(" ".join(command.path)), "[" + _italic("OPTIONS") + "]"]
    for option in arguments:
        word = _italic(option.argument) + (" ..." if option.several else "")
        words.append(word if option.required else f"[{word}]")
    if command.commands:
        words.append(_italic("SUBCOMMAND") + " ...")
    return " ".join(words)


def _body(command, above=None):
    lines = [_plain(command.text.rstrip(".")) + "."]
    # Commands of one kind share what help says below their options.
    if command.footer.strip() and not (above and above.footer == command.footer):
        lines += _footer(command.footer)
    return lines


def _page(command, version, others):
    name = _name(command.path)
    date = time.strftime("%Y-%m-%d", time.gmtime(build.time_of_packages()))
    summary = command.text[:1].lower() + command.text[1:].rstrip(".")
    lines = [f'.TH {_plain(name.upper())} 1 "{date}" "liststore {version}" "liststore"',
             # Names of variables and examples are long words.
             ".ad l", ".nh", ".SH NAME",
             f"{_plain(name)} \\- {_plain(summary)}",
             ".SH SYNOPSIS", _synopsis(command), ".SH DESCRIPTION", *_body(command), ".SH OPTIONS", *_options(command)]
    # The program's commands have pages of their own; what is below a command is on its page.
    if len(command.path) == 1:
        lines.append(".SH SUBCOMMANDS")
        for inner in command.commands:
            lines += [".TP", f"{_bold(_name(inner.path))}(1)", _plain(inner.text)]
    else:
        for inner in [one for one in command.all() if one is not command]:
            lines += [f".SH {_plain(' '.join(inner.path[1:]).upper())}", _synopsis(inner), ".PP", *_body(inner, command),
                      *_options(inner)]
    lines += [".SH SEE ALSO", ", ".join(f"{_bold(_name(other.path))}(1)" for other in others if other is not command)]
    return "\n".join(lines) + "\n"


def make(program, version):
    """File name -> its text: "liststore-serve.1"."""
    commands = [program, *program.commands]
    pages = {f"{_name(program.path)}.1": _page(program, version, commands)}
    for command in program.commands:
        pages[f"{_name(command.path)}.1"] = _page(command, version, [program])
    return pages
