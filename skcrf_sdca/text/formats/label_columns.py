"""Labels that are several columns of a treebank: how they are joined, and taken apart.

The label of the columns UPOS and FEATS is such as "NOUN|Case=Nom|Number=Sing". A column
may also be one attribute of FEATS or MISC: "misc:NER" is B-PER in "NER=B-PER|Gloss=a".
"""

SEPARATOR = "|"
EMPTY = "_"
# Columns that have attributes.
ATTRIBUTED = ("feats", "misc")


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


def column_of(name):
    """Return the column that a name is of, which may be one of an attribute in it.

    >>> from skcrf_sdca.text.formats.label_columns import column_of
    >>> column_of("misc:NER"), column_of("upos")
    ('misc', 'upos')
    """
    column, _, attribute = name.partition(":")
    return column if attribute and column in ATTRIBUTED else name


def value_of(row, name):
    """Return the value of a column, or of an attribute in one; "_" if it has none.

    >>> from skcrf_sdca.text.formats.label_columns import value_of
    >>> row = {"misc": "NER=B-PER|SpaceAfter=No", "upos": "PROPN"}
    >>> value_of(row, "misc:NER"), value_of(row, "upos"), value_of(row, "misc:Gloss")
    ('B-PER', 'PROPN', '_')
    """
    if name in row:
        return row[name]
    column = column_of(name)
    start = f"{name.removeprefix(column)[1:]}="
    values = (x for x in row[column].split(SEPARATOR) if x.startswith(start))
    return next(values, start + EMPTY).removeprefix(start)


def values_of(rows, name):
    """Return the value that each row has for a name, as `value_of` does.

    >>> from skcrf_sdca.text.formats.label_columns import values_of
    >>> values_of([{"misc": "NER=O"}, {"misc": "_"}], "misc:NER")
    ['O', '_']
    """
    if column_of(name) == name:
        return [row[name] for row in rows]
    return [value_of(row, name) for row in rows]


def with_value(row, name, value):
    """Return a row with a value of a column, or of an attribute in one.

    >>> from skcrf_sdca.text.formats.label_columns import with_value
    >>> with_value({"misc": "NER=O|Gloss=a"}, "misc:NER", "B-PER")
    {'misc': 'NER=B-PER|Gloss=a'}
    >>> with_value({"misc": "NER=O"}, "misc:NER", "_")
    {'misc': '_'}
    """
    column = column_of(name)
    if column == name:
        return row | {name: value}
    start = f"{name.removeprefix(column)[1:]}="
    attributes = [x for x in row[column].split(SEPARATOR) if x != EMPTY]
    places = [k for k, x in enumerate(attributes) if x.startswith(start)]
    # An attribute that occurs again would be read where the first is taken away.
    others = [x for x in attributes if not x.startswith(start)]
    at = places[0] if places else len(others)
    others[at:at] = [start + value] if value != EMPTY else []
    return row | {column: SEPARATOR.join(others) or EMPTY}


def without_missing(labels, names):
    """Return labels of columns with None where they are empty.

    FEATS is empty where a word has no features, which is known.

    >>> from skcrf_sdca.text.formats.label_columns import without_missing
    >>> without_missing(["N", "_"], ["upos"]), without_missing(["_"], ["feats:Case"])
    (['N', None], ['_'])
    """
    if EMPTY not in labels or all(column_of(name) == "feats" for name in names):
        return labels
    return [None if label == EMPTY else label for label in labels]
