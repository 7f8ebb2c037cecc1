"""The columns of the features of arcs, made when they are needed: see _arc_rows.pyx."""


# Codes in place of tokens: of the root, before the first one, after the last one.
cdef enum Code:
    ROOT = 1
    BEGIN = 2
    END = 3


# Arcs have one of 7 classes of lengths, and 2 directions.
cdef enum:
    N_LENGTHS = 7
    N_CONTEXTS = 14
    LAST_KIND = 15


# A column of the tokens at or near the head or the word of an arc.
cdef struct Part:
    bint at_head
    int shift
    int column


# Its first parts up to ``mixed`` are all of the head, or all of the word.
cdef struct Template:
    int first           # part
    int mixed
    int last
    bint at_head        # whether the first parts are of the head
    int between         # the column of the tokens between, -1 without any


# The columns of a hash table; the mask is n_columns - 1 of a power of 2, else 0.
cdef struct Table:
    unsigned long long n_columns
    unsigned long long mask


# Words that have the same parts of a template, up to one that was seen last.
cdef struct Group:
    int kind            # of the arc to that word
    int n_seen          # values between
    double total        # of their weights


# Weights of one label: those of visits online, and of all others.
ctypedef fused weight:
    float
    double


cdef class ArcRows:
    cdef readonly Py_ssize_t longest            # words of a sentence
    cdef readonly Py_ssize_t most_columns       # of an arc
    cdef Py_ssize_t n                           # words of the sentence taken last
    cdef Py_ssize_t[::1] offsets                # of sentences
    cdef unsigned long long[:, ::1] codes       # of all tokens, by column
    cdef Part[::1] parts
    cdef Template[::1] templates
    # The numbers of templates of one node, of both, and of tokens between as well.
    cdef int[::1] of_one, of_two, of_between
    cdef Table table
    # By m - h + longest, where the arc is from head h to word m.
    cdef int[::1] context                       # the number of its direction and length
    cdef int[:, ::1] kinds                      # its direction; with its length too
    # Of the sentence taken last; nodes are the root 0 and the words from 1.
    cdef unsigned long long[:, ::1] near        # of the nodes, one before, one after
    cdef unsigned long long[:, ::1] start       # the hash of the first parts, by node
    cdef int[:, ::1] value                      # the first token with the same code
    cdef int[:, ::1] group                      # of a template: with the same parts
    # Of one head; values are those of a column.
    cdef unsigned long long[::1] state          # hashes of a template, by word
    cdef int[::1] head_of                       # the head of the values, -1 for none
    cdef unsigned long long[:, :, ::1] found    # values after and before the head
    cdef int[:, ::1] n_found                    # of them, those before a word
    cdef int[::1] seen
    cdef int turn
    cdef int n_side                             # values on one side of the head
    cdef unsigned int[::1] bases                # of hashes whose weights are asked for
    cdef Group[::1] groups                      # by the first word of a group
    cdef int[::1] first_new                     # of the values of a word, by word
    cdef double[:, :, ::1] sums                 # of weights of one node

    cdef void take(self, Py_ssize_t i) noexcept nogil
    cdef void set_start(self, Py_ssize_t t) noexcept nogil
    cdef void set_values(self, Py_ssize_t column) noexcept nogil
    cdef void set_groups(self, Py_ssize_t t) noexcept nogil
    cdef Py_ssize_t row(self, Py_ssize_t h, Py_ssize_t m, int* out) noexcept nogil
    cdef void set_scores(self, const float* w, double* out) noexcept nogil
    cdef void add_scores(self, const weight* w, double* out) noexcept nogil
    cdef void ask_for_node(self, Py_ssize_t node, const weight* w) noexcept nogil
    cdef void add_nodes(self, const weight* w, double* out) noexcept nogil
    cdef void add_node(
        self, const weight* w, unsigned int base, double* sums) noexcept nogil
    cdef void add_pairs(
        self, Py_ssize_t h, const weight* w, double* out) noexcept nogil
    cdef void add_between(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w, double* out) noexcept nogil
    cdef void ask_for_new(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w) noexcept nogil
    cdef void set_states(
        self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t first,
        Py_ssize_t last) noexcept nogil
    cdef void set_between(self, Py_ssize_t column, Py_ssize_t h) noexcept nogil
    cdef void pass_word(
        self, Py_ssize_t column, Py_ssize_t m, Py_ssize_t side) noexcept nogil


cdef inline unsigned int base_of(
    unsigned long long state, Table table
) noexcept nogil:
    """Return the column of a hash without a context."""
    # The last bits of a product are the worst ones.
    state >>= 20
    return state & table.mask if table.mask else state % table.n_columns


cdef inline unsigned int in_context(
    unsigned int base, unsigned int kind, unsigned int n_columns
) noexcept nogil:
    """Return the column of a hash in a context, given the one without."""
    base += kind
    while base >= n_columns:
        base -= n_columns
    return base


cdef inline unsigned long long mix(
    unsigned long long code, unsigned long long other
) noexcept nogil:
    """Return a hash of two."""
    code = (code ^ other) * <unsigned long long> 0x9E3779B97F4A7C15
    return (code ^ (code >> 29)) * <unsigned long long> 0xC2B2AE3D27D4EB4F
