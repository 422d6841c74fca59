"""The list model over CQL: one connection that sends fixed requests in groups and reads their answers."""

import base64
import hashlib
import socket
import struct
import time

STARTUP, QUERY, PREPARE, EXECUTE, RESULT = 0x01, 0x07, 0x09, 0x0A, 0x08
WITH_VALUES, SKIP_METADATA, WITH_PAGE_SIZE, WITH_TIMESTAMP = 0x01, 0x02, 0x04, 0x20
CONSISTENCY_ONE = 1
ANSWER_SECONDS = 60

GROUP = 64      # under way at a time
LISTS = 400
ITEMS = 20      # in each list
FEATURE = b"user#reading_history|v2"
# Clients give their writes the time: another than the server's would be kept with each row.
FIRST_NANOS = time.time_ns()
TTL_SECONDS = 2_592_000

SCHEMA = (
    "CREATE KEYSPACE feature_store WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE feature_store.list_items (feature_key text, entity_id text, item_key text, value blob, "
    "PRIMARY KEY ((feature_key, entity_id), item_key)) WITH CLUSTERING ORDER BY (item_key DESC)",
    "CREATE INDEX list_items_by_value ON feature_store.list_items((feature_key, entity_id), value)",
)
INSERT = ("INSERT INTO feature_store.list_items (feature_key, entity_id, item_key, value) "
          "VALUES (?, ?, ?, ?) USING TTL ?")
SELECT = ("SELECT value, item_key FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ? "
          "AND item_key >= ? ORDER BY item_key DESC LIMIT ?")


class WrongAnswer(Exception):
    """The server has said something else than was to be counted."""


def _int(value):
    return struct.pack(">i", value)


def _values(values):
    return struct.pack(">H", len(values)) + b"".join(_int(len(value)) + value for value in values)


def _entity(number):
    return b"entity-%09d" % number


def _item(entity, number):
    value = b"%010d-%013d" % (entity, number)
    nanos = b"%019d" % (FIRST_NANOS + 1000 * number + entity)
    return nanos + b"#" + base64.b64encode(hashlib.md5(value).digest()), value


class Requests:
    """One connection to a server of our own."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")
        self._ask(STARTUP, struct.pack(">H", 1) + b"\0\x0bCQL_VERSION\0\x053.0.0", 0x02)
        for statement in SCHEMA:
            self._ask(QUERY, _int(len(statement)) + statement.encode() + struct.pack(">HB", CONSISTENCY_ONE, 0))
        self._insert_id = self._prepare(INSERT)
        self._select_id = self._prepare(SELECT)
        self.insert(0, LISTS * ITEMS)

    def close(self):
        self._answers.close()
        self._socket.close()

    def insert(self, first, count):
        """Items in turn, one for each list."""
        def body(number):
            entity, item = number % LISTS, number // LISTS
            key, value = _item(entity, item)
            bound = _values([FEATURE, _entity(entity), key, value, _int(TTL_SECONDS)])
            micros = FIRST_NANOS // 1000 + item
            return (self._insert_id, WITH_VALUES | WITH_PAGE_SIZE | WITH_TIMESTAMP,
                    bound + _int(5000) + struct.pack(">q", micros))
        self._run(first, count, body, 13)

    def select(self, first, count):
        """The newest ten of each list in turn."""
        def body(number):
            bound = _values([FEATURE, _entity(number % LISTS), b"0" * 19, _int(10)])
            return self._select_id, WITH_VALUES | SKIP_METADATA | WITH_PAGE_SIZE, bound + _int(5000)
        # Ten rows of 24 bytes of value and 44 of key, each behind its length.
        self._run(first, count, body, 9 + 16 + 10 * (4 + 24 + 4 + 44))

    def _run(self, first, count, body_of, answer_bytes):
        for begin in range(first, first + count, GROUP):
            frames = []
            for number in range(begin, min(begin + GROUP, first + count)):
                statement_id, flags, rest = body_of(number)
                body = (struct.pack(">H", len(statement_id)) + statement_id +
                        struct.pack(">HB", CONSISTENCY_ONE, flags) + rest)
                frames.append(self._frame(EXECUTE, body, number % GROUP))
            self._socket.sendall(b"".join(frames))
            for _ in frames:
                opcode, body = self._read()
                if opcode != RESULT or 9 + len(body) != answer_bytes:
                    raise WrongAnswer(f"opcode {opcode}, {9 + len(body)} bytes for {answer_bytes}: {body[:200]}")

    def _prepare(self, text):
        body = self._ask(PREPARE, _int(len(text)) + text.encode())
        size = struct.unpack(">H", body[4:6])[0]
        return body[6:6 + size]

    def _ask(self, opcode, body, expected=RESULT):
        self._socket.sendall(self._frame(opcode, body, 0))
        answered, answer = self._read()
        if answered != expected:
            raise WrongAnswer(f"opcode {answered} for {expected}: {answer[:200]}")
        return answer

    @staticmethod
    def _frame(opcode, body, stream):
        return struct.pack(">BBhBi", 4, 0, stream, opcode, len(body)) + body

    def _read(self):
        header = self._answers.read(9)
        if len(header) < 9:
            raise WrongAnswer("the server has closed the connection")
        opcode, size = header[4], struct.unpack(">i", header[5:])[0]
        return opcode, self._answers.read(size)
