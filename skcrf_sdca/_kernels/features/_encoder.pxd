"""Feature dicts and lists of strings to rows: see _encoder.pyx."""

cimport cython
from cpython.object cimport PyObject

cdef enum:
    # Number of entries that are looked up together.
    BATCH = 64


cdef struct Slot:
    unsigned int hash
    unsigned int place              # of the record, in units; 0 if the slot is free


cdef struct Record:
    # The head of the name of a feature; its characters follow.
    unsigned int form               # see `form_of`
    int number


@cython.final
cdef class Table:
    cdef Slot* slots
    cdef size_t n_slots
    cdef size_t n_used
    cdef char* records
    cdef size_t end                 # of the records, in units
    cdef size_t room
    cdef object owner               # of the records, if they are not of the table
    cdef bint borrows               # whether they are not

    cdef Slot* home(self, unsigned int hash) noexcept
    cdef Slot* next(self, Slot* slot) noexcept
    cdef Record* record(self, size_t place) noexcept
    cdef void fetch_record(self, unsigned int hash) noexcept
    cdef Record* find(self, PyObject* name, unsigned int hash) noexcept
    cdef Record* checked(self, size_t place) except NULL
    cdef bint is_name(self, size_t place, PyObject* name) noexcept
    cdef int take(self, size_t place, Record* record) except -1
    cdef int make_slots(self, size_t n_names) except -1
    cdef int keep(self, PyObject* name, unsigned int hash, int number) except -1
    cdef int add(self, Record head, const char* chars, unsigned int hash) except -1
    cdef Slot* free_slot(self, unsigned int hash) noexcept
    cdef int own(self) except -1
    cdef int enlarge(self, size_t end) except -1
    cdef int grow(self) except -1


@cython.final
cdef class Lookup:
    cdef object known               # the vocabulary, None before it is made
    cdef Table numeric              # None before `fill`
    cdef dict categorical           # {key: Table}
    cdef dict vectors

    cdef int fill(self) except -1


cdef struct Entry:
    PyObject* table                 # a Table that the encoder holds
    PyObject* name                  # held by the item, or by `held`
    unsigned int hash
    int number
    double value


@cython.final
cdef class Encoder:
    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_rows
    cdef readonly bint has_zeros
    cdef bint is_finite             # the values in all rows
    cdef int largest                # number of a feature in the rows, -1 without any
    cdef Py_ssize_t n_entries
    cdef Table numeric
    cdef dict tables                # {key: Table} of the categorical features
    cdef dict vectors
    cdef bint grows
    cdef bint single
    cdef Entry batch[BATCH]         # entries that wait for their numbers
    cdef int n_waiting
    cdef list held                  # names that no other object may hold
    cdef list last_keys             # of the dict before, by their places
    cdef list last_tables           # None for a key without a table
    # Entries and ends of rows, with room for more than they hold.
    cdef double* data
    cdef int* indices
    cdef long long* indptr
    cdef Py_ssize_t room
    cdef Py_ssize_t row_room

    cpdef add_strings(self, sequence)
    cpdef add_dicts(self, sequence)
    cdef void clear(self) noexcept
    cdef int begin(self) except -1
    cdef int add_names(self, names) except -1
    cdef int add_dict(self, dict item) except -1
    cdef bint add_plain(self, PyObject* key, PyObject* value, Py_ssize_t i) except -1
    cdef PyObject* table_at(self, Py_ssize_t i, PyObject* key) except? NULL
    cdef int add_entry(self, key, value) except -1
    cdef int add_string(self, key, str value) except -1
    cdef int add_number(self, key, value) except -1
    cdef int add_other(self, str key, value) except -1
    cdef int add_nested(self, str key, value) except -1
    cdef int add_vector(self, str key, value) except -1
    cdef int add(self, Table table, name, double value) except -1
    cdef int wait(
        self, PyObject* table, PyObject* name, double value) except -1
    cdef int flush(self) except -1
    cdef int number(self, Table table, PyObject* name, unsigned int hash) except? -2
    cdef int next_number(self) except -1
    cdef int append(self, int number, double value) except -1
    cdef int end_row(self) except -1
    cdef int sort(self, Py_ssize_t begin) except -1


cpdef type_of_items(sequence)
