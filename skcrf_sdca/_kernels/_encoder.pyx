# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Feature dicts and lists of strings to CSR rows, in one pass.

Owns the meaning of each type of value in a dict, the numbers that features get, and
the arrays of the rows, which grow in place and are handed over without a copy.

Names are made plain str before they are looked up, so that no lookup runs the code of
a subclass. This pass mostly waits for the memory that holds the strings: the entries of
an item are gathered first, then looked up together. It is one long module, so that the
compiler sees the whole pass.
"""

cimport cython

from cpython.dict cimport PyDict_GetItemWithError
from cpython.list cimport PyList_CheckExact, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.sequence cimport PySequence_Fast_GET_SIZE, PySequence_Fast_ITEMS
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.limits cimport INT_MAX
from libc.math cimport isfinite
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from collections.abc import Mapping, Set
from decimal import Decimal
from numbers import Real

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define SKCRF_FETCH(address) __builtin_prefetch(address)
    #else
    #define SKCRF_FETCH(address) ((void)(address))
    #endif
    """
    void fetch "SKCRF_FETCH"(const void* address) noexcept nogil

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* string) noexcept
    int PyUnicode_KIND(PyObject* string) noexcept
    void* PyUnicode_DATA(PyObject* string) noexcept

cdef enum:
    # So many entries are looked up together.
    BATCH = 64
    # The arrays start with this room; up to so many entries are sorted by insertion.
    SHORT = 64
    # A dict that contains itself must come to an end.
    DEEPEST = 1000
    # Two of them hold the head and the first characters of a string.
    CACHE_LINE = 64

# Names, for isinstance: of a tuple that is written in the call, Cython takes an error
# (Ctrl-C, while an abstract class is asked) for a yes.
cdef tuple NUMBERS = (np.bool_, Real, Decimal)
cdef tuple LISTS = (list, tuple, Set)


cdef struct Slot:
    PyObject* name                  # NULL if the slot is free
    unsigned int hash
    int number


@cython.final
cdef class Table:
    """A dict of numbers with open slots.

    A dict cannot tell where it will look next; here the slot of a string and the string
    in it can be fetched while others are looked up.

    Parameters
    ----------
    numbers : dict
        {str: number}.
    """

    cdef dict numbers
    cdef Slot* slots
    cdef size_t n_slots
    cdef size_t n_used

    def __cinit__(self, dict numbers):
        cdef unsigned int bits
        self.numbers = numbers
        self.n_slots = 8
        self.slots = <Slot*> calloc(self.n_slots, sizeof(Slot))
        if self.slots is NULL:
            raise MemoryError()
        for name, number in numbers.items():
            if not PyUnicode_CheckExact(name):
                raise TypeError("the names in a vocabulary must be plain str")
            bits = <unsigned int> hash(name)
            self.keep(self.find(<str> name, bits), <str> name, bits, number)

    def __dealloc__(self):
        cdef size_t i
        if self.slots is NULL:
            return
        for i in range(self.n_slots):
            if self.slots[i].name is not NULL:
                Py_DECREF(<object> self.slots[i].name)
        free(self.slots)

    cdef inline Slot* home(self, unsigned int hash) noexcept:
        """Return the slot where the search for a string begins."""
        return self.slots + (hash & (self.n_slots - 1))

    cdef Slot* find(self, str name, unsigned int hash) noexcept:
        """Return the slot of a string, or the free one where it belongs."""
        cdef Slot* slot = self.home(hash)
        while slot.name is not NULL:
            if slot.hash == hash and equal(slot.name, <PyObject*> name):
                break
            slot = self.next(slot)
        return slot

    cdef inline Slot* next(self, Slot* slot) noexcept:
        slot += 1
        return self.slots if slot == self.slots + self.n_slots else slot

    cdef int keep(self, Slot* slot, str name, unsigned int hash, int number) except -1:
        """Fill a free slot."""
        Py_INCREF(name)
        slot[0] = Slot(<PyObject*> name, hash, number)
        self.n_used += 1
        if 3 * self.n_used > 2 * self.n_slots:
            self.grow()

    cdef int grow(self) except -1:
        cdef Slot* old = self.slots
        cdef Slot* slot
        cdef size_t i, n_old = self.n_slots
        cdef Slot* slots = <Slot*> calloc(2 * n_old, sizeof(Slot))
        if slots is NULL:
            raise MemoryError()
        self.slots, self.n_slots = slots, 2 * n_old
        for i in range(n_old):
            if old[i].name is not NULL:
                slot = self.home(old[i].hash)
                while slot.name is not NULL:
                    slot = self.next(slot)
                slot[0] = old[i]
        free(old)


