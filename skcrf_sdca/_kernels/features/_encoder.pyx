"""Feature dicts and lists of strings to CSR rows, in one pass.

Owns the meaning of each type of value in a dict, the numbers that features get, the
tables of their names, and the arrays of the rows, which grow in place and are handed
over without a copy.

This pass mostly waits for the memory that holds the strings: the entries of an item are
gathered first, then looked up together. It is one long module, so that the compiler
sees the whole pass.
"""

cimport cython

from cpython.dict cimport (
    PyDict_CheckExact,
    PyDict_GetItemWithError,
    PyDict_Next,
)
from cpython.list cimport PyList_CheckExact, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_GET_SIZE, PySequence_Fast_ITEMS
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.limits cimport INT_MAX, UINT_MAX
from libc.math cimport isfinite
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset

from ._prefetch cimport prefetch

from collections.abc import Mapping, Set
from decimal import Decimal
from numbers import Real

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    static inline uint64_t skcrf_read(const char *bytes, size_t n) {
        uint64_t word = 0;
        memcpy(&word, bytes, n);
        return word;
    }

    /* The two halves of a product of 128 bits, as in wyhash. */
    static inline uint64_t skcrf_folded(uint64_t a, uint64_t b) {
    #if defined(__SIZEOF_INT128__)
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    #else
        uint64_t low = (uint32_t)a * (b >> 32), high = (a >> 32) * (uint32_t)b;
        uint64_t ends = (uint64_t)(uint32_t)a * (uint32_t)b;
        uint64_t middle = (ends >> 32) + (uint32_t)low + (uint32_t)high;
        return ((ends & 0xffffffff) | (middle << 32)) ^
               ((a >> 32) * (b >> 32) + (low >> 32) + (high >> 32) + (middle >> 32));
    #endif
    }

    static inline uint32_t skcrf_hash(const char *bytes, size_t n, uint64_t seed) {
        uint64_t a, b;
        seed ^= n;
        for (; n > 16; n -= 16, bytes += 16)
            seed = skcrf_folded(skcrf_read(bytes, 8) ^ 0xa0761d6478bd642f,
                                skcrf_read(bytes + 8, 8) ^ seed);
        if (n >= 8) {
            a = skcrf_read(bytes, 8);
            b = skcrf_read(bytes + n - 8, 8);
        } else if (n >= 4) {
            a = skcrf_read(bytes, 4);
            b = skcrf_read(bytes + n - 4, 4);
        } else {
            a = n > 0 ? skcrf_read(bytes, 1) : 0;
            b = n > 0 ? skcrf_read(bytes + n - 1, 1) << 8 : 0;
            b |= n > 1 ? skcrf_read(bytes + 1, 1) : 0;
        }
        return (uint32_t)skcrf_folded(a ^ 0xe7037ed1a0b428db, b ^ seed);
    }
    """
    unsigned int hash_of "skcrf_hash"(
        const char* bytes, size_t n, uint64_t seed
    ) noexcept nogil

cdef extern from "Python.h":
    int PyUnicode_READY(PyObject* string) except -1
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* string) noexcept
    int PyUnicode_KIND(PyObject* string) noexcept
    void* PyUnicode_DATA(PyObject* string) noexcept
    ctypedef struct PyDictObject:
        void* ma_keys
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i) noexcept
    str PyUnicode_FromKindAndData(int kind, const void* chars, Py_ssize_t length)

cdef enum:
    # First length of the arrays, and the most entries that are sorted by insertion.
    SHORT = 64
    # A dict that contains itself must come to an end.
    DEEPEST = 1000
    # Number of items that are fetched ahead.
    AHEAD = 4
    # Lines of the keys of a dict of some twenty entries.
    LINES = 7
    # Two of them hold the head and the first characters of a string.
    CACHE_LINE = 64
    # Records begin at multiples of this number of bytes, the size of their head.
    UNIT = 8
    # Names are shorter: the head has 30 bits for the bytes of one.
    LONGEST = 1 << 30
    # Number of keys whose tables are remembered, by their places in the last dict.
    WIDE = 64

# Names, for isinstance: of a tuple that is written in the call, Cython takes an error
# (Ctrl-C, while an abstract class is asked) for a yes.
cdef tuple NUMBERS = (np.bool_, Real, Decimal)
cdef tuple LISTS = (list, tuple, Set)
# The type of plain items, by the names of the input formats: see `type_of_items`.
ITEM_TYPES = {"dicts": dict, "strings": list}
# Random, as the seed of Python's hashes: names cannot be made to share one slot.
cdef uint64_t SEED = <uint64_t> hash("skcrf_sdca") ^ <uint64_t> hash("names") << 32


@cython.final
cdef class Table:
    """A dict of numbers with open slots, which keeps names one behind the other.

    A dict cannot tell where it will look next; here the slot of a name and the record
    in it can be fetched while others are looked up. Names take half the memory of
    objects, so that more of them are near the processor.

    Parameters
    ----------
    numbers : dict, default={}
        {str: number}.

    Raises
    ------
    TypeError
        If a name is not a plain str.
    """

    def __cinit__(self, dict numbers=None):
        self.n_slots = 8
        self.end, self.room = 1, 8
        self.slots = <Slot*> calloc(self.n_slots, sizeof(Slot))
        self.records = <char*> realloc(NULL, self.room * UNIT)
        if self.slots is NULL or self.records is NULL:
            raise MemoryError()
        for name, number in (numbers or {}).items():
            if not PyUnicode_CheckExact(name):
                raise TypeError("the names in a vocabulary must be plain str")
            self.keep(<PyObject*> name, hash_of_name(<PyObject*> name), number)

    def __dealloc__(self):
        free(self.slots)
        # The garbage collector may have cleared the owner before.
        if not self.borrows:
            free(self.records)

    def packed(self):
        """Return the number of names, and the records, as one array of int64."""
        found = np.empty(self.end, dtype=np.int64)
        cdef long long[::1] units = found
        memcpy(&units[0], self.records, self.end * UNIT)
        units[0] = self.n_used
        return found

    @staticmethod
    def of_packed(const long long[::1] packed, unsigned char[::1] seen):
        """Return the table of an array of `packed`, which it reads and does not copy.

        It sets ``seen[number]`` of each name, if it is not None. ValueError if the
        array is no such table, or a number has no place in ``seen``.
        """
        cdef Table table = Table()
        cdef size_t place = 1
        cdef Py_ssize_t n_names = 0
        cdef Record* record
        if not 1 <= packed.shape[0] <= UINT_MAX or not 0 <= packed[0] < packed.shape[0]:
            raise ValueError("the size of a table of names is wrong")
        table.make_slots(packed[0])
        free(table.records)
        # Records are not written to: see `own`.
        table.records, table.owner, table.borrows = <char*> &packed[0], packed, True
        table.end = table.room = packed.shape[0]
        while place < table.end:
            record = table.record(place)
            if not is_whole(record, table.end - place):
                raise ValueError("a name in a table is damaged")
            if n_names == packed[0]:
                raise ValueError("a table has more names than it says")
            if seen is not None:
                if not 0 <= record.number < seen.shape[0]:
                    raise ValueError(
                        f"the numbers of names must be from 0 to {seen.shape[0] - 1}"
                    )
                seen[record.number] = True
            table.take(place, record)
            place += units(record.form)
            n_names += 1
        if n_names != packed[0]:
            raise ValueError("a table has fewer names than it says")
        return table

    def items(self, const unsigned char[::1] wanted=None):
        """Return the names and their numbers, two lists, in the order of keeping.

        With ``wanted`` they are those with ``wanted[number]``.
        """
        cdef size_t place = 1
        cdef Record* record
        cdef list names = [], numbers = []
        while place < self.end:
            record = self.checked(place)
            if wanted is None or (
                0 <= record.number < wanted.shape[0] and wanted[record.number]
            ):
                names.append(name_of(record))
                numbers.append(record.number)
            place += units(record.form)
        return names, numbers

    @cython.boundscheck(True)
    def renumbered(self, int[::1] numbers):
        """Return a table of the names with ``numbers[number] >= 0``, their numbers."""
        cdef Table kept = Table()
        cdef size_t place = 1
        cdef Record* record
        cdef Record head
        cdef char* chars
        while place < self.end:
            record = self.checked(place)
            if numbers[record.number] >= 0:
                head = Record(record.form, numbers[record.number])
                chars = <char*> (record + 1)
                kept.add(head, chars, hash_of(chars, record.form >> 2, SEED))
            place += units(record.form)
        return kept

    def __len__(self):
        return self.n_used

    cdef inline Slot* home(self, unsigned int hash) noexcept:
        """Return the slot where the search for a name begins."""
        return self.slots + (hash & (self.n_slots - 1))

    cdef inline Slot* next(self, Slot* slot) noexcept:
        slot += 1
        return self.slots if slot == self.slots + self.n_slots else slot

    cdef inline Record* record(self, size_t place) noexcept:
        return <Record*> (self.records + place * UNIT)

    cdef inline void fetch_record(self, unsigned int hash) noexcept:
        """Have the record of a name on its way, if the slot at its home is here."""
        cdef Slot* slot = self.home(hash)
        while slot.place and slot.hash != hash:
            slot = self.next(slot)
        prefetch(self.record(slot.place))
        prefetch(self.record(slot.place) + CACHE_LINE // 2 // UNIT)

    cdef inline Record* find(self, PyObject* name, unsigned int hash) noexcept:
        """Return the record of a name, or NULL."""
        cdef Slot* slot = self.home(hash)
        while slot.place:
            if slot.hash == hash and self.is_name(slot.place, name):
                return self.record(slot.place)
            slot = self.next(slot)
        return NULL

    cdef Record* checked(self, size_t place) except NULL:
        """Return the record at a place, of a table that others may have changed."""
        cdef Record* record = self.record(place)
        if self.borrows and not is_whole(record, self.end - place):
            raise ValueError(
                "a name in a table is damaged: the mapped file of the model was "
                "changed in place; write a new file, rename it, and load it"
            )
        return record

    cdef inline bint is_name(self, size_t place, PyObject* name) noexcept:
        """Return whether the record at a place describes a plain str."""
        cdef Record* record = self.record(place)
        cdef size_t form = form_of(name)
        # Records may be mapped from a file, which others can change.
        return (
            record.form == form
            and units(form) <= self.end - place
            and memcmp(record + 1, PyUnicode_DATA(name), form >> 2) == 0
        )

    cdef int take(self, size_t place, Record* record) except -1:
        """Give a slot to the record at a place; ValueError if its name has one."""
        cdef char* chars = <char*> (record + 1)
        cdef unsigned int hash = hash_of(chars, record.form >> 2, SEED)
        cdef Slot* slot = self.home(hash)
        cdef Record* other
        while slot.place:
            other = self.record(slot.place)
            if slot.hash == hash and other.form == record.form:
                if memcmp(other + 1, chars, record.form >> 2) == 0:
                    raise ValueError("a name is in a table twice")
            slot = self.next(slot)
        slot[0] = Slot(hash, <unsigned int> place)
        self.n_used += 1

    cdef int make_slots(self, size_t n_names) except -1:
        """Replace the slots of an empty table by enough for names."""
        cdef size_t n_slots = self.n_slots
        while 3 * n_names >= 2 * n_slots:
            n_slots *= 2
        cdef Slot* slots = <Slot*> calloc(n_slots, sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        free(self.slots)
        self.slots, self.n_slots = slots, n_slots

    cdef int keep(self, PyObject* name, unsigned int hash, int number) except -1:
        """Keep a name that has no number, or that gets another one."""
        cdef Record* record = self.find(name, hash)
        cdef size_t form = form_of(name)
        if record is not NULL:
            self.own()
            self.find(name, hash).number = number
            return 0
        if form >> 2 >= LONGEST:
            raise OverflowError("the name of a feature has more than 1 GiB")
        head = Record(<unsigned int> form, number)
        self.add(head, <char*> PyUnicode_DATA(name), hash)

    cdef int add(self, Record head, const char* chars, unsigned int hash) except -1:
        """Add the record of a name that is not here."""
        cdef size_t place = self.end, end = self.end + units(head.form)
        cdef Slot* slot
        if end > UINT_MAX:
            raise OverflowError("the names of features need more than 32 GiB")
        if end > self.room:
            self.enlarge(end)
        if 3 * self.n_used >= 2 * self.n_slots:
            self.grow()
        # Equal tables are equal bytes, also where a name ends within a unit.
        memset(self.record(end - 1), 0, UNIT)
        self.record(place)[0] = head
        memcpy(self.record(place) + 1, chars, head.form >> 2)
        self.end = end
        slot = self.free_slot(hash)
        slot[0] = Slot(hash, <unsigned int> place)
        self.n_used += 1

    cdef inline Slot* free_slot(self, unsigned int hash) noexcept:
        cdef Slot* slot = self.home(hash)
        while slot.place:
            slot = self.next(slot)
        return slot

    cdef int own(self) except -1:
        """Copy records that belong to an array, so that they can be written to."""
        if not self.borrows:
            return 0
        cdef char* records = <char*> realloc(NULL, self.room * UNIT)
        if records is NULL:
            raise MemoryError()
        memcpy(records, self.records, self.end * UNIT)
        self.records, self.owner, self.borrows = records, None, False

    cdef int enlarge(self, size_t end) except -1:
        self.own()
        cdef size_t room = max(end, self.room + self.room // 2)
        cdef char* records = <char*> realloc(self.records, room * UNIT)
        if records is NULL:
            raise MemoryError()
        self.records, self.room = records, room

    cdef int grow(self) except -1:
        cdef Slot* old = self.slots
        cdef size_t i, n_old = self.n_slots
        cdef Slot* slots = <Slot*> calloc(2 * n_old, sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        self.slots, self.n_slots = slots, 2 * n_old
        for i in range(n_old):
            if old[i].place:
                self.free_slot(old[i].hash)[0] = old[i]
        free(old)


cdef inline size_t form_of(PyObject* name) noexcept:
    """Return the bytes of a name, and in two more bits half the size of a character."""
    cdef size_t kind = PyUnicode_KIND(name)
    return PyUnicode_GET_LENGTH(name) * kind << 2 | kind >> 1


cdef inline size_t units(size_t form) noexcept:
    """Return the units of a record."""
    return 1 + ((form >> 2) + UNIT - 1) // UNIT


cdef str name_of(Record* record):
    cdef int kind = max(1, 2 * (record.form & 3))
    return PyUnicode_FromKindAndData(kind, record + 1, (record.form >> 2) // kind)


cdef bint is_whole(const Record* record, size_t n_units) noexcept:
    """Return whether a record ends within units, and is that of a str.

    Characters have the least size that holds all of them.
    """
    cdef size_t i, size = max(1, 2 * (record.form & 3)), n_bytes = record.form >> 2
    cdef const uint16_t* pairs = <const uint16_t*> (record + 1)
    cdef const uint32_t* quads = <const uint32_t*> (record + 1)
    cdef uint32_t largest = 0
    if record.form & 3 == 3 or n_bytes % size or units(record.form) > n_units:
        return False
    for i in range(n_bytes // size if size > 1 else 0):
        largest = max(largest, pairs[i] if size == 2 else quads[i])
    if size == 1:
        return True
    return 0xff < largest if size == 2 else 0xffff < largest <= 0x10ffff


cdef inline unsigned int hash_of_name(PyObject* name) except? 0:
    """Return the hash of a plain str, which has a unique form once it is ready."""
    PyUnicode_READY(name)
    return hash_of(<char*> PyUnicode_DATA(name), form_of(name) >> 2, SEED)


@cython.final
cdef class Lookup:
    """The tables of a vocabulary, and the vocabulary as dicts: each made when needed.

    Reading does not change them: threads may share one.

    Parameters
    ----------
    vocabulary : dict
        As ``SequenceVectorizer.vocabulary_``: all its names are plain str.

    Attributes
    ----------
    vocabulary : dict
        As ``SequenceVectorizer.vocabulary_``; not to be read while it grows.
    """

    def __init__(self, vocabulary):
        self.known = vocabulary

    @staticmethod
    def empty():
        """Return a lookup for an encoder that grows."""
        cdef Lookup lookup = Lookup(None)
        lookup.numeric, lookup.categorical, lookup.vectors = Table(), {}, {}
        return lookup

    def packed(self):
        """Return the tables as one array of int64, and how many units each has.

        Returns
        -------
        units : ndarray
            As `Table.packed`, one table behind the other.
        sizes : dict
            As a vocabulary, but a number of units in the place of each table.
        """
        self.fill()
        tables = [self.numeric.packed()]
        tables += [table.packed() for table in self.categorical.values()]
        categorical = zip(self.categorical, map(len, tables[1:]), strict=True)
        sizes = {
            "numeric": len(tables[0]),
            "categorical": dict(categorical),
            "vectors": self.vectors,
        }
        return np.concatenate(tables), sizes

    def names_of(self, wanted):
        """Return {number: name} of the features with ``wanted[number]``, for display.

        No dict of the other names is made.
        """
        self.fill()
        cdef Table table
        names, numbers = self.numeric.items(wanted)
        found = dict(zip(numbers, names, strict=True))
        for key, table in self.categorical.items():
            for name, number in zip(*table.items(wanted), strict=True):
                found[number] = f"{key}:{name}"
        for key, block in self.vectors.items():
            for component, number in enumerate(block):
                if 0 <= number < len(wanted) and wanted[number]:
                    found[number] = f"{key}[{component}]"
        return found

    @staticmethod
    def of_packed(units, sizes, seen=None):
        """Return the Lookup of the answers of `packed`, whose types are right.

        It sets ``seen[number]`` of each name. ValueError as of `Table.of_packed`.
        """
        cdef Lookup lookup = Lookup.empty()
        end = sizes["numeric"]
        lookup.numeric = Table.of_packed(units[:end], seen)
        for key, n_units in sizes["categorical"].items():
            begin, end = end, end + n_units
            lookup.categorical[key] = Table.of_packed(units[begin:end], seen)
        lookup.vectors = sizes["vectors"]
        return lookup

    @property
    def vocabulary(self):
        if self.known is None and self.numeric is not None:
            tables = {key: dict_of(table) for key, table in self.categorical.items()}
            self.known = {
                "numeric": dict_of(self.numeric),
                "categorical": tables,
                "vectors": self.vectors,
            }
        return self.known

    @cython.boundscheck(True)
    def renumbered(self, int[::1] numbers):
        """Return a Lookup of the features with ``numbers[number] >= 0``, their numbers.

        Components of arrays that have none keep -1.
        """
        self.fill()
        cdef Lookup kept = Lookup.empty()
        kept.numeric = self.numeric.renumbered(numbers)
        for key, table in self.categorical.items():
            table = table.renumbered(numbers)
            if len(table):
                kept.categorical[key] = table
        for key, block in self.vectors.items():
            kept.vectors[key] = [numbers[<int> j] if j >= 0 else -1 for j in block]
        return kept

    def in_tables(self):
        """Return this Lookup without the dicts, which take several times its memory."""
        self.fill()
        self.known = None
        return self

    def is_of(self, other):
        """Return whether another lookup, or a vocabulary, is this one in memory."""
        if self is other:
            return True
        vocabulary = (<Lookup> other).known if isinstance(other, Lookup) else other
        return vocabulary is not None and vocabulary is self.known

    def __reduce__(self):
        """Return an array, which joblib maps, and no dicts: these take far longer."""
        return Lookup.of_packed, self.packed()

    def __eq__(self, other):
        return isinstance(other, Lookup) and self.vocabulary == other.vocabulary

    cdef int fill(self) except -1:
        """Make the tables, once."""
        if self.numeric is None:
            categorical = self.known["categorical"]
            self.categorical = {key: Table(categorical[key]) for key in categorical}
            self.vectors = self.known["vectors"]
            self.numeric = Table(self.known["numeric"])


def dict_of(Table table):
    return dict(zip(*table.items(), strict=True))


@cython.final
cdef class Encoder:
    """Rows of a CSR array that grow item by item.

    Entries wait with names that they do not hold. So they are looked up before code of
    the user may run, which could let the names go.

    Parameters
    ----------
    lookup : Lookup
        Of the vocabulary: filled by this encoder alone if it grows.
    grows : bool
        Whether an unseen feature gets the next number, or is left out.
    n_features : int, default=0
        How many features of the vocabulary are numbered already.
    dtype : {np.float64, np.float32}
        Precision that values are rounded to before they are added up.

    Attributes
    ----------
    n_features : int
        How many features are numbered, here or before.
    n_rows : int
        How many items have been added, those not whole left out.
    has_zeros : bool
        Whether an entry was left out because its values sum to 0.
    """

    def __cinit__(
        self, Lookup lookup, *, bint grows, dtype, Py_ssize_t n_features=0
    ):
        lookup.fill()
        if grows:
            # The dicts are made again when they are read; others may hold the old.
            lookup.known, lookup.vectors = None, dict(lookup.vectors)
        self.n_features = n_features
        self.numeric, self.tables = lookup.numeric, lookup.categorical
        self.vectors = lookup.vectors
        self.grows = grows
        self.single = dtype is np.float32
        self.held, self.last_keys, self.last_tables = [], [], []
        self.begin()

    def __dealloc__(self):
        free(self.data)
        free(self.indices)
        free(self.indptr)

    cpdef add_strings(self, sequence):
        """Add a row for each item, a list, tuple or set of str or bytes."""
        cdef Py_ssize_t t
        for t, names in enumerate(sequence):
            fetch_item(sequence, t + 1)
            if PyList_CheckExact(names) or PyTuple_CheckExact(names):
                self.add_names(names)
            else:
                for name in in_order(names):
                    self.add(self.numeric, name, 1.0)
            self.end_row()

    cpdef add_dicts(self, sequence):
        """Add a row for each item, a dict."""
        cdef Py_ssize_t t
        for t, item in enumerate(sequence):
            fetch_values(sequence, t + 1)
            if type(item) is dict:
                self.add_dict(item)
            else:
                for key, value in item.items():
                    self.add_entry(key, value)
            self.end_row()

    def has_right_rows(self, n_features):
        """Return whether all values are finite, and features less than `n_features`."""
        return (
            self.is_finite and self.largest < n_features and self.n_entries <= INT_MAX
        )

    def take_rows(self):
        """Return data, indices and indptr of the rows, and begin with none again."""
        n_rows, n_entries = self.n_rows, self.n_entries
        data = handed_over(<void**> &self.data, n_entries, sizeof(double), b"d")
        indices = handed_over(<void**> &self.indices, n_entries, sizeof(int), b"i")
        indptr = handed_over(<void**> &self.indptr, n_rows + 1, sizeof(long long), b"q")
        self.begin()
        return data, indices, indptr

    cdef void clear(self) noexcept:
        """Begin with no rows again, in the same memory."""
        self.n_rows = self.n_entries = 0
        self.is_finite, self.largest = True, -1
        self.indptr[0] = 0

    cdef int begin(self) except -1:
        self.room = self.row_room = SHORT
        resize(<void**> &self.data, SHORT * sizeof(double))
        resize(<void**> &self.indices, SHORT * sizeof(int))
        resize(<void**> &self.indptr, SHORT * sizeof(long long))
        self.clear()

    cdef int add_names(self, names) except -1:
        """Add entries for a list or tuple; code of the user may change its length."""
        cdef Py_ssize_t i = 0
        cdef PyObject* name
        while i < PySequence_Fast_GET_SIZE(names):
            name = PySequence_Fast_ITEMS(names)[i]
            if PyUnicode_CheckExact(<object> name):
                self.wait(<PyObject*> self.numeric, name, 1.0)
            else:
                self.add(self.numeric, <object> name, 1.0)
            i += 1

    cdef int add_dict(self, dict item) except -1:
        cdef Py_ssize_t place = 0, i = 0, size = len(item)
        cdef PyObject* key
        cdef PyObject* value
        while PyDict_Next(item, &place, &key, &value):
            if not self.add_plain(key, value, i):
                self.flush()
                self.add_entry(<object> key, <object> value)
                if len(item) != size:
                    raise RuntimeError("dictionary changed size during iteration")
            i += 1

    cdef bint add_plain(self, PyObject* key, PyObject* value, Py_ssize_t i) except -1:
        """Add entry i of a dict, without holding it; False if it is not a plain one."""
        cdef PyObject* table
        cdef double number
        if not PyUnicode_CheckExact(<object> key):
            return False
        if PyUnicode_CheckExact(<object> value):
            table = self.table_at(i, key)
            if table is not NULL:
                self.wait(table, value, 1.0)
            return table is not NULL or not self.grows
        if value is <PyObject*> True:
            self.wait(<PyObject*> self.numeric, key, 1.0)
            return True
        if value is <PyObject*> False:
            return True
        if type(<object> value) is not float:
            return False
        number = <double> <object> value
        if number == 0.0 or not isfinite(number):
            return number == 0.0
        self.wait(<PyObject*> self.numeric, key, number)
        return True

    cdef PyObject* table_at(self, Py_ssize_t i, PyObject* key) except? NULL:
        """Return the table of the key at place i of a dict, NULL if there is none.

        The dicts of a program mostly have the same keys at the same places.
        """
        cdef PyObject* table
        if i < PyList_GET_SIZE(self.last_keys):
            if PyList_GET_ITEM(self.last_keys, i) is key:
                return PyList_GET_ITEM(self.last_tables, i)
        table = PyDict_GetItemWithError(self.tables, <object> key)
        if table is NULL or i >= WIDE:
            return table
        while PyList_GET_SIZE(self.last_keys) <= i:
            self.last_keys.append(None)
            self.last_tables.append(None)
        self.last_keys[i], self.last_tables[i] = <object> key, <object> table
        return table

    cdef inline int add_entry(self, key, value) except -1:
        if type(value) is str:
            return self.add_string(key, value)
        if value is True:
            return self.add(self.numeric, key, 1.0)
        if value is False:
            plain(key)
            return 0
        if type(value) is float or type(value) is int:
            return self.add_number(key, value)
        return self.add_other(plain(key), value)

    cdef int add_string(self, key, str value) except -1:
        key = plain(key)
        cdef PyObject* table = PyDict_GetItemWithError(self.tables, key)
        if table is not NULL:
            return self.add(<Table> table, value, 1.0)
        if self.grows:
            self.flush()
            self.tables[key] = Table()
            return self.add(self.tables[key], value, 1.0)

    cdef int add_number(self, key, value) except -1:
        cdef double number
        try:
            # Of a subclass of float it is its __float__ that counts.
            number = float(value)
        except (OverflowError, ValueError) as error:
            raise ValueError(f"feature {key!r}: {error}") from error
        if not isfinite(number):
            name = "NaN" if number != number else "infinity"
            raise ValueError(f"feature {key!r} is {name}; leave it out instead.")
        if number == 0.0:
            plain(key)
            return 0
        return self.add(self.numeric, key, number)

    cdef int add_other(self, str key, value) except -1:
        if isinstance(value, Mapping):
            self.add_nested(key, value)
        elif isinstance(value, (str, bytes)):
            self.add_string(key, plain(value))
        elif isinstance(value, NUMBERS):
            self.add_number(key, value)
        elif isinstance(value, np.ndarray):
            self.add_vector(key, value)
        elif isinstance(value, LISTS):
            try:
                names = [plain(name) for name in in_order(value)]
            except TypeError as error:
                raise TypeError(f"feature {key!r}: {error}") from error
            for name in names:
                self.add_string(key, name)
        else:
            raise TypeError(
                f"feature {key!r} has a value of type {type(value).__name__}; it must "
                "be a str, number, bool, dict, 1-D array, or list of str."
            )

    cdef int add_nested(self, str key, value) except -1:
        """Add a dict in a dict; outer ones wait on a list, not on the stack of C."""
        cdef list outer = []
        entries = prefixed(key, value)
        while True:
            for name, inner in entries:
                if isinstance(inner, Mapping):
                    break
                self.add_entry(name, inner)
            else:
                if not outer:
                    return 0
                entries = outer.pop()
                continue
            if len(outer) == DEEPEST:
                raise RecursionError(f"dicts are nested more than {DEEPEST} deep")
            outer.append(entries)
            entries = prefixed(name, inner)

    cdef int add_vector(self, str key, value) except -1:
        if value.ndim != 1 or value.dtype.kind not in "biuf":
            raise TypeError(
                f"feature {key!r} is an array of shape {value.shape} and dtype "
                f"{value.dtype}; it must be one-dimensional, of numbers."
            )
        if np.ma.is_masked(value):
            raise ValueError(f"feature {key!r} is an array with masked entries.")
        finite = np.isfinite(value)
        if not finite.all():
            component = int(np.argmin(finite))
            name = "NaN" if np.isnan(value[component]) else "infinity"
            raise ValueError(f"feature '{key}[{component}]' is {name}.")
        if key not in self.vectors:
            if not self.grows:
                return 0
            self.flush()
            self.vectors[key] = [self.next_number() for _ in range(len(value))]
        numbers = self.vectors[key]
        if len(numbers) != len(value):
            raise ValueError(
                f"feature {key!r} is an array of {len(value)} values, but had "
                f"{len(numbers)} where fit saw it first."
            )
        self.flush()
        for number, component in zip(numbers, value.tolist(), strict=True):
            if number >= 0:
                self.append(number, component)

    cdef int add(self, Table table, name, double value) except -1:
        """Add an entry for a feature, and hold its name."""
        if not PyUnicode_CheckExact(name):
            self.flush()
            name = plain(name)
        self.held.append(name)
        self.wait(<PyObject*> table, <PyObject*> name, value)

    cdef inline int wait(
        self, PyObject* table, PyObject* name, double value
    ) except -1:
        """Let an entry wait for its number; its name is a plain str."""
        cdef unsigned int hash = hash_of_name(name)
        cdef Entry* entry = &self.batch[self.n_waiting]
        prefetch((<Table> table).home(hash))
        entry.table, entry.name, entry.hash, entry.value = table, name, hash, value
        self.n_waiting += 1
        if self.n_waiting == BATCH:
            self.flush()

    cdef int flush(self) except -1:
        """Look the waiting entries up, in their order, and append them."""
        cdef int i, n = self.n_waiting
        cdef Entry* entry
        for i in range(n):
            entry = &self.batch[i]
            (<Table> entry.table).fetch_record(entry.hash)
        for i in range(n):
            entry = &self.batch[i]
            entry.number = self.number(<Table> entry.table, entry.name, entry.hash)
        # What allocates memory of Python may run code of the user.
        self.n_waiting = 0
        if PyList_GET_SIZE(self.held):
            self.held.clear()
        for i in range(n):
            if self.batch[i].number >= 0:
                self.append(self.batch[i].number, self.batch[i].value)

    cdef inline int number(
        self, Table table, PyObject* name, unsigned int hash
    ) except? -2:
        """Return the number of a feature, -1 if it was not seen in fit."""
        cdef Record* record = table.find(name, hash)
        cdef int number
        if record is not NULL:
            return record.number
        if not self.grows:
            return -1
        number = self.next_number()
        table.keep(name, hash, number)
        return number

    cdef int next_number(self) except -1:
        if self.n_features == INT_MAX:
            raise OverflowError(f"at most {INT_MAX} features are supported")
        self.n_features += 1
        return <int> self.n_features - 1

    cdef inline int append(self, int number, double value) except -1:
        if self.n_entries == self.room:
            self.room += self.room // 2
            resize(<void**> &self.data, self.room * sizeof(double))
            resize(<void**> &self.indices, self.room * sizeof(int))
        self.indices[self.n_entries] = number
        self.data[self.n_entries] = <float> value if self.single else value
        self.n_entries += 1

    cdef int end_row(self) except -1:
        """Sort the entries since the last row, add up equal ones, leave out zeros."""
        self.flush()
        cdef Py_ssize_t j = self.indptr[self.n_rows], end = self.n_entries
        cdef double total
        cdef int number
        self.sort(j)
        self.n_entries = j
        while j < end:
            number, total = self.indices[j], self.data[j]
            j += 1
            while j < end and self.indices[j] == number:
                total += self.data[j]
                j += 1
            if total == 0.0:
                self.has_zeros = True
                continue
            self.indices[self.n_entries], self.data[self.n_entries] = number, total
            self.n_entries += 1
            self.is_finite &= isfinite(total)
            self.largest = max(self.largest, number)
        self.n_rows += 1
        if self.n_rows == self.row_room:
            self.row_room += self.row_room // 2
            resize(<void**> &self.indptr, self.row_room * sizeof(long long))
        self.indptr[self.n_rows] = self.n_entries

    cdef int sort(self, Py_ssize_t begin) except -1:
        """Sort the entries from begin on by number; equal ones keep their order."""
        cdef Py_ssize_t j = begin + 1, end = self.n_entries
        while j < end and self.indices[j - 1] <= self.indices[j]:
            j += 1
        if j >= end:
            return 0
        if end - begin <= SHORT:
            sort_few(&self.indices[begin], &self.data[begin], <int> (end - begin))
            return 0
        indices = np.asarray(<int[:end - begin:1]> &self.indices[begin])
        data = np.asarray(<double[:end - begin:1]> &self.data[begin])
        order = np.argsort(indices, kind="stable")
        indices[:], data[:] = indices[order], data[order]


cdef void sort_few(int* numbers, double* values, int n) noexcept nogil:
    """Sort pairs by number, stably; without branches, which would be guessed wrong."""
    cdef int old[SHORT]
    cdef double old_values[SHORT]
    cdef int n_before[SHORT]
    cdef int i, j, before
    memcpy(old, numbers, n * sizeof(int))
    memcpy(old_values, values, n * sizeof(double))
    memset(n_before, 0, n * sizeof(int))
    for i in range(n):
        before = 0
        for j in range(n):
            before += old[j] < old[i]
        j = before + n_before[before]
        n_before[before] += 1
        numbers[j], values[j] = old[i], old_values[i]


cdef int resize(void** block, size_t n_bytes) except -1:
    """Make a block longer or shorter, in place where it lies if that is possible."""
    cdef void* resized = realloc(block[0], n_bytes)
    if resized is NULL:
        raise MemoryError()
    block[0] = resized


cdef handed_over(void** block, Py_ssize_t length, size_t size, bytes code):
    """Return a block as an array of `length` numbers, which frees it at its end."""
    cdef Py_ssize_t room = max(1, length)
    cdef cython.view.array owner
    resize(block, room * size)
    owner = cython.view.array((room,), size, code, allocate_buffer=False)
    owner.data, owner.callback_free_data = <char*> block[0], free
    block[0] = NULL
    return np.asarray(owner)[:length]


cdef inline str plain(name):
    """Return the name of a feature as a plain str, without what a subclass adds.

    Bytes are text in UTF-8.
    """
    if PyUnicode_CheckExact(name):
        return <str> name
    if isinstance(name, bytes):
        try:
            return name.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{name!r:.40} is not UTF-8: {error.reason}") from error
    if not isinstance(name, str):
        raise TypeError(
            f"{name!r:.40} is of type {type(name).__name__}; names of features and "
            "strings in a list must be str."
        )
    return str.__str__(name)


cdef prefixed(str key, value):
    """Return an iterator over the entries of a dict that is the value of key."""
    entries = {f"{key}:{plain(name)}": inner for name, inner in value.items()}
    return iter(entries.items())


cdef in_order(names):
    """Return names, sorted if it is a set: its own order changes between runs."""
    if isinstance(names, (list, tuple)):
        return names
    return sorted([plain(name) for name in names])


cpdef type_of_items(sequence):
    """Return what a list or tuple is made of, if that is plain.

    Returns
    -------
    type
        dict if all its items are dicts; list if all are lists or tuples that are empty
        or begin with a str; None for an empty one, and for other items.
    """
    if not PyList_CheckExact(sequence) and not PyTuple_CheckExact(sequence):
        return None
    cdef Py_ssize_t t, n = PySequence_Fast_GET_SIZE(sequence)
    cdef PyObject** items = PySequence_Fast_ITEMS(sequence)
    cdef Py_ssize_t n_dicts = 0
    for t in range(n):
        if t + 2 * AHEAD < n:
            prefetch(items[t + 2 * AHEAD])
        if t + AHEAD < n:
            fetch_entries(items[t + AHEAD])
        if PyDict_CheckExact(<object> items[t]):
            n_dicts += 1
        elif not is_list(items[t]) or not begins_with_str(<object> items[t]):
            return None
    if n == 0 or 0 < n_dicts < n:
        return None
    return dict if n_dicts else list


cdef inline bint is_list(PyObject* item) noexcept:
    return PyList_CheckExact(<object> item) or PyTuple_CheckExact(<object> item)


cdef inline bint begins_with_str(names) noexcept:
    return PySequence_Fast_GET_SIZE(names) == 0 or PyUnicode_CheckExact(
        <object> PySequence_Fast_ITEMS(names)[0]
    )


cdef int fetch_item(sequence, Py_ssize_t t) except -1:
    """Have the strings of item t on their way, if they are plainly in a list."""
    cdef PyObject* names
    cdef Py_ssize_t i
    if PyList_CheckExact(sequence) and t < PyList_GET_SIZE(sequence):
        names = PySequence_Fast_ITEMS(sequence)[t]
        if is_list(names):
            for i in range(PySequence_Fast_GET_SIZE(<object> names)):
                fetch_string(PySequence_Fast_ITEMS(<object> names)[i])


cdef int fetch_values(sequence, Py_ssize_t t) except -1:
    """Have the values of item t on their way, if it is plainly a dict in a list."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t place = 0
    if PyList_CheckExact(sequence) and t < PyList_GET_SIZE(sequence):
        item = <object> PyList_GET_ITEM(sequence, t)
        if PyDict_CheckExact(item):
            while PyDict_Next(item, &place, &key, &value):
                fetch_string(value)


cdef inline void fetch_entries(PyObject* item) noexcept:
    """Have the first entries of a list, tuple or dict on their way."""
    cdef int i
    if is_list(item):
        prefetch(PySequence_Fast_ITEMS(<object> item))
    elif PyDict_CheckExact(<object> item):
        for i in range(LINES):
            prefetch(<char*> (<PyDictObject*> item).ma_keys + i * CACHE_LINE)


cdef inline void fetch_string(PyObject* string) noexcept:
    prefetch(string)
    prefetch(<char*> string + CACHE_LINE)
