#!/usr/bin/env python3
"""A cache inside of a service, in front of lists that live in ScyllaDB: reads come from the memory of
the process where they can, and from CQL, by the service's own driver, where they must. Needs the shared
library and the driver (cassandra-driver).

    near_cache_of_cql.py /path/to/libliststore.so PORT

PORT is that of a ScyllaDB, or of `liststore serve`, on this machine.
"""

import base64
import ctypes
import hashlib
import sys
import time

from cassandra.cluster import Cluster
from list_store_ctypes import Bytes, Item, List, NewItem, Options

COMPLETE = 2  # LISTSTORE_COMPLETE
EVICT = 1  # LISTSTORE_EVICT
TTL_SECONDS = 30 * 86_400
FEATURE = "user#reading_history|"  # entity type, feature and version, as the table has them


class PutOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("fresh_until_seconds", ctypes.c_int64),
                ("mark", ctypes.c_uint64), ("has_mark", ctypes.c_uint32),
                ("unused", ctypes.c_uint32)]


class SlowStore:
    """Reading histories behind CQL, newest first."""

    def __init__(self, session):
        self._session = session
        self._insert = session.prepare(
            "INSERT INTO list_items (feature_key, entity_id, item_key, value) "
            "VALUES (?, ?, ?, ?) USING TTL ?")
        self._select = session.prepare(
            "SELECT item_key, value FROM list_items WHERE feature_key = ? AND entity_id = ?")
        self.reads = 0

    def add(self, user, nanos, story):
        digest = base64.b64encode(hashlib.md5(story).digest()).decode()
        self._session.execute(
            self._insert, (FEATURE, user, f"{nanos:019d}#{digest}", story, TTL_SECONDS))

    def read(self, user):
        self.reads += 1
        rows = self._session.execute(self._select, (FEATURE, user))
        return [(int(row.item_key[:19]), row.value) for row in rows]


class NearCache:
    """At most `limit_bytes` of lists; each is taken for true for `fresh_seconds`."""

    def __init__(self, library, slow_store, limit_bytes=64 << 20, fresh_seconds=60):
        self._library = ctypes.CDLL(library)
        self._library.liststore_items_create.restype = ctypes.c_void_p
        self._library.liststore_items_size.restype = ctypes.c_size_t
        self._library.liststore_items_fresh_until.restype = ctypes.c_int64
        self._slow_store = slow_store
        self._fresh_seconds = fresh_seconds
        options = Options()
        self._library.liststore_options_init(ctypes.byref(options),
                                             ctypes.c_size_t(ctypes.sizeof(options)))
        options.memory_limit_bytes = limit_bytes
        options.memory_policy = EVICT
        options.lists_live_elsewhere = 1
        self._items = ctypes.c_void_p(self._library.liststore_items_create())
        self._store = ctypes.c_void_p()
        self._call("liststore_open", ctypes.byref(options), ctypes.byref(self._store))
        self._call("liststore_create_feature", self._store, Bytes.of("user"),
                   Bytes.of("reading_history"), ctypes.c_int64(TTL_SECONDS))

    def close(self):
        self._library.liststore_items_destroy(self._items)
        self._library.liststore_close(self._store)

    def get(self, user):
        name = self._list(user)
        self._call("liststore_get", self._store, name, None, self._items)
        if (self._library.liststore_items_presence(self._items) == COMPLETE
                and self._library.liststore_items_fresh_until(self._items) > time.time()):
            return [self._item(i) for i in range(self._library.liststore_items_size(self._items))]
        put = PutOptions()
        self._library.liststore_put_options_init(ctypes.byref(put),
                                                 ctypes.c_size_t(ctypes.sizeof(put)))
        # What is written while the slow store is read makes what it says old: not put then.
        mark = ctypes.c_uint64()
        self._call("liststore_load_mark", self._store, name, ctypes.byref(mark))
        put.mark, put.has_mark = mark.value, 1
        put.fresh_until_seconds = int(time.time()) + self._fresh_seconds
        loaded = self._slow_store.read(user)
        array = (NewItem * len(loaded))(*[NewItem(nanos, Bytes.of(story)) for nanos, story in loaded])
        self._call("liststore_put", self._store, name, array, ctypes.c_size_t(len(loaded)),
                   ctypes.byref(put), None)
        return loaded

    def add(self, user, nanos, story):
        self._slow_store.add(user, nanos, story)
        self._call("liststore_forget", self._store, self._list(user), None)

    def _item(self, index):
        item = Item()
        self._library.liststore_items_at(self._items, ctypes.c_size_t(index), ctypes.byref(item))
        return item.timestamp_nanos, ctypes.string_at(item.value.data, item.value.size)

    @staticmethod
    def _list(user):
        return ctypes.byref(List(Bytes.of("user"), Bytes.of("reading_history"), Bytes.of(""),
                                 Bytes.of(user)))

    def _call(self, name, *arguments):
        error = ctypes.create_string_buffer(512)
        if getattr(self._library, name)(*arguments, error) != 0:
            raise RuntimeError(f"{name}: {error.value.decode()}")


def main():
    cluster = Cluster(["127.0.0.1"], port=int(sys.argv[2]))
    session = cluster.connect()
    session.execute("CREATE KEYSPACE IF NOT EXISTS feature_store WITH replication = "
                    "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")
    session.set_keyspace("feature_store")
    session.execute("CREATE TABLE IF NOT EXISTS list_items (feature_key text, entity_id text, "
                    "item_key text, value blob, PRIMARY KEY ((feature_key, entity_id), item_key)) "
                    "WITH CLUSTERING ORDER BY (item_key DESC)")
    slow_store = SlowStore(session)
    cache = NearCache(sys.argv[1], slow_store)
    now = time.time_ns()
    cache.add("17", now - 2, b"story-1")
    cache.add("17", now - 1, b"story-2")
    for user in ("17", "17", "18", "18"):
        stories = [story.decode() for _, story in cache.get(user)]
        print(f"user {user}: {stories}, {slow_store.reads} reads of the slow store so far")
    cache.add("17", now, b"story-3")
    print([story.decode() for _, story in cache.get("17")])
    cache.close()
    cluster.shutdown()


if __name__ == "__main__":
    main()
