"""Completions for bash, zsh and fish."""

import re
import shlex

# Where each shell looks for what packages bring, below the prefix.
PLACES = {
    "bash": "share/bash-completion/completions/liststore",
    "zsh": "share/zsh/vendor-completions/_liststore",
    "fish": "share/fish/vendor_completions.d/liststore.fish",
}

_HEAD = "# Made of the program's own description of its commands. Completions of liststore for {}."


def _kind_of_value(option):
    """What stands for a value: the words themselves, or files, folders, nothing."""
    if option.choices:
        return " ".join(option.choices)
    is_folder = any(name.endswith("-dir") for name in option.names) or option.value == "DIR"
    is_file = option.value in ("FILE", "PATH", "PROGRAM") or option.argument.upper() in ("FILE", "PATH")
    return "<folder>" if is_folder else "<file>" if is_file else "<text>"


def _first_sentence(text):
    """What a list has room for."""
    line = " ".join(text.split())
    return re.split(r"(?<=[a-z0-9)])[.;:] ", line)[0][:100]


def _words_after(command):
    return [name for option in command.options for name in option.names] + [one.path[-1] for one in command.commands]


_BASH = r"""
_liststore() {
  local cur prev word path=liststore at expected=
  COMPREPLY=()
  cur=${COMP_WORDS[COMP_CWORD]}
  # The command that is meant: words that are subcommands, and no values of options.
  for ((at = 1; at < COMP_CWORD; ++at)); do
    word=${COMP_WORDS[at]}
    if [[ -n $expected ]]; then
      [[ $word == '=' ]] || expected=
    elif [[ $word == -* ]]; then
      expected=$(_liststore_value "$path" "$word")
    elif _liststore_words "$path" | grep -qxF -- "$word"; then
      path+=" $word"
    fi
  done
  [[ $cur == '=' ]] && cur=
  case $expected in
    '') mapfile -t COMPREPLY < <(compgen -W "$(_liststore_words "$path")" -- "$cur") ;;
    '<file>') mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    '<folder>') mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    '<text>') ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$expected" -- "$cur") ;;
  esac
  [[ $expected != '<f'* ]] || compopt -o filenames 2>/dev/null
}
complete -F _liststore liststore
"""


def _bash(program):
    words, values = [], []
    for command in program.all():
        path = shlex.quote(" ".join(command.path))
        words.append(f"    {path}) printf '%s\\n' {' '.join(_words_after(command))} ;;")
        for option in command.options:
            if option.takes_value and option.names:
                names = " | ".join(shlex.quote(f"{' '.join(command.path)}:{name}") for name in option.names)
                values.append(f"    {names}) echo {shlex.quote(_kind_of_value(option))} ;;")
    return "\n".join([_HEAD.format("bash"), "", "# What may follow a command.", "_liststore_words() {",
                      "  case $1 in", *words, "  esac", "}", "",
                      "# What an option of a command takes; nothing: it is a flag.", "_liststore_value() {",
                      "  case $1:$2 in", *values, "  esac", "}"]) + "\n" + _BASH


def _zsh_value(option):
    kind = _kind_of_value(option)
    action = {"<file>": "_files", "<folder>": "_files -/", "<text>": " "}.get(kind, f"({kind})")
    return f":{_zsh_text(option.value or option.argument or 'value')}:{action}"


def _zsh_text(text):
    """In a specification of _arguments, where colons and brackets mean something."""
    return re.sub(r"([\\:\[\]])", r"\\\1", text)


def _zsh_function(command):
    name = "_" + "_".join(re.sub(r"\W", "_", word) for word in command.path)
    lines = [f"{name}() {{", "  local line state", "  _arguments -C \\"]
    for option in command.options:
        text = f"[{_zsh_text(_first_sentence(option.text))}]"
        for spelling in option.names:
            if option.takes_value:
                several = "*" if option.several else ""
                equals = "=" if spelling.startswith("--") else ""
                lines.append(f"    {shlex.quote(several + spelling + equals + text + _zsh_value(option))} \\")
            else:
                lines.append(f"    {shlex.quote(spelling + text)} \\")
    if command.commands:
        lines += ["    '1: :->command' \\", "    '*:: :->arguments'", "  case $state in", "    command)",
                  "      local -a commands=("]
        for inner in command.commands:
            lines.append(f"        {shlex.quote(inner.path[-1] + ':' + _first_sentence(inner.text))}")
        lines += ["      )", f"      _describe -t commands {shlex.quote(' '.join(command.path))} commands ;;",
                  "    arguments)", "      case $line[1] in"]
        for inner in command.commands:
            lines.append(f"        {inner.path[-1]}) {name}_{re.sub(r'[^a-z]', '_', inner.path[-1])} ;;")
        lines += ["      esac ;;", "  esac"]
    else:
        lines.append("    " + " ".join(shlex.quote(_zsh_argument(one)) for one in command.options if not one.names)
                     if any(not one.names for one in command.options) else "    '*: :'")
    return "\n".join(lines + ["}"])


def _zsh_argument(option):
    return ("*" if option.several else "") + (":" if option.several else "::") + _zsh_value(option)[1:]


def _zsh(program):
    functions = [_zsh_function(command) for command in program.all()]
    return "\n".join(["#compdef liststore", _HEAD.format("zsh"), "", "\n\n".join(functions), "", '_liststore "$@"', ""])


def _fish_condition(command):
    """True where the words so far lead to this command and none below it."""
    return " ".join(("__liststore_at", *command.path[1:]))


def _fish(program):
    lines = [_HEAD.format("fish"), "",
             "# Whether the words that are no options begin like this, and no other subcommand follows.",
             "function __liststore_at",
             "    set -l words (commandline -opc)[2..]",
             "    set -l plain", "    for word in $words",
             "        string match -q -- '-*' $word; or set -a plain $word", "    end",
             "    for at in (seq (count $argv))", "        test \"$plain[$at]\" = \"$argv[$at]\"; or return 1", "    end",
             "    set -l next $plain[(math (count $argv) + 1)]",
             "    test -n \"$next\"; or return 0",
             "    switch (string join ' ' $argv)"]
    for command in program.all():
        if command.commands:
            lines.append(f"        case {shlex.quote(' '.join(command.path[1:]))}")
            names = " ".join(inner.path[-1] for inner in command.commands)
            lines.append(f"            contains -- $next {names}; and return 1")
    lines += ["    end", "    return 0", "end", "", "complete -c liststore -f"]
    for command in program.all():
        condition = shlex.quote(_fish_condition(command))
        for inner in command.commands:
            lines.append(f"complete -c liststore -n {condition} -a {inner.path[-1]} "
                         f"-d {shlex.quote(_first_sentence(inner.text))}")
        for option in command.options:
            lines += _fish_option(option, condition)
    return "\n".join(lines) + "\n"


def _fish_option(option, condition):
    if not option.names:
        if _kind_of_value(option) == "<file>":
            yield f"complete -c liststore -n {condition} -F"
        return
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    kind = _kind_of_value(option)
    takes = "" if not option.takes_value else {
        "<file>": " -r -F", "<text>": " -x", "<folder>": " -x -a '(__fish_complete_directories)'",
    }.get(kind, f" -x -a {shlex.quote(kind)}")
    yield (f"complete -c liststore -n {condition} {names}{takes} "
           f"-d {shlex.quote(_first_sentence(option.text))}")


def make(program):
    """Shell -> the text of its file."""
    return {"bash": _bash(program), "zsh": _zsh(program), "fish": _fish(program)}
