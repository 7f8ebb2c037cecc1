"""Data sets: simulated, made from data of scikit-learn, or downloaded.

`make_chains` and `load_digit_sequences` need no download; the functions named fetch_*
read public corpora from a local folder or from the web. `image_graph` makes a graph of
an image.
"""

from skcrf_sdca.data.images import image_graph

from ._chains import make_chains
from ._conll import fetch_conll2000, fetch_conll2002
from ._digits import load_digit_sequences
from ._ocr import fetch_ocr_letters

__all__ = [
    "fetch_conll2000",
    "fetch_conll2002",
    "fetch_ocr_letters",
    "image_graph",
    "load_digit_sequences",
    "make_chains",
]
