"""Lists with TTLs in the memory of this process: liststore's store and cache.

    with liststore_cache.Store(memory_limit_bytes=64 << 20) as store:
        history = store.create_feature("user", "history", ttl_seconds=30 * 86_400)
        history.add("17", time.time_ns(), b"story-1")
        history.newest("17", 10)             # [(timestamp_nanos, value), ...], newest first
        history.items("17", 10).timestamps   # numpy

Timestamps are nanoseconds since 1970, TTLs seconds, values bytes. Every call may be made by any thread.
"""

from ._errors import (
    AlreadyExists,
    CallbackFailed,
    DataLoss,
    Error,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
    Unknown,
)
from ._native import Cache, Feature, Items, ManualClock, MultiItems, Store, __version__

# What Items.presence and MultiItems.presence say.
ABSENT, PARTIAL, COMPLETE = 0, 1, 2

__all__ = [
    "ABSENT", "COMPLETE", "PARTIAL", "AlreadyExists", "Cache", "CallbackFailed", "DataLoss", "Error",
    "FailedPrecondition", "Feature", "Internal", "InvalidArgument", "Items", "ManualClock", "MultiItems", "NotFound",
    "PermissionDenied", "ResourceExhausted", "Store", "Unavailable", "Unknown", "__version__",
]
