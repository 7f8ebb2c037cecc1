"""
Handwritten words (OCR letters)
===============================

This example reads handwritten words from images of their letters. A conditional random
field has a weight for every pair of letters, and learns from 6,251 words which letter
follows which. So it makes fewer mistakes than a classifier of single letters that gets
the same images.

The data are ``ocr/letter.data.gz``, which ``fetch_ocr_letters`` reads or downloads. The
example takes about twenty seconds::

    python examples/signals/ocr_words.py --output ocr_words.png
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import OEGCRF
from skcrf_sdca.datasets import fetch_ocr_letters
from skcrf_sdca.plotting import TransitionDisplay

parser = argparse.ArgumentParser(description="Learn which letter follows which.")
parser.add_argument("--output", type=Path, default="ocr_words.png")
output = parser.parse_args().output

# %%
# Words and single letters
# ------------------------
# If the same estimator gets a table of letters, it is a classifier of single letters.

X, y = fetch_ocr_letters(return_X_y=True)
X_test, y_test = fetch_ocr_letters(subset="test", return_X_y=True)
words = OEGCRF(tol=1e-3, random_state=0).fit(X, y)
letters = OEGCRF(tol=1e-3, random_state=0).fit(np.concatenate(X), np.concatenate(y))
word_accuracy = words.score(X_test, y_test)
letter_accuracy = letters.score(np.concatenate(X_test), np.concatenate(y_test))
print(f"test accuracy, letter by letter  {letter_accuracy:.1%}")
print(f"test accuracy, words             {word_accuracy:.1%}")

# %%
# The largest and smallest weights of letter pairs
# ------------------------------------------------

print(f"\n{words.transition_features()}")

# %%
# Plot the weights of all letter pairs
# ------------------------------------
#
# .. image:: /images/examples/ocr_words.png

figure, ax = plt.subplots(figsize=(8.5, 8), layout="constrained")
TransitionDisplay.from_estimator(words, ax=ax)
figure.suptitle(
    "Learnt spelling: with weights of letter pairs, "
    f"{word_accuracy:.1%} of the letters are read right, without {letter_accuracy:.1%}",
    weight="bold",
    fontsize="medium",
)
figure.savefig(output, dpi=110)
print(f"\nfigure saved as {output}")
if plt.get_backend().lower() != "agg":
    plt.show()

# sphinx_gallery_thumbnail_path = 'images/examples/ocr_words.png'