@cython.final
cdef class Lookup:
    """Tables of a vocabulary, made when they are first asked for.

    Reading does not change them: threads may share one.

    Parameters
    ----------
    vocabulary : dict
        As ``SequenceVectorizer.vocabulary_``: all its names are plain str.
    """

    cdef readonly dict vocabulary
    cdef Table numeric              # None before `fill`
    cdef dict categorical           # {key: Table}

    def __init__(self, dict vocabulary):
        self.vocabulary = vocabulary

    def __reduce__(self):
        return Lookup, (self.vocabulary,)

    def __eq__(self, other):
        return isinstance(other, Lookup) and self.vocabulary == other.vocabulary

    cdef int fill(self) except -1:
        """Make the tables, once."""
        if self.numeric is None:
            categorical = self.vocabulary["categorical"]
            self.categorical = {key: Table(categorical[key]) for key in categorical}
            self.numeric = Table(self.vocabulary["numeric"])


cdef struct Entry:
    PyObject* table                 # a Table that the encoder holds
    PyObject* name                  # a reference of its own
    unsigned int hash
    double value


@cython.final
cdef class Encoder:
    """Rows of a CSR array that grow item by item.

    Parameters
    ----------
    lookup : Lookup
        Of the vocabulary: filled by this encoder alone if it grows.
    grows : bool
        Whether an unseen feature gets the next number, or is left out.
    dtype : {np.float64, np.float32}
        Precision that values are rounded to before they are added up.

    Attributes
    ----------
    n_features : int
        How many features have been numbered here.
    n_rows : int
        How many items have been added, those not whole left out.
    """

    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_rows
    cdef Py_ssize_t n_entries
    cdef Table numeric
    cdef dict categorical
    cdef dict tables                # {key: Table} of the categorical features
    cdef dict vectors
    cdef bint grows
    cdef bint single
    cdef Entry batch[BATCH]         # entries that wait for their numbers
    cdef int n_waiting
    # With room for more than they hold.
    cdef double[::1] data
    cdef int[::1] indices
    cdef long long[::1] indptr

    def __cinit__(self, Lookup lookup, *, bint grows, dtype):
        lookup.fill()
        self.numeric, self.tables = lookup.numeric, lookup.categorical
        self.categorical = lookup.vocabulary["categorical"]
        self.vectors = lookup.vocabulary["vectors"]
        self.grows = grows
        self.single = dtype is np.float32
        self.begin()

    def __dealloc__(self):
        self.clear()

    def add_strings(self, sequence):
        """Add a row for each item, a list, tuple or set of str."""
        cdef Py_ssize_t t
        for t, names in enumerate(sequence):
            fetch_item(sequence, t + 1)
            for name in in_order(names):
                self.add(self.numeric, name, 1.0)
            self.end_row()

    def add_dicts(self, sequence):
        """Add a row for each item, a dict."""
        for item in sequence:
            self.add_dict(item)
            self.end_row()

    def take_rows(self):
        """Return data, indices and indptr of the rows, and begin with none again."""
        data = resized(self.data.base, self.n_entries)
        indices = resized(self.indices.base, self.n_entries)
        indptr = resized(self.indptr.base, self.n_rows + 1)
        self.begin()
        return data, indices, indptr

    cdef int begin(self) except -1:
        self.n_rows = self.n_entries = 0
        self.data = np.empty(SHORT)
        self.indices = np.empty(SHORT, dtype=np.int32)
        self.indptr = np.zeros(SHORT, dtype=np.int64)

    cdef int add_dict(self, item) except -1:
        for key, value in item.items():
            self.add_entry(key, value)

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
            self.categorical[key] = {}
            self.tables[key] = Table(self.categorical[key])
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
        elif isinstance(value, str):
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
        """Add an entry for a feature that is known, or that may become so."""
        name = plain(name)
        if self.n_waiting == BATCH:
            self.flush()
        cdef unsigned int bits = <unsigned int> hash(name)
        fetch(table.home(bits))
        Py_INCREF(name)
        self.batch[self.n_waiting] = Entry(
            <PyObject*> table, <PyObject*> name, bits, value
        )
        self.n_waiting += 1

    cdef int flush(self) except -1:
        """Look the waiting entries up, in their order."""
        cdef int i, number
        cdef Entry* entry
        for i in range(self.n_waiting):
            entry = &self.batch[i]
            fetch_string((<Table> entry.table).home(entry.hash).name)
        for i in range(self.n_waiting):
            entry = &self.batch[i]
            number = self.number(<Table> entry.table, <str> entry.name, entry.hash)
            if number >= 0:
                self.append(number, entry.value)
        self.clear()

    cdef void clear(self) noexcept:
        """Let the waiting entries go."""
        cdef int i
        for i in range(self.n_waiting):
            Py_DECREF(<object> self.batch[i].name)
        self.n_waiting = 0

    cdef int number(self, Table table, str name, unsigned int hash) except? -2:
        """Return the number of a feature, -1 if it was not seen in fit."""
        cdef Slot* slot = table.find(name, hash)
        cdef int number
        if slot.name is not NULL:
            return slot.number
        if not self.grows:
            return -1
        number = self.next_number()
        table.numbers[name] = number
        table.keep(slot, name, hash, number)
        return number

    cdef int next_number(self) except -1:
        if self.n_features == INT_MAX:
            raise OverflowError(f"at most {INT_MAX} features are supported")
        self.n_features += 1
        return <int> self.n_features - 1

    cdef int append(self, int number, double value) except -1:
        cdef Py_ssize_t n = self.n_entries
        if n == self.data.shape[0]:
            self.data = resized(self.data.base, n + n // 2)
            self.indices = resized(self.indices.base, n + n // 2)
        self.indices[n] = number
        self.data[n] = <float> value if self.single else value
        self.n_entries = n + 1

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
            if total != 0.0:
                self.indices[self.n_entries], self.data[self.n_entries] = number, total
                self.n_entries += 1
        self.n_rows += 1
        if self.n_rows == self.indptr.shape[0]:
            self.indptr = resized(self.indptr.base, self.n_rows + self.n_rows // 2)
        self.indptr[self.n_rows] = self.n_entries

    cdef int sort(self, Py_ssize_t begin) except -1:
        """Sort the entries from begin on by number; equal ones keep their order."""
        cdef Py_ssize_t j = begin + 1, k, end = self.n_entries
        cdef double value
        cdef int number
        while j < end and self.indices[j - 1] <= self.indices[j]:
            j += 1
        if end - j > SHORT:
            order = np.argsort(self.indices.base[begin:end], kind="stable")
            for array in (self.indices.base, self.data.base):
                array[begin:end] = array[begin:end][order]
            return 0
        for j in range(j, end):
            number, value = self.indices[j], self.data[j]
            k = j
            while k > begin and self.indices[k - 1] > number:
                self.indices[k], self.data[k] = self.indices[k - 1], self.data[k - 1]
                k -= 1
            self.indices[k], self.data[k] = number, value


cdef resized(array, Py_ssize_t length):
    """Return the array with another length, grown or cut in place where it lies."""
    array.resize(length, refcheck=False)
    return array


cdef inline str plain(name):
    """Return the name of a feature as a plain str, without what a subclass adds."""
    if PyUnicode_CheckExact(name):
        return <str> name
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


cdef inline bint equal(PyObject* a, PyObject* b) noexcept:
    """Compare two plain str that have been hashed, which makes their form unique."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(a)
    return a == b or (
        n == PyUnicode_GET_LENGTH(b)
        and PyUnicode_KIND(a) == PyUnicode_KIND(b)
        and memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), n * PyUnicode_KIND(a)) == 0
    )


cdef int fetch_item(sequence, Py_ssize_t t) except -1:
    """Have the strings of item t on their way, if they are plainly in a list."""
    cdef PyObject* names
    cdef Py_ssize_t i
    if PyList_CheckExact(sequence) and t < PyList_GET_SIZE(sequence):
        names = PySequence_Fast_ITEMS(sequence)[t]
        if PyList_CheckExact(<object> names) or PyTuple_CheckExact(<object> names):
            for i in range(PySequence_Fast_GET_SIZE(<object> names)):
                fetch_string(PySequence_Fast_ITEMS(<object> names)[i])


cdef inline void fetch_string(PyObject* string) noexcept:
    fetch(string)
    fetch(<char*> string + CACHE_LINE)
