"""Draw docs/images/drift.png: Dutch names in other articles, and without capitals.

    python examples/benchmarks/drift_picture.py docs/images/drift.png

needs the corpus in the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse

import matplotlib.pyplot as plt

from skcrf_sdca import CRF, drift_report, make_tagger
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.plotting import DriftDisplay
from skcrf_sdca.text import TokenFeatures


def sentences(subset):
    """Return the words and the labels of a part of the corpus."""
    X, y = fetch_conll2002(subset=subset, return_X_y=True)
    return [[token["word"] for token in sentence] for sentence in X], y


def main():
    """Print the reports, and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="the file to write")
    arguments = parser.parse_args()
    tagger = make_tagger(TokenFeatures(), CRF(random_state=0)).fit(*sentences("train"))
    old, new = sentences("testa")[0], sentences("testb")[0]
    lower = [[word.lower() for word in sentence] for sentence in new]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    cases = {"other articles": new, "the same without capitals": lower}
    for ax, (title, X) in zip(axes, cases.items(), strict=True):
        report = drift_report(tagger, old, X)
        print(f"{title}\n{report}\n")
        DriftDisplay.from_report(report, ax=ax)
        ax.set_title(title)
    axes[1].set_yticklabels([])
    figure.savefig(arguments.path, dpi=100)


if __name__ == "__main__":
    main()
