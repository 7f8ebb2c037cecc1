"""Two CoNLL shared tasks that are benchmarks of sequence labelling."""

import io
from typing import Any, Literal

from sklearn.utils import Bunch

from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.text import read_conll

from ._download import DOWNLOAD_ERRORS, DOWNLOAD_OPTIONS, RemoteFile, read_remote

_CLIPS = "https://www.clips.uantwerpen.be/"
_CNTS = "https://www.cnts.ua.ac.be/"
_MIRROR = "https://raw.githubusercontent.com/teropa/nlp/master/resources/corpora/"

# Independent users of the files published the digests: of the decompressed files of the
# task's page for CoNLL-2000, and of the mirror's copies, as in NLTK, for CoNLL-2002.
_CHUNKING_DIGESTS = {
    "train": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
    "test": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
}
_ENTITY_DIGESTS = {
    "nl": {
        "train": "0a419dcb356b62c8cff38515675550b3d5dbea9f45a1c4956328dbd5cc7fcdbc",
        "testa": "51259d4bfe52462f211d3d0b67173a7ecbfa296e199f6c6bd0895f4c78155057",
        "testb": "2aa748edb82e6f9c4d82e57a4bed69ded18cfa4803122c75070335d513517488",
    },
    "es": {
        "train": "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008",
        "testa": "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87",
        "testb": "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016",
    },
}
_PREFIXES = {"nl": "ned", "es": "esp"}

_CHUNKING_DESCR = """\
CoNLL-2000 shared task: chunking
--------------------------------

Sentences of the Wall Street Journal with part-of-speech tags (of the Brill tagger)
and chunk labels in the IOB2 form: B-NP begins a noun phrase, I-NP continues it, O is
outside all chunks. 8,936 training sentences (211,727 tokens, sections 15 to 18) and
2,012 test sentences (47,377 tokens, section 20). For research use.
https://www.clips.uantwerpen.be/conll2000/chunking/
"""
_ENTITY_DESCR = """\
CoNLL-2002 shared task: named entities
--------------------------------------

Newspaper text with part-of-speech tags and entity labels in the IOB2 form for
persons (PER), organisations (ORG), locations (LOC) and others (MISC). Dutch: four
editions of De Morgen of 2000; 15,806, 2,895 and 5,195 sentences in train, testa and
testb. Spanish: news wire of EFE of May 2000; 8,323, 1,915 and 1,517 sentences. The
marks -DOCSTART- between the documents of the Dutch data are left out. For research
use. https://www.clips.uantwerpen.be/conll2002/ner/
"""

_TOKENS = """
        X : list of lists of dict
            For each sentence and token, ``{"word": str, "pos": str}``.
"""
_DOCS = {"tokens": DOWNLOAD_OPTIONS + _TOKENS, "errors": DOWNLOAD_ERRORS}


