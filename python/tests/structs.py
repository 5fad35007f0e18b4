"""Structs of the Arrow C data and C stream interfaces, made by hand, with any damage.

Buffers end where a page ends that nobody may read beyond: whoever does crashes.
"""

import ctypes
import functools
import mmap
import struct
from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, c_char, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, replace

SCHEMA, ARRAY, STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"


class SchemaStruct(ctypes.Structure):
    _fields_ = [
        ("format", c_void_p),
        ("name", c_void_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrayStruct(ctypes.Structure):
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class StreamStruct(ctypes.Structure):
    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


# What structs point to, by the address in their private data, until they are released.
ALIVE = {}


def releaser(kind):
    @CFUNCTYPE(None, c_void_p)
    def release(place):
        given = kind.from_address(place)
        _, owned = ALIVE.pop(given.private_data)
        for other in owned:
            if isinstance(other, SchemaStruct | ArrayStruct) and other.release:
                RELEASE[type(other)](ctypes.addressof(other))
        given.release = None

    return release


RELEASE = {kind: releaser(kind) for kind in (SchemaStruct, ArrayStruct, StreamStruct)}


def address(function):
    return ctypes.cast(function, c_void_p).value


def finish(given, owned, released=False):
    """Lets a struct own what it points to."""
    kind = type(given)
    owner = c_char()
    given.private_data = ctypes.addressof(owner)
    if not released:
        given.release = address(RELEASE[kind])
        ALIVE[given.private_data] = (owner, owned)
    return given


# Structs in capsules, by the addresses that these have.
KEPT = {}


def destructor(name):
    # A pointer, as the object is about to go.
    get = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))

    @PYFUNCTYPE(None, c_void_p)
    def destroy(place):
        given = KEPT.pop(get(place, name))
        if given.release:
            RELEASE[type(given)](ctypes.addressof(given))

    return destroy


DESTROY = {name: destructor(name) for name in (SCHEMA, ARRAY, STREAM)}


def capsule(given, name, shift=0):
    place = ctypes.addressof(given) + shift
    KEPT[place] = given
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    return new(place, name, address(DESTROY[name]))


