"""
Explain why a token got its label
=================================

In "Manville is a building and forest products concern", the part-of-speech tagger took
"concern" for a verb, and the sum of all features favours the begin of a verb phrase.
Nevertheless the chunker predicts correctly that "concern" belongs to the noun phrase.
``explain`` shows why: it lists the contributions to the difference between the scores
of two label paths. Here the neighbouring labels decide.

The data are the same as in ``chunking_conll2000.py``. The example takes about ten
seconds, and saves the figure as ``explain_tag.png``::

    python examples/text/explain_tag.py
"""

import matplotlib.pyplot as plt
import numpy as np

from chunking_conll2000 import FEATURES
from skcrf_sdca import OEGCRF, make_tagger
from skcrf_sdca.datasets import fetch_conll2000

# %%
# Train a model and label the sentence
# ------------------------------------

X, y = fetch_conll2000(return_X_y=True)
X, y = X[:2000], y[:2000]
tagger = make_tagger(FEATURES, OEGCRF(random_state=0)).fit(X, y)

X_test = fetch_conll2000(subset="test").X
words = "Manville is a building and forest products concern .".split()
(sentence,) = (s for s in X_test if [token["word"] for token in s] == words)
position = words.index("concern")
(labels,) = tagger.predict([sentence])
for token, label in zip(sentence, labels, strict=True):
    print(f"{token['word']:10} {token['pos']:4} {label}")

# %%
# Explain the label
# -----------------
# ``explain`` compares the predicted path with the best one that has another label here,
# or the label that you name. These two paths differ in this label alone. The result is
# a table; its rows are named tuples.

explanation = tagger.explain(sentence, position)
print(f"\n{explanation}")

label, reference = explanation.label, explanation.reference
contributions = {row.feature: row.contributions[label] for row in explanation}
neighbours = [name for name in contributions if name.startswith(("<after", "<before"))]
alone = sum(value for name, value in contributions.items() if name not in neighbours)
total = explanation.scores[0]

# %%
# Plot the contributions
# ----------------------
#
# .. image:: /images/examples/explain_tag.png

FOR, AGAINST, GREY = "#0072B2", "#D55E00", "#707070"
# Show the largest contributions only.
weight = {name: (name in neighbours, abs(v)) for name, v in contributions.items()}
shown = sorted(contributions.items(), key=lambda item: weight[item[0]])[-12:]
shown.sort(key=lambda item: item[1])
others = total - sum(value for _, value in shown)
names = [f"{len(contributions) - len(shown)} others", *(name for name, _ in shown)]
values = np.array([others, *(value for _, value in shown)])

figure, ax = plt.subplots(figsize=(8.5, 5), layout="constrained")
bars = ax.barh(names, values, color=np.where(values > 0, FOR, AGAINST), height=0.7)
for bar, name in zip(bars, names, strict=True):
    bar.set_hatch("///" if name in neighbours else "")
    bar.set_edgecolor("white")
ax.bar_label(bars, fmt="%+.2f", padding=3, color=GREY, fontsize="small")
ax.axvline(0, color="black", linewidth=0.8)
ax.margins(x=0.12)
ax.set_title(
    f'"concern" is {label}, not {reference}: score {alone:+.2f} without its neighbours '
    f"(hatched), {total:+.2f} with them",
    fontsize="medium",
    weight="bold",
    loc="right",
)
ax.set_xlabel(f"contribution to the score of {label} against {reference}  (nats)")
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(axis="y", length=0)

figure.savefig("explain_tag.png", dpi=150)
if plt.get_backend().lower() != "agg":
    plt.show()

# sphinx_gallery_thumbnail_path = 'images/examples/explain_tag.png'
