"""What goes wrong, with the store's words: which name, bound or value, and the way out."""


class Error(Exception):
    """Any refusal of the store. A call that raises changes nothing, unless its class says otherwise."""


class InvalidArgument(Error, ValueError):
    """A name, value, timestamp, limit or option is out of bounds."""


class NotFound(Error, LookupError):
    """The feature, its version or the file does not exist."""


class AlreadyExists(Error):
    """The feature or its version exists."""


class PermissionDenied(Error):
    """The system does not allow it for a file or directory."""


class ResourceExhausted(Error, MemoryError):
    """The memory limit is reached and nothing can be evicted, or the disk is full. Nothing was applied."""


class FailedPrecondition(Error):
    """Not in this state: the store is closed, it has no data_dir, or the directory is somebody else's."""


class Internal(Error):
    """A fault of the store itself."""


class Unavailable(Error):
    """The directory is in use, or the disk does not take writes now. Try again."""


class DataLoss(Error):
    """A file or directory is damaged; the message says where."""


class Unknown(Error):
    """A write is done, and the disk has not taken it so far."""


class CallbackFailed(Error):
    """The loader or writer of a cache raised. What it raised is the cause (`__cause__`), where it was on this
    thread. KeyboardInterrupt, SystemExit and others that are no Exception are raised themselves."""
