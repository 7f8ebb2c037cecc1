"""The features of words in trees, by which relations of arcs are told apart.

Of a word m these are its head h and the head of that, g, its first and last child, and
its neighbours among the children of the head. All words of all sentences are hashed at
once, into the columns of one sparse matrix.
"""

from itertools import zip_longest

import numpy as np

# A part is a node and a column of its token, or a number. Nodes are the word m, its
# head h, the head of that g, the words before and after m, the leftmost child l and the
# rightmost child r of m, and the children of h before and after m, s and t. Columns are
# those of the word w, of its tag x, and of another, mostly coarser, tag u.
TEMPLATES = """
m.w side
m.x side
m.u length
h.w m.x side
m.w h.x side
h.w m.w
h.x m.x length
h.u m.u before.w
h.u m.u after.w
before.x m.x after.x
h.u m.u g.u side
m.u l.w side
l.w m.w
l.u r.u m.u h.u side
h.u m.u s.x side
h.u m.u t.x side
s.w h.u m.u
h.w s.u m.u t.u
""".split("\n")[1:-1]
PARTS = sorted({part for template in TEMPLATES for part in template.split()})


# The numbers of the longest templates first, and of the parts at each place: all
# templates are hashed at once, which is faster for few tokens.
ORDER = sorted(range(len(TEMPLATES)), key=lambda t: -len(TEMPLATES[t].split()))
PLACES = [
    np.array([PARTS.index(part) for part in own if part])
    for own in zip_longest(*(TEMPLATES[t].split() for t in ORDER))
]
# Tokens that are hashed at once.
BLOCK = 2**12
# A power of two; relations of English lose nothing by 2^16.
N_FEATURES = 2**17
PRIMES = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
# Matrices of models number their values in 32 bits.
MOST_WORDS = np.iinfo(np.int32).max // len(TEMPLATES)
# Codes of what is no token.
ROOT, NONE = 1, 2
# Arcs of up to 5 words have their length, then there are 6 to 10, and more.
LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7], dtype=np.uint64)


def relation_columns(codes, n_words, heads):
    """Return the features of the arcs into all words, the columns of each that are 1.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_tokens), uint64
        The hashes of columns of tokens: of the word first, then of its tag; the last
        one is that of the coarser tag.
    n_words : ndarray of shape (n,)
        How many words each sentence has.
    heads : ndarray of shape (n_tokens,)
        The heads of all words, counted from 1 in their sentence, 0 for the root.

    Returns
    -------
    columns : ndarray of shape (n_tokens, n_templates), int32
        Each row ascends.

    Raises
    ------
    ValueError
        If there are more words than `MOST_WORDS`.
    """
    n_tokens = len(heads)
    if n_tokens > MOST_WORDS:
        raise ValueError(
            f"the sentences have {n_tokens} words, but features of relations are made "
            f"for at most {MOST_WORDS} in one call: pass fewer sentences."
        )
    nodes = _nodes(n_words, heads)
    others = np.array([ROOT, NONE], dtype=np.uint64)
    columns = {
        name: np.append(codes[min(k, len(codes) - 1)], others)
        for name, k in {"w": 0, "x": 1, "u": len(codes) - 1}.items()
    }
    word = np.arange(n_tokens)
    shift = np.where(heads > 0, nodes["h"] - word, word - _firsts(n_words) + 1)
    is_left = (nodes["h"] > word) & (heads > 0)
    numbers = {"side": is_left * np.uint64(8)}
    distance = np.minimum(abs(shift), len(LENGTHS) - 1)
    numbers["length"] = numbers["side"] + LENGTHS[distance]
    values = np.empty((len(PARTS), n_tokens), dtype=np.uint64)
    for i, part in enumerate(PARTS):
        node, _, column = part.partition(".")
        values[i] = columns[column][nodes[node]] if column else numbers[part]
    found = np.empty((n_tokens, len(TEMPLATES)), dtype=np.int32)
    for begin in range(0, n_tokens, BLOCK):
        _hash(values[:, begin : begin + BLOCK], found[begin : begin + BLOCK])
    # In the form that models take, so that they need not sort and copy.
    found.sort(axis=1)
    return found


def _hash(values, found):
    """Write the columns of tokens, given the values of all parts of templates."""
    numbers = np.array(ORDER, dtype=np.uint64)[:, np.newaxis] + np.uint64(1)
    state = np.repeat(numbers, values.shape[1], axis=1)
    for parts in PLACES:
        longer = state[: len(parts)]
        longer[:] = _mix(longer, values[parts])
    found[:, ORDER] = ((state >> np.uint64(20)) % np.uint64(N_FEATURES)).T


def relation_rows(codes, n_words, heads):
    """Return the features of `relation_columns`, a csr_array (n_tokens, N_FEATURES)."""
    # Only here: a server makes the columns alone, without SciPy.
    from scipy.sparse import csr_array

    columns = relation_columns(codes, n_words, heads)
    bounds = np.arange(0, columns.size + 1, len(TEMPLATES), dtype=np.int32)
    rows = np.ones(columns.size), columns.ravel(), bounds
    return csr_array(rows, shape=(len(columns), N_FEATURES))


def _firsts(n_words):
    """Return the first token of the sentence of each token."""
    ends = np.cumsum(n_words)
    return np.repeat(ends - n_words, n_words)


def _nodes(n_words, heads):
    """Return the token of each node of the templates, for all words.

    The token n_tokens is the root, and n_tokens + 1 is none.
    """
    n, first = len(heads), _firsts(n_words)
    root, none = n, n + 1
    word = np.arange(n)
    head = np.where(heads > 0, first + heads - 1, root)
    above = np.append(head, [none, none])
    # Children of a head stand together, from left to right; those of the root of a
    # sentence are apart from those of others.
    parent = np.where(heads > 0, head, n + 1 + first)
    order = np.lexsort((word, parent))
    is_next = np.append(parent[order][1:] == parent[order][:-1], False)[:n]
    siblings = {name: np.full(n, none) for name in "st"}
    siblings["t"][order[is_next]] = order[1:][is_next[:-1]]
    siblings["s"][order[1:][is_next[:-1]]] = order[is_next]
    leftmost, rightmost = np.full(n + 1, none), np.full(n + 1, -1)
    np.minimum.at(leftmost, head, word)
    np.maximum.at(rightmost, head, word)
    last = first + np.repeat(n_words, n_words) - 1
    return {
        "m": word,
        "h": head,
        "g": above[head],
        "before": np.where(word > first, word - 1, none),
        "after": np.where(word < last, word + 1, none),
        "l": np.where(leftmost[:n] < word, leftmost[:n], none),
        "r": np.where(rightmost[:n] > word, rightmost[:n], none),
        **siblings,
    }


def _mix(code, other):
    """Return a hash of two arrays."""
    code = code ^ other
    code *= PRIMES[0]
    code ^= code >> np.uint64(29)
    code *= PRIMES[1]
    return code
