"""What is done to a sound text or frame, so that it is not."""

import struct

from . import wire

WORDS = (b"SELECT", b"FROM", b"WHERE", b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b",", b";", b"'", b'"', b"$$", b"--",
         b"/*", b"?", b":x", b"null", b"=", b"IN", b"AND", b"-", b"+", b".", b"0x", b"1e999999999", b"\x00", b"\xff",
         b"frozen", b"token", b"USING", b"(int)")


def text(rng, data, bytes_max):
    """`data` with some changes; at most `bytes_max` long."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.randrange(1, 30))
        kind = rng.randrange(6)
        if kind == 0:
            del data[begin:end]
        elif kind == 1:
            data[begin:begin] = rng.choice(WORDS)
        elif kind == 2 and begin < len(data):
            data[begin] = rng.randrange(256)
        elif kind == 3:
            times = rng.randrange(2, 6) if rng.random() < 0.8 else rng.randrange(2, 20_000)
            times = min(times, bytes_max // max(1, end - begin))
            data[begin:end] = bytes(data[begin:end]) * times
        elif kind == 4:
            other = rng.randrange(len(data) + 1)
            data[other:other] = data[begin:end]
        else:
            word, times = rng.choice(((b"(", b")"), (b"[", b"]"), (b"{", b"}"))), rng.randrange(1, 3000)
            data[begin:end] = word[0] * times + bytes(data[begin:end]) + word[1] * times
        del data[bytes_max:]
    return bytes(data)


def frame(rng, data):
    """A frame's bytes, damaged: header, lengths within, or cut off."""
    data = bytearray(data)
    kind = rng.randrange(5)
    if kind == 0:
        data[rng.randrange(9)] = rng.randrange(256)
    elif kind == 1:
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(9, len(data)) if len(data) > 9 else 4] = rng.randrange(256)
    elif kind == 2:
        del data[rng.randrange(len(data)):]
    elif kind == 3:
        data[5:9] = struct.pack(">i", rng.choice((0, 1, len(data), 2 ** 28, 2 ** 31 - 1, -1)))
    else:
        data[1] = rng.randrange(32)
        data[4] = rng.choice((wire.STARTUP, wire.OPTIONS, wire.QUERY, wire.PREPARE, wire.EXECUTE, wire.BATCH,
                              wire.REGISTER, 0x0F, 0x42))
    return bytes(data)


def bound_value(rng, size):
    """A value whose type is not known."""
    draw = rng.random()
    if draw < 0.1:
        return rng.choice((wire.NULL, wire.UNSET))
    if draw < 0.5:
        return struct.pack(">i", rng.randrange(6))
    if draw < 0.6:
        return struct.pack(">q", rng.randrange(-2 ** 63, 2 ** 63))
    if draw < 0.7:
        return rng.randbytes(16)
    if draw < 0.97:
        return rng.randbytes(rng.randrange(40))
    return rng.randbytes(rng.randrange(size))
