#!/usr/bin/env python3
"""What somebody read lately, in Python: the C interface by ctypes. Needs the shared library.

    list_store_ctypes.py /path/to/libliststore.so
"""

import ctypes
import sys


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

    @classmethod
    def of(cls, value):
        value = value.encode() if isinstance(value, str) else value
        return cls(value, len(value))


class List(ctypes.Structure):
    _fields_ = [(name, Bytes) for name in ("entity_type", "feature", "version", "entity_id")]


class NewItem(ctypes.Structure):
    _fields_ = [("timestamp_nanos", ctypes.c_uint64), ("value", Bytes)]


class View(ctypes.Structure):  # of bytes that may hold zeros
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Item(ctypes.Structure):
    _fields_ = [("timestamp_nanos", ctypes.c_uint64), ("value", View),
                ("expires_at_seconds", ctypes.c_int64)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("clock", ctypes.c_void_p),
                ("keyspace", ctypes.c_char_p), ("default_ttl_seconds", ctypes.c_int64),
                ("value_bytes_max", ctypes.c_uint64), ("memory_limit_bytes", ctypes.c_uint64),
                ("shards", ctypes.c_uint32), ("background_reclaim", ctypes.c_uint32),
                ("memory_policy", ctypes.c_uint32), ("lists_live_elsewhere", ctypes.c_uint32),
                ("on_evicted", ctypes.c_void_p), ("on_evicted_context", ctypes.c_void_p)]


class Lists:
    """One store."""

    def __init__(self, library, clock=None):
        self._library = ctypes.CDLL(library)
        self._library.liststore_items_create.restype = ctypes.c_void_p
        self._library.liststore_items_size.restype = ctypes.c_size_t
        self._library.liststore_clock_create.restype = ctypes.c_void_p
        self._clock = None
        options = Options()
        self._library.liststore_options_init(ctypes.byref(options),
                                             ctypes.c_size_t(ctypes.sizeof(options)))
        options.memory_limit_bytes = 64 << 20
        if clock is not None:
            self._clock = ctypes.c_void_p(
                self._library.liststore_clock_create(ctypes.c_uint64(clock)))
            options.clock = self._clock
        self._items = ctypes.c_void_p(self._library.liststore_items_create())
        self._store = ctypes.c_void_p()
        self._call("liststore_open", ctypes.byref(options), ctypes.byref(self._store))

    def close(self):
        self._library.liststore_items_destroy(self._items)
        self._library.liststore_close(self._store)
        self._library.liststore_clock_destroy(self._clock)

    def advance_clock(self, seconds):
        self._library.liststore_clock_advance(self._clock, ctypes.c_uint64(seconds * 10**9))

    def create_feature(self, entity_type, feature, ttl_seconds):
        self._call("liststore_create_feature", self._store, Bytes.of(entity_type),
                   Bytes.of(feature), ctypes.c_int64(ttl_seconds))

    def add(self, entity_type, feature, entity_id, items):
        array = (NewItem * len(items))(*[NewItem(nanos, Bytes.of(v)) for nanos, v in items])
        self._call("liststore_add", self._store, self._list(entity_type, feature, entity_id),
                   array, ctypes.c_size_t(len(items)), None)

    def get(self, entity_type, feature, entity_id):
        self._call("liststore_get", self._store, self._list(entity_type, feature, entity_id),
                   None, self._items)
        result = []
        for i in range(self._library.liststore_items_size(self._items)):
            item = Item()
            self._library.liststore_items_at(self._items, ctypes.c_size_t(i), ctypes.byref(item))
            result.append((item.timestamp_nanos,
                           ctypes.string_at(item.value.data, item.value.size)))
        return result

    @staticmethod
    def _list(entity_type, feature, entity_id):
        return ctypes.byref(List(Bytes.of(entity_type), Bytes.of(feature), Bytes.of(""),
                                 Bytes.of(entity_id)))

    def _call(self, name, *arguments):
        error = ctypes.create_string_buffer(512)
        if getattr(self._library, name)(*arguments, error) != 0:
            raise RuntimeError(f"{name}: {error.value.decode()}")


def main():
    now = 1_724_949_845 * 10**9
    lists = Lists(sys.argv[1], clock=now)
    lists.create_feature("user", "history", 86_400)
    lists.add("user", "history", "17", [(now - 2, "story-1"), (now - 1, b"story\x002")])
    for nanos, value in lists.get("user", "history", "17"):
        print(nanos, value)
    try:
        lists.add("user", "none", "17", [(now, "x")])
    except RuntimeError as error:
        print(error)
    lists.advance_clock(86_400)
    print(lists.get("user", "history", "17"))
    lists.close()


if __name__ == "__main__":
    main()
