"""
What a reader of handwriting learns of spelling
===============================================

A conditional random field that reads words letter by letter has a weight for every pair
of letters. Nobody tells it how English is spelt: it learns that from 6,251 words, and
reads better for it than a classifier of single letters, which sees the same images.

It needs the data of the task, ``ocr/letter.data.gz`` (or downloads them), see
``fetch_ocr_letters``. It takes some twenty seconds::

    python examples/ocr_words.py --output ocr_words.png
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
# On a table of letters the same estimator is a classifier of single letters.

X, y = fetch_ocr_letters(return_X_y=True)
X_test, y_test = fetch_ocr_letters(subset="test", return_X_y=True)
words = OEGCRF(tol=1e-3, random_state=0).fit(X, y)
letters = OEGCRF(tol=1e-3, random_state=0).fit(np.concatenate(X), np.concatenate(y))
word_accuracy = words.score(X_test, y_test)
letter_accuracy = letters.score(np.concatenate(X_test), np.concatenate(y_test))
print(f"test accuracy, letter by letter  {letter_accuracy:.1%}")
print(f"test accuracy, words             {word_accuracy:.1%}")

# %%
# The pairs that it likes and dislikes most
# -----------------------------------------

print(f"\n{words.transition_features()}")

# %%
# All pairs
# ---------
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
