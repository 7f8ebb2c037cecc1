"""Labels that are several columns of a treebank: how they are joined, and taken apart.

The label of the columns UPOS and FEATS is such as "NOUN|Case=Nom|Number=Sing".
"""

SEPARATOR = "|"
EMPTY = "_"


def columns_of(label):
    """Return the names of the columns that a label is made of.

    >>> from skcrf_sdca.text.formats.label_columns import columns_of
    >>> columns_of("upos|feats")
    ['upos', 'feats']
    """
    return label.split(SEPARATOR)


def joined(values):
    """Return the label of the values of its columns, without empty ones at the end.

    Raise ValueError if a value that is not the last has the separator.

    >>> from skcrf_sdca.text.formats.label_columns import joined
    >>> joined(["NOUN", "Case=Nom|Number=Sing"]), joined(["ADP", "_"])
    ('NOUN|Case=Nom|Number=Sing', 'ADP')
    """
    values = list(values)
    while len(values) > 1 and values[-1] == EMPTY:
        values.pop()
    for value in values[:-1]:
        if SEPARATOR in value:
            raise ValueError(
                f"{value!r:.80} has the character {SEPARATOR} between the columns of "
                "a label: name its column last"
            )
    return SEPARATOR.join(values)


def taken_apart(label, n_columns):
    """Return the value of each column of a label that `joined` has made.

    >>> from skcrf_sdca.text.formats.label_columns import taken_apart
    >>> taken_apart("NOUN|Case=Nom|Number=Sing", 2), taken_apart("ADP", 2)
    (['NOUN', 'Case=Nom|Number=Sing'], ['ADP', '_'])
    """
    values = label.split(SEPARATOR, n_columns - 1)
    return values + (n_columns - len(values)) * [EMPTY]
