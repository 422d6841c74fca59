"""Just enough of the native protocol, version 4, to say anything in it, right or wrong."""

import socket
import struct

STARTUP, OPTIONS, QUERY, PREPARE, EXECUTE, REGISTER, BATCH = 0x01, 0x05, 0x07, 0x09, 0x0A, 0x0B, 0x0D
ERROR, READY, SUPPORTED, RESULT = 0x00, 0x02, 0x06, 0x08
OVERLOADED, UNPREPARED = 0x1001, 0x2500
PREPARED_KIND = 4
NULL, UNSET = -1, -2


def short_string(text):
    data = text.encode("utf-8", "surrogateescape")[:65535]
    return struct.pack(">H", len(data)) + data


def long_string(data):
    return struct.pack(">i", len(data)) + data


def value(data):
    """A bound value: bytes, or NULL or UNSET."""
    return struct.pack(">i", data) if isinstance(data, int) else struct.pack(">i", len(data)) + data


def values(items):
    return struct.pack(">H", len(items) & 0xFFFF) + b"".join(value(item) for item in items)


def parameters(bound=None, page_size=None, paging_state=None, timestamp=None, serial=None, consistency=1):
    """<query_parameters> of QUERY and EXECUTE."""
    flags, rest = 0, b""
    if bound is not None:
        flags, rest = flags | 0x01, rest + values(bound)
    if page_size is not None:
        flags, rest = flags | 0x04, rest + struct.pack(">i", page_size)
    if paging_state is not None:
        flags, rest = flags | 0x08, rest + value(paging_state)
    if serial is not None:
        flags, rest = flags | 0x10, rest + struct.pack(">H", serial)
    if timestamp is not None:
        flags, rest = flags | 0x20, rest + struct.pack(">q", timestamp)
    return struct.pack(">HB", consistency, flags) + rest


def query(text, **options):
    return long_string(text) + parameters(**options)


def execute(statement_id, **options):
    return struct.pack(">H", len(statement_id)) + statement_id + parameters(**options)


def batch(kind, children, consistency=1):
    """`children`: (text or id, is it prepared, bound values)."""
    body = struct.pack(">BH", kind, len(children))
    for statement, is_prepared, bound in children:
        body += bytes([1]) + struct.pack(">H", len(statement)) + statement if is_prepared \
            else bytes([0]) + long_string(statement)
        body += values(bound)
    return body + struct.pack(">HB", consistency, 0)


def frame(opcode, body, stream=0, version=4, flags=0):
    return struct.pack(">BBhBi", version, flags, stream, opcode, len(body)) + body


class Gone(Exception):
    """The server has closed the connection."""


class Client:
    """One connection, requests one after the other. TimeoutError: no answer came in time."""

    def __init__(self, port, answer_seconds, starts=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=answer_seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = 0
        if starts:
            opcode, _ = self.ask(STARTUP, struct.pack(">H", 1) + short_string("CQL_VERSION") + short_string("3.0.0"))
            if opcode != READY:
                raise Gone()

    def close(self):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (ConnectionError, BrokenPipeError) as error:
            raise Gone() from error

    def _read(self, count):
        pieces = []
        while count > 0:
            try:
                piece = self.socket.recv(min(count, 1 << 20))
            except ConnectionError as error:
                raise Gone() from error
            if not piece:
                raise Gone()
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def answer(self):
        """(opcode, body) of the next one."""
        header = self._read(9)
        length = struct.unpack(">i", header[5:9])[0]
        body = self._read(length)
        self.received = 9 + length
        return header[4], body

    def ask(self, opcode, body):
        self.send(frame(opcode, body))
        return self.answer()

    def read_to_the_end(self):
        """Says that nothing more comes, and reads what is left until the server closes."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(1 << 20):
                pass
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise


def error_code(opcode, body):
    """Of an ERROR; None for another answer."""
    return struct.unpack(">i", body[:4])[0] if opcode == ERROR and len(body) >= 4 else None


def prepared_id(opcode, body):
    """(id, markers) of what PREPARE answered; None when it refused."""
    if opcode != RESULT or struct.unpack(">i", body[:4])[0] != PREPARED_KIND:
        return None
    length = struct.unpack(">H", body[4:6])[0]
    after = 6 + length
    return body[6:after], struct.unpack(">i", body[after + 4:after + 8])[0]


def paging_state(opcode, body):
    """Of a page that is not the last; None for other answers."""
    if opcode != RESULT or struct.unpack(">i", body[:4])[0] != 2:
        return None
    flags, _ = struct.unpack(">ii", body[4:12])
    if not flags & 0x02:
        return None
    length = struct.unpack(">i", body[12:16])[0]
    return body[16:16 + length]


def _string(body, at):
    length = struct.unpack(">H", body[at:at + 2])[0]
    return body[at + 2:at + 2 + length], at + 2 + length


def rows(opcode, body):
    """Of a result without pages, of one table and of columns of simple types; none of another answer."""
    if opcode != RESULT or struct.unpack(">i", body[:4])[0] != 2:
        return []
    columns = struct.unpack(">i", body[8:12])[0]
    at = 12
    for _ in range(2):  # keyspace and table
        _, at = _string(body, at)
    for _ in range(columns):
        _, at = _string(body, at)
        at += 2  # its type
    count = struct.unpack(">i", body[at:at + 4])[0]
    at += 4
    found = []
    for _ in range(count):
        row = []
        for _ in range(columns):
            length = max(0, struct.unpack(">i", body[at:at + 4])[0])
            row.append(body[at + 4:at + 4 + length])
            at += 4 + length
        found.append(row)
    return found
