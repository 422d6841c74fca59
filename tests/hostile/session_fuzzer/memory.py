"""Who has the memory: what the kernel says of the process, beside what the server counts. Linux only."""

import collections
import pathlib
import re

from . import wire

MIB = 1 << 20
FIELD = re.compile(r"(\w+):\s+(\d+) kB")
MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ (?:\S+ +){4}(.*)")


def _kind(name, flags):
    """What a mapping is for. Regions of rows have asked for large pages, or have refused them; nothing else has."""
    if "hg" in flags:
        return "rows, large pages"
    if "nh" in flags:
        return "rows, small pages"
    if name.startswith("/"):
        return "files"
    return "main heap" if name == "[heap]" else "other heaps and stacks"


def _mappings(pid):
    """(kind, resident bytes, bytes of huge pages) of each."""
    name, fields = "", {}
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if match := FIELD.match(line):
            fields[match[1]] = int(match[2]) * 1024
        elif line.startswith("VmFlags:"):
            yield _kind(name, line.split()[1:]), fields.get("Rss", 0), fields.get("AnonHugePages", 0)
            fields = {}
        elif match := MAPPING.match(line):
            name = match[1]


def resident(pid):
    """Bytes by kind."""
    found = collections.Counter()
    for field, kilobytes in FIELD.findall(pathlib.Path(f"/proc/{pid}/status").read_text()):
        if field in ("RssAnon", "RssFile", "RssShmem"):
            found[field] = int(kilobytes) * 1024
    for kind, held, huge in _mappings(pid):
        found[kind] += held
        found["in huge pages"] += huge
    return found


def counted(client):
    """Bytes by kind, as the server says; empty where it refuses to."""
    opcode, body = client.ask(wire.QUERY, wire.query(b"SELECT kind, name, bytes FROM liststore.memory"))
    return collections.Counter({kind.decode(): int.from_bytes(held, "big")
                                for kind, name, held in wire.rows(opcode, body) if name == b"all"})


def text(amounts):
    return ", ".join(f"{name} {amount / MIB:.1f}" for name, amount in sorted(amounts.items()) if amount)
