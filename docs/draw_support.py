"""Draw images/support.png: strings of digits, and the labellings with a probability.

python docs/draw_support.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences

SHOWN = (2, 3, 9, 21)


def main():
    """Draw the strings in rows, each with its support on the right."""
    data = load_digit_sequences(n_train=100, n_test=100)
    crf = SDCACRF(
        0.01, loss="smooth_hinge", tol=1e-2, max_iter=200, random_state=0
    ).fit(data.X_train, data.y_train)
    figure, rows = plt.subplots(
        len(SHOWN), 2, figsize=(7.0, 4.2), width_ratios=(2, 1), layout="constrained"
    )
    chosen = [data.X_test[i] for i in SHOWN]
    for (left, right), x, support in zip(
        rows, chosen, crf.support(chosen), strict=True
    ):
        left.imshow(np.hstack(np.reshape(x, (-1, 8, 8))), cmap="gray_r")
        left.axis("off")
        right.axis("off")
        for k, (labels, p) in enumerate(support):
            text = f"{''.join(map(str, labels))}  {p:.2f}"
            right.text(0.0, 0.9 - 0.28 * k, text, family="monospace", va="top")
    target = Path(__file__).parent / "images" / "support.png"
    figure.savefig(target, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
