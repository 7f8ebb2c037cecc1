"""
Plot the transition matrix
==========================

These strings of digits were typed with a finger that moves from key to adjacent key.
The model is trained on images and labels and does not know the keypad. Nevertheless,
its transition weights are large for adjacent keys, which have a frame in the figure,
and small for all other pairs. scikit-learn contains the data. The example takes some
seconds.
"""

import matplotlib.pyplot as plt

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.plotting import TransitionDisplay

KEYPAD = ["123", "456", "789", " 0 "]
place = {
    int(k): (r, c)
    for r, row in enumerate(KEYPAD)
    for c, k in enumerate(row)
    if k != " "
}

data = load_digit_sequences(n_test=1)
crf = SDCACRF(random_state=0).fit(data.X_train, data.y_train)

# %%
# Table of transitions
# --------------------
# A table has colours here and in a notebook.

crf.transition_features()[:8]

# %%
# Plot of transitions
# -------------------

display = TransitionDisplay.from_estimator(crf, boundaries=False)
for a, (row, column) in place.items():
    for b, (other_row, other_column) in place.items():
        if abs(row - other_row) + abs(column - other_column) == 1:
            frame = plt.Rectangle((b - 0.5, a - 0.5), 1, 1, fill=False, linewidth=1.5)
            display.ax_.add_patch(frame)
display.figure_.suptitle("Adjacent keys have a frame", weight="bold")
plt.show()
