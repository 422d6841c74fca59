#!/usr/bin/env python3
"""As much of Redis as the benchmark asks for, so that its client can be tested without one.

    fake_redis.py --port N [--wrong HOW] [options of redis-server, which are ignored]

HOW makes it lie: `order` gives members oldest first, `short` leaves one out, `added` says that nothing was
added, `garbage` answers a read with what is no RESP. One process, one thread, no persistence.
"""

import argparse
import selectors
import socket


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


def array(values):
    return b"*%d\r\n" % len(values) + b"".join(bulk(value) for value in values)


class Server:
    def __init__(self, wrong):
        self.wrong = wrong
        self.sets = {}

    def answer(self, command):
        name, *arguments = command
        name = name.upper()
        if name == b"PING":
            return b"+PONG\r\n"
        if name == b"DBSIZE":
            return b":%d\r\n" % len(self.sets)
        if name == b"INFO":
            return bulk(b"# Fake\r\nredis_version:0.0.fake\r\nused_memory:%d\r\n"
                        % sum(100 * len(members) for members in self.sets.values()))
        if name == b"ZADD":
            members = self.sets.setdefault(arguments[0], {})
            before = len(members)
            for at in range(1, len(arguments), 2):
                members[arguments[at + 1]] = float(arguments[at])
            return b":%d\r\n" % (0 if self.wrong == "added" else len(members) - before)
        if name == b"ZREVRANGE":
            return self.newest(*arguments)
        return b"-ERR unknown command\r\n"

    def newest(self, key, first, last):
        members = self.sets.get(key, {})
        ordered = sorted(members, key=lambda member: (members[member], member),
                         reverse=self.wrong != "order")
        last = int(last)
        chosen = ordered[int(first):] if last == -1 else ordered[int(first):last + 1]
        if self.wrong == "garbage":
            return b"garbage\r\n"
        return array(chosen[:-1] if self.wrong == "short" else chosen)


def take_commands(data):
    """Whole commands at the beginning of `data`, and what is left of it."""
    commands = []
    while data:
        if not data.startswith(b"*"):  # a line by hand: PING
            line, end, rest = data.partition(b"\r\n")
            if not end:
                break
            commands.append(line.split())
            data = rest
            continue
        head, end, rest = data.partition(b"\r\n")
        if not end:
            break
        command = []
        for _ in range(int(head[1:])):
            length, end, after = rest.partition(b"\r\n")
            if not end or len(after) < int(length[1:]) + 2:
                return commands, data
            command.append(after[:int(length[1:])])
            rest = after[int(length[1:]) + 2:]
        commands.append(command)
        data = rest
    return commands, data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--wrong", default="")
    options, _ = parser.parse_known_args()
    server = Server(options.wrong)
    selector = selectors.DefaultSelector()
    listener = socket.create_server(("127.0.0.1", options.port))
    if options.port == 0:
        print(listener.getsockname()[1], flush=True)
    selector.register(listener, selectors.EVENT_READ)
    received = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                selector.register(connection, selectors.EVENT_READ)
                received[connection] = b""
                continue
            connection = key.fileobj
            try:
                data = connection.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                selector.unregister(connection)
                connection.close()
                del received[connection]
                continue
            commands, received[connection] = take_commands(received[connection] + data)
            connection.sendall(b"".join(map(server.answer, commands)))


if __name__ == "__main__":
    main()
