"""The features of arcs in plain NumPy, for ArcRows: all arcs of a sentence at once."""

import numpy as np

PRIMES = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
# Arcs of up to 5 words have their length, then there are 6 to 10, and more.
LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7])


def rows_of_arcs(codes, templates, n_features):
    """Return the sorted columns of the arcs [head * n + word] of a sentence, lists.

    ``codes`` are arrays of the columns of its n tokens, and templates lists of parts
    (where, shift, column), where "h", "m" or "between".
    """
    n = len(codes[0])
    head, word = np.ogrid[: n + 1, 1 : n + 1]
    length = np.minimum(abs(head - word), len(LENGTHS) - 1)
    direction = np.where(head < word, np.uint64(0), np.uint64(8))
    contexts = direction, direction + LENGTHS[length].astype(np.uint64)
    rows = [[] for _ in range(n * (n + 1))]
    for t, parts in enumerate(templates):
        for code, is_there in _of_template(parts, codes, n, np.uint64(t + 1)):
            for context in contexts:
                columns = ((code >> np.uint64(20)) + context) % np.uint64(n_features)
                for h, m in np.argwhere((head != word) & is_there).tolist():
                    rows[h * n + m].append(int(columns[h, m]))
    return [sorted(row) for row in rows]


def _of_template(parts, codes, n, code):
    """Yield hashes [head, word] of a template, and where it is there."""
    column = next((column for at, _, column in parts if at == "between"), None)
    for at, shift, name in parts:
        if at != "between":
            own = _near(codes[name], shift)
            code = _mix(code, own[:, np.newaxis] if at == "h" else own[np.newaxis, 1:])
    if column is None:
        yield code, np.ones((n + 1, n), dtype=bool)
        return
    head, word = np.ogrid[: n + 1, 1 : n + 1]
    low, high = np.minimum(head, word), np.maximum(head, word)
    for value in np.unique(codes[column]):
        # How many of the first tokens have it; the root is none of them.
        count = np.append(0, np.cumsum(codes[column] == value))
        yield _mix(code, value), count[np.maximum(high - 1, 0)] > count[low]


def _mix(code, other):
    """Return a hash of two: of arrays that broadcast."""
    with np.errstate(over="ignore"):
        code = (code ^ other) * PRIMES[0]
        return (code ^ (code >> np.uint64(29))) * PRIMES[1]


def _near(codes, shift):
    """Return the code at, before or after the root and each token, (n + 1,)."""
    root, begin, end = (np.uint64(value) for value in (1, 2, 3))
    padded = np.concatenate([[begin, root], codes, [end]]).astype(np.uint64)
    first = 1 + shift
    return padded[first : first + len(codes) + 1]


def columns_of_sibling(codes, templates, nodes, n_features):
    """Return the columns of a word m with head h and sibling s, h itself for none.

    ``nodes`` are h, m and s, by their letters. Templates are lists of pairs (number,
    parts), with the number of a template from 1.
    """
    h, m, s = (nodes[at] for at in "hms")
    direction = 0 if h < m else 8
    contexts = direction, direction + int(LENGTHS[min(abs(m - s), len(LENGTHS) - 1)])
    found = []
    for number, parts in templates:
        code = np.uint64(number)
        for letter in "hms":
            for at, shift, name in parts:
                if at == letter:
                    is_none = at == "s" and s == h
                    own = 2 if is_none else _near(codes[name], shift)[nodes[at]]
                    code = _mix(code, np.uint64(own))
        found += [(int(code >> np.uint64(20)) + c) % n_features for c in contexts]
    return found
