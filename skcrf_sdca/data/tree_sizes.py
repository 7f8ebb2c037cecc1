"""Checks that the trees of a sentence can be searched, before anything is allocated.

A search, and a sum over all trees, takes the cube of the number of words.
"""

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.words import place
from skcrf_sdca._utils.work import check_ends

# The tables of searches and sums; scores of siblings, and weights or marginals.
BYTES_OF_ARC, BYTES_OF_SIBLING = 88, 16


def check_sentences(n_words, rules, n_best=1):
    """Raise ValueError or MemoryError if the trees of a sentence take too much.

    ``n_words`` are the numbers of words of all sentences, and ``n_best`` says how many
    trees of each are listed.
    """
    if len(n_words):
        longest = int(np.argmax(n_words))
        n = int(n_words[longest])
        check_trees_of_one(
            n, rules, n_best, f"{place('X', longest)} has {n} words, and"
        )


def check_trees_of_one(n_words, rules, n_best, where):
    """Raise the same for one sentence; the message begins with `where` it is."""
    # Each further tree takes two searches, or two for each of its arcs.
    n_trees = min(n_best, float(n_words + 1) ** min(n_words, 20))
    n_searches = max(1, 2 * (n_trees - 1) * (1 if rules.projective else n_words))
    need = f"{where} its {'best tree' if n_best == 1 else f'{n_best} best trees'}"
    check_ends(
        n_searches * float(n_words) ** 3,
        need,
        "cut long sentences, or leave them out"
        + ("" if n_best == 1 else ", or take fewer trees of each"),
    )
    check_fits(BYTES_OF_ARC * n_words * (n_words + 1), need, "cut long sentences")
    if rules.siblings:
        check_fits(
            BYTES_OF_SIBLING * float(n_words) ** 3 / 3.0,
            f"{where} the scores of its siblings",
            "cut long sentences, or take templates without s",
        )
