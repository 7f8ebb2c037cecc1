"""The folders that `pack` writes and `train` takes."""

import os
from copy import copy
from typing import NamedTuple

from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import PackedCorpus
from skcrf_sdca.persistence._corpus import is_corpus

from ._columns import LABEL
from ._options import READING, refuse

# What `pack` has decided, or needs the text.
_OF_TEXT = (*READING, "templates", "repair", "prior", "search")


class About(NamedTuple):
    """What a folder says of its text: names of steps, what cut tokens, the scheme."""

    step: str = "features"
    label: str = LABEL
    tokens: str | None = None
    scheme: str = "none"


def is_packed(options):
    """Return whether the files of `train` are one folder that `pack` has written."""
    is_one = any(map(is_corpus, options.files))
    if is_one and len(options.files) > 1:
        options.usage_error("a packed folder is trained from alone: pack all files.")
    return is_one


def opened(options):
    """Return the PackedCorpus that `train` takes, and what it is About."""
    refuse(options, _OF_TEXT, "needs the text, and a packed folder has its rows.")
    (path,) = options.files
    if os.path.dirname(os.path.realpath(options.output)) == os.path.realpath(path):
        raise ValueError(
            f"{options.output}: it would be in the packed folder, which train reads; "
            "choose another --output."
        )
    corpus = PackedCorpus.open(path)
    known = {n: v for n, v in corpus.metadata.items() if n in About._fields}
    return corpus, About(**known)


def described(corpus):
    """Return the sizes of a PackedCorpus, for a message."""
    X = corpus.X
    return (
        f"packed: {len(X):,} sentences, {X.n_positions:,} tokens, {X.n_features:,} "
        "features"
    )


def fitted_tagger(corpus, about, crf, **others):
    """Return the Tagger of a CRF fitted to a PackedCorpus, for new text."""
    if corpus.features is None:
        steps = [(about.step, corpus.vectorizer)]
        crf.fit(corpus.X, corpus.y, **others)
    else:
        steps = [(about.step, corpus.features)]
        corpus.fit(crf, **others)
    return Tagger([*steps, (about.label, crf)], tokens=about.tokens)


def of_new_file(options, name):
    """Return options that say nothing of how a file is read: its name and model do."""
    own = copy(options)
    own.files = [name]
    return own