@shared_docs(_DOCS)
def fetch_conll2000(
    *,
    subset: Literal["train", "test"] = "train",
    data_home: FilePath | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the chunking data of the CoNLL-2000 shared task (classification).

    The file is read from the first place that has it: ``conll2000/train.txt.gz`` or
    ``test.txt.gz``, or the same unpacked and without ``.gz``, in the folder that the
    environment variable ``SKCRF_SDCA_DATA`` names; ``data_home``; the page of the task
    or a mirror.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        8,936 or 2,012 sentences, with 22 or 19 of the 23 labels of the task.
    {tokens}
        y : list of lists of str
            Chunk labels such as ``"B-NP"``.
        target_names : list of str
            The labels that occur in ``y``, sorted.
    {errors}

    Notes
    -----
    Downloads are checked by the SHA-256 digest of the decompressed text.

    References
    ----------
    Tjong Kim Sang, Buchholz, "Introduction to the CoNLL-2000 shared task: chunking",
    CoNLL 2000.

    Examples
    --------
    >>> from skcrf_sdca.datasets import fetch_conll2000
    >>> X, y = fetch_conll2000(return_X_y=True)  # doctest: +SKIP
    >>> X[0][0], y[0][0]  # doctest: +SKIP
    ({'word': 'Confidence', 'pos': 'NN'}, 'B-NP')
    """
    _check_option("subset", subset, _CHUNKING_DIGESTS)
    remote = RemoteFile(
        path=f"conll2000/{subset}.txt.gz",
        urls=(
            f"{_CLIPS}conll2000/chunking/{subset}.txt.gz",
            f"{_CNTS}conll2000/chunking/{subset}.txt.gz",
            f"{_MIRROR}conll2000/{subset}.txt",
        ),
        sha256=_CHUNKING_DIGESTS[subset],
    )
    content = read_remote(remote, data_home, download_if_missing)
    return _as_dataset(content, _CHUNKING_DESCR, return_X_y)


@shared_docs(_DOCS)
def fetch_conll2002(
    *,
    language: Literal["nl", "es"] = "nl",
    subset: Literal["train", "testa", "testb"] = "train",
    data_home: FilePath | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the named entity data of the CoNLL-2002 shared task (classification).

    The file is read from the first place that has it: ``conll2002/ned.train.gz``
    (``ned.testa.gz``, ``esp.train.gz`` ...), or the same unpacked and without ``.gz``,
    in the folder that the environment variable ``SKCRF_SDCA_DATA`` names;
    ``data_home``; the page of the task or a mirror. The folder ``corpora`` of NLTK's
    data is such a folder.

    Parameters
    ----------
    language : {"nl", "es"}, default="nl"
        Dutch or Spanish.
    subset : {"train", "testa", "testb"}, default="train"
        Training data, data for development, and data of the final test.
    {tokens}
        y : list of lists of str
            Entity labels such as ``"B-PER"``.
        target_names : list of str
            The labels that occur in ``y``, sorted: 9 of them.
    {errors}

    Notes
    -----
    The content of downloads must have the SHA-256 digest of the mirror's copy, the same
    as in NLTK. If the copy on the page of the task differs in a single byte, the mirror
    is used. Files may be encoded in ISO 8859-1, in UTF-8, or twice in UTF-8, as
    some copies are (in which "België" has nine characters); the returned text is the
    same.

    References
    ----------
    Tjong Kim Sang, "Introduction to the CoNLL-2002 shared task: language-independent
    named entity recognition", CoNLL 2002.

    Examples
    --------
    >>> from skcrf_sdca.datasets import fetch_conll2002
    >>> X, y = fetch_conll2002(subset="testa", return_X_y=True)  # doctest: +SKIP
    >>> X[0][0], y[0][0]  # doctest: +SKIP
    ({'word': 'Dat', 'pos': 'Pron'}, 'O')
    """
    _check_option("language", language, _ENTITY_DIGESTS)
    _check_option("subset", subset, _ENTITY_DIGESTS[language])
    name = f"{_PREFIXES[language]}.{subset}"
    remote = RemoteFile(
        path=f"conll2002/{name}.gz",
        urls=(f"{_CLIPS}conll2002/ner/data/{name}", f"{_MIRROR}conll2002/{name}"),
        sha256=_ENTITY_DIGESTS[language][subset],
    )
    content = read_remote(remote, data_home, download_if_missing)
    return _as_dataset(content, _ENTITY_DESCR, return_X_y)


def _check_option(name, value, known):
    if value not in known:
        raise ValueError(f"{name} must be one of {sorted(known)}; got {value!r}.")


def _as_dataset(content, description, return_X_y):
    # Only blanks separate columns: words may contain other white space.
    X, y = read_conll(io.StringIO(_decode(content)), delimiter=" ")
    if return_X_y:
        return X, y
    return Bunch(
        X=X,
        y=y,
        target_names=sorted({label for path in y for label in path}),
        DESCR=description,
    )


def _decode(content):
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")
    try:
        # This succeeds only for ASCII, which it does not change, and for text that was
        # encoded twice.
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
