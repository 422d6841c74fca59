"""Arrays of numpy and pyarrow on the memory of results. Imported with the first array that is asked for."""

import numpy

# An older one does not keep the buffers that it shows from being released.
if tuple(int(part) for part in numpy.__version__.split(".")[:2]) < (1, 20):
    raise ImportError(f"liststore_cache needs numpy 1.20 or later for arrays, and found {numpy.__version__}")

_INT64 = numpy.dtype("<i8")


def int64_array(buffer):
    return numpy.frombuffer(buffer, _INT64)


def byte_array(buffer):
    return numpy.frombuffer(buffer, numpy.uint8)


def value_array(layout, dtype):
    buffer, count, width, stride = layout
    if dtype is not None:
        dtype = numpy.dtype(dtype)
        if dtype.hasobject or (count > 0 and dtype.itemsize != width):
            raise ValueError(f"dtype {dtype} has {dtype.itemsize} bytes, and the values have {width}")
    else:
        dtype = numpy.dtype((numpy.void, max(width, 1)))
        if width == 0 and count > 0:
            raise ValueError("the values are empty: there is no array of them")
    if count == 0:
        return numpy.empty(0, dtype)
    # frombuffer keeps the buffer exported, which release() of the items sees; ndarray by itself would not.
    return numpy.ndarray((count,), dtype, numpy.frombuffer(buffer, numpy.uint8), 0, (stride,))


def arrow_array(items):
    import pyarrow

    def column(array):
        return pyarrow.py_buffer(array)

    lists, count = len(items), len(items.timestamps)
    size = len(items.value_bytes)
    if max(size, count) >= 2**31:
        raise OverflowError(f"{count} items with {size} bytes of values: an Arrow ListArray has less than 2**31 of"
                            " each; ask for fewer lists")
    timestamps = pyarrow.Array.from_buffers(pyarrow.int64(), count, [None, column(items.timestamps)])
    values = pyarrow.Array.from_buffers(
        pyarrow.binary(), count,
        [None, column(items.value_offsets.astype(numpy.int32)), column(items.value_bytes)])
    rows = pyarrow.StructArray.from_arrays([timestamps, values], names=["timestamp_nanos", "value"])
    return pyarrow.Array.from_buffers(
        pyarrow.list_(rows.type), lists, [None, column(items.offsets.astype(numpy.int32))], children=[rows])


def arrow_c_array(items, schema):
    return arrow_array(items).__arrow_c_array__(schema)