class Guarded:
    """Bytes at the end of a page that is followed by one that cannot be read."""

    def __init__(self, data):
        page = mmap.PAGESIZE
        size = -(-len(data) // page) * page
        self.memory = mmap.mmap(-1, size + page)
        self.memory[size - len(data) : size] = data
        start = ctypes.addressof(c_char.from_buffer(self.memory))
        self.address = start + size - len(data)
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [c_void_p, ctypes.c_size_t, c_int]
        assert protect(start + size, page, 0) == 0


guarded = functools.lru_cache(maxsize=256)(Guarded)


@dataclass(frozen=True)
class Column:
    """An array and its type."""

    format: bytes | None
    length: int
    buffers: tuple[bytes | None, ...]
    null_count: int = 0
    offset: int = 0
    # As many as there are, if it is not given.
    n_buffers: int | None = None
    # Whether the pointer to the pointers is null.
    no_buffers: bool = False
    n_children: int = 0
    # What indices lead to, and its type, which is this one's unless another is given.
    dictionary: "Column | None" = None
    schema_children: int = 0
    schema_dictionary: "Column | None" = None
    released: bool = False
    schema_released: bool = False
    # What is added to the addresses of the structs.
    shift: int = 0
    schema_shift: int = 0

    def with_buffer(self, i, buffer):
        return replace(self, buffers=(*self.buffers[:i], buffer, *self.buffers[i + 1 :]))

    def schema_struct(self):
        format = None if self.format is None else Guarded(self.format + b"\0")
        other = SchemaStruct()
        values = self.schema_dictionary or self.dictionary
        # Whoever releases a struct releases what belongs to it.
        values = (
            values
            and replace(
                values, schema_released=self.schema_released or values.schema_released
            ).schema_struct()
        )
        given = SchemaStruct(
            format=format and format.address,
            n_children=self.schema_children,
            children=ctypes.addressof(other),
            dictionary=values and ctypes.addressof(values),
        )
        return finish(given, (format, other, values), self.schema_released)

    def array_struct(self):
        buffers = [None if data is None else guarded(data) for data in self.buffers]
        places = [buffer and buffer.address for buffer in buffers]
        pointers = Guarded(b"".join(struct.pack("N", place or 0) for place in places))
        other = ArrayStruct()
        values = self.dictionary
        values = (
            values and replace(values, released=self.released or values.released).array_struct()
        )
        given = ArrayStruct(
            length=self.length,
            null_count=self.null_count,
            offset=self.offset,
            n_buffers=len(buffers) if self.n_buffers is None else self.n_buffers,
            n_children=self.n_children,
            buffers=None if self.no_buffers else pointers.address,
            children=ctypes.addressof(other),
            dictionary=values and ctypes.addressof(values),
        )
        return finish(given, (buffers, pointers, other, values), self.released)

    def __arrow_c_array__(self, requested_schema=None):
        return (
            capsule(self.schema_struct(), SCHEMA, self.schema_shift),
            capsule(self.array_struct(), ARRAY, self.shift),
        )


@dataclass(frozen=True)
class Chunks:
    """A stream of arrays, all of the first one's type or that of ``schema``."""

    parts: tuple[Column, ...]
    schema: Column | None = None
    # Codes that callbacks return; ``next_code`` after the last array.
    schema_code: int = 0
    next_code: int = 0
    error: bytes | None = None
    # Names of callbacks that are null.
    missing: tuple[str, ...] = ()

    def __arrow_c_stream__(self, requested_schema=None):
        rest = iter(self.parts)
        error = ctypes.create_string_buffer(self.error) if self.error is not None else None

        @CFUNCTYPE(c_int, c_void_p, POINTER(SchemaStruct))
        def get_schema(_, out):
            if not self.schema_code:
                out[0] = (self.schema or self.parts[0]).schema_struct()
            return self.schema_code

        @CFUNCTYPE(c_int, c_void_p, POINTER(ArrayStruct))
        def get_next(_, out):
            part = next(rest, None)
            if part is not None:
                out[0] = part.array_struct()
                return 0
            if self.next_code:
                # Nobody may look at it, or release it.
                ctypes.memset(out, 0x55, ctypes.sizeof(ArrayStruct))
            return self.next_code

        @CFUNCTYPE(c_void_p, c_void_p)
        def get_last_error(_):
            return error and ctypes.addressof(error)

        callbacks = dict(get_schema=get_schema, get_next=get_next, get_last_error=get_last_error)
        given = StreamStruct(
            **{name: address(f) for name, f in callbacks.items() if name not in self.missing}
        )
        finish(given, (callbacks, error), "release" in self.missing)
        return capsule(given, STREAM)


def bitmap(valid):
    """Bits of these."""
    bits = sum(bool(bit) << i for i, bit in enumerate(valid))
    return bits.to_bytes(-(-len(valid) // 8), "little")


def view(length, prefix, buffer, offset):
    return struct.pack("<i4sii", length, prefix, buffer, offset)


def by_offsets(values, letter):
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value))
    format = {"i": b"z", "q": b"Z"}[letter]
    return Column(
        format,
        len(values),
        (None, struct.pack(f"={len(ends)}{letter}", *ends), b"".join(values)),
    )


def by_views(values):
    """Long values go to two buffers by turns."""
    views, data = [], [b"", b""]
    for i, value in enumerate(values):
        if len(value) <= 12:
            views.append(struct.pack("<i12s", len(value), value))
        else:
            views.append(view(len(value), value[:4], i % 2, len(data[i % 2])))
            data[i % 2] += value
    lengths = struct.pack("=2q", *map(len, data))
    return Column(b"vz", len(values), (None, b"".join(views), *data, lengths))


def fixed(values):
    width = len(values[0])
    return Column(b"w:%d" % width, len(values), (None, b"".join(values)))


def by_indices(values):
    distinct = list(dict.fromkeys(values))
    indices = [distinct.index(value) for value in values]
    return Column(
        b"i",
        len(values),
        (None, struct.pack(f"={len(values)}i", *indices)),
        dictionary=by_offsets(distinct, "i"),
    )


LAYOUTS = {
    "binary": lambda values: by_offsets(values, "i"),
    "large_binary": lambda values: by_offsets(values, "q"),
    "binary_view": by_views,
    "fixed_size_binary": fixed,
    "dictionary": by_indices,
}


class Malformed(Exception):
    """A column that must be refused."""


class Untold(Exception):
    """One that claims more than its buffers have, which no field tells."""


def need(good):
    if not good:
        raise Malformed


def width_of(format):
    """Bytes of a value of a type of fixed size."""
    if format.startswith("w:"):
        need(format[2:].isdigit() and len(format) <= 12)
        width = int(format[2:])
        need(width < 1 << 31)
        return width
    need(format in WIDTHS)
    return WIDTHS[format]


WIDTHS = {"b": 0, "c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "g": 8}
# Of indices.
LETTERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


def values(column):
    """The values of a column, ``None`` where it is null, by another reader than the one that
    is tested."""
    need(not column.shift and not column.schema_shift)
    type = column.schema_dictionary or column.dictionary
    need((type is None) == (column.dictionary is None))
    if type is None:
        return of_array(column)
    need(not type.schema_released and not type.schema_children and type.format is not None)
    need(type.schema_dictionary is None and type.dictionary is None)
    need(column.dictionary.dictionary is None)
    changes = dict(schema_released=False, schema_children=0, schema_dictionary=None)
    values = replace(column.dictionary, format=type.format, **changes)
    need(column.format is not None)
    letter = LETTERS.get(column.format.decode())
    need(letter)
    try:
        indices = of_array(column)
    except Malformed:
        # The dictionary may be untold.
        of_array(values)
        raise
    dictionary = of_array(values)
    result = []
    for index in indices:
        if index is None:
            result.append(None)
        else:
            (index,) = struct.unpack(f"={letter}", index)
            need(0 <= index < len(dictionary))
            result.append(dictionary[index])
    return result


def of_array(column):
    """Its own values, which may be indices."""
    most = 1 << 48
    need(not column.released and not column.schema_released)
    need(column.format is not None)
    format = column.format.decode()
    by_offsets, by_views = format in ("z", "Z", "u", "U"), format in ("vz", "vu")
    width = 0 if by_offsets or by_views else width_of(format)
    need(not column.schema_children)
    need(not column.n_children)
    claimed = len(column.buffers) if column.n_buffers is None else column.n_buffers
    need(not column.no_buffers)
    if by_views:
        need(3 <= claimed <= 3 + (1 << 31))
        if claimed != len(column.buffers):
            raise Untold
    else:
        need(claimed == (3 if by_offsets else 2))
    if claimed > len(column.buffers):
        raise Untold
    need(0 <= column.length <= most and 0 <= column.offset <= most)
    first, end = column.offset, column.offset + column.length

    def buffer(i, size):
        if size == 0:
            return b""
        given = column.buffers[i]
        need(given is not None and size <= most)
        if size > len(given):
            raise Untold
        return given[:size]

    # What each value has in the second buffer, and how many more there are.
    each, more = {"z": (4, 1), "Z": (8, 1), "u": (4, 1), "U": (8, 1)}.get(format, (width, 0))
    if by_views:
        each = 16
    size = (end + more) * each if column.length else 0
    if format == "b" and column.length:
        size = -(-end // 8)
    need(size == 0 or column.buffers[1] is not None and size <= most)
    valid = [True] * min(column.length, 1 << 20)
    if column.buffers[0] is not None:
        bits = int.from_bytes(buffer(0, -(-end // 8)), "little")
        valid = [bits >> i & 1 for i in range(first, end)]
    nulls = len(valid) - sum(map(bool, valid))
    need(column.null_count in (-1, nulls))
    if format == "b":
        data = int.from_bytes(buffer(1, size), "little")
        return [bytes([data >> i & 1]) if bit else None for i, bit in zip(range(first, end), valid)]
    if not by_offsets and not by_views:
        data = buffer(1, size)
        if column.length > 1 << 20:
            raise Untold
        places = zip(range(first, end), valid)
        return [data[i * width : (i + 1) * width] if bit else None for i, bit in places]
    if column.length == 0:
        return []
    result = []
    if by_views:
        views = buffer(1, size)
        count = claimed - 3
        lengths = struct.unpack(f"={count}q", buffer(claimed - 1, 8 * count))
        need(all(0 <= length <= most for length in lengths))
        data = [buffer(i + 2, length) for i, length in enumerate(lengths)]
        for bit, place in zip(valid, range(16 * first, 16 * end, 16)):
            if not bit:
                result.append(None)
                continue
            length, _, index, start = struct.unpack_from("<i4sii", views, place)
            need(length >= 0)
            if length <= 12:
                result.append(views[place + 4 : place + 4 + length])
            else:
                need(0 <= index < count and 0 <= start <= len(data[index]) - length)
                result.append(data[index][start : start + length])
        return result
    letter = "i" if format in ("z", "u") else "q"
    offsets = struct.unpack_from(f"={column.length + 1}{letter}", buffer(1, size), first * each)
    need(0 <= offsets[-1] <= most)
    data = buffer(2, offsets[-1])
    for bit, start, end in zip(valid, offsets, offsets[1:]):
        if not bit:
            result.append(None)
            continue
        need(0 <= start <= end <= len(data))
        result.append(data[start:end])
    return result
