"""
CRFs from the beginning
=======================

What a conditional random field is, in six pictures: a classifier of tokens, the rule
that it breaks, a chain of labels, its best path, its probabilities, and how a fit knows
that it is done. All numbers are of models that this page fits to ten short sentences,
which takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF, DualityGapMonitor
from skcrf_sdca.selection import alpha_path

TEXTS = """\
we/O live/O in/O New/B-LOC York/I-LOC
York/B-LOC is/O an/O old/O town/O
New/O rules/O for/O old/O roads/O
they/O flew/O to/O York/B-LOC today/O
a/O New/O road/O to/O Bern/B-LOC
New/B-LOC York/I-LOC is/O not/O old/O
she/O saw/O New/B-LOC Bern/I-LOC today/O
New/O trains/O to/O York/B-LOC
we/O saw/O an/O old/O road/O in/O Bern/B-LOC
in/O New/B-LOC York/I-LOC rules/O are/O old/O"""
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#707070"

words, y = [], []
for line in TEXTS.splitlines():
    pairs = [token.split("/") for token in line.split()]
    words.append([word for word, _ in pairs])
    y.append([label for _, label in pairs])
X = [[[f"word={word}"] for word in sentence] for sentence in words]

sentence = ["they", "saw", "New", "York", "today"]
x = [[[f"word={word}"] for word in sentence]]

# %%
# 1. A classifier of tokens
# -------------------------
#
# Names of places are to be found: "B-LOC" begins one, "I-LOC" goes on, "O" is outside.
# The simplest way is to classify each token alone by its features, here the word. That
# is logistic regression, a CRF whose sequences have one token each.

rows = [[item] for features in X for item in features]
labels = [[label] for own in y for label in own]
alone = SDCACRF(alpha=0.003, random_state=0).fit(rows, labels)
proba = np.array([alone.predict_proba([[item]])[0][0] for item in x[0]])
names = alone.classes_.tolist()


def show_table(axes, values, title):
    """Draw a probability for each label and token."""
    axes.imshow(values.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(sentence)), sentence)
    axes.set_yticks(range(len(names)), names)
    for t, k in np.ndindex(values.shape):
        color = "white" if values[t, k] > 0.6 else "black"
        axes.text(t, k, f"{values[t, k]:.2f}", ha="center", va="center", color=color)
    for t, k in enumerate(values.argmax(axis=1)):
        corner = (t - 0.46, k - 0.46)
        axes.add_patch(plt.Rectangle(corner, 0.92, 0.92, fill=False, ec=ORANGE, lw=2.5))
    axes.set_title(title, weight="bold")


figure, axes = plt.subplots(figsize=(7, 2.6))
show_table(axes, proba, "Each token alone: the best label of each is framed")
figure.tight_layout()

# %%
# 2. What it cannot know
# ----------------------
#
# It has found two places, New and York. In the training sentences "York" begins a name
# as often as it goes on with one. Which of the two is right depends on the label before
# it, which the classifier does not see. It could even write "I-LOC" behind "O", which
# means nothing: the inside of a name that has not begun. A chain has a weight for each
# pair of labels. With ``transitions="BIO"`` the pair "O", "I-LOC" is forbidden: its
# weight is minus infinity.

chain = SDCACRF(alpha=0.003, transitions="BIO", random_state=0).fit(X, y)
weights = chain.transition_

figure, axes = plt.subplots(figsize=(4.6, 3.4))
shown = np.where(np.isfinite(weights), weights, np.nan)
largest = np.nanmax(np.abs(shown))
axes.imshow(shown, cmap="PuOr_r", vmin=-largest, vmax=largest)
for j, k in np.ndindex(weights.shape):
    text = f"{weights[j, k]:+.1f}" if np.isfinite(weights[j, k]) else "forbidden"
    color = "white" if abs(shown[j, k]) > 0.5 * largest else "black"
    axes.text(k, j, text, ha="center", va="center", color=color)
axes.set_xticks(range(len(names)), names)
axes.set_yticks(range(len(names)), names)
axes.set(xlabel="label", ylabel="label before")
axes.set_title("Weights of pairs of labels", weight="bold")
figure.tight_layout()

# %%
# 3. The best path
# ----------------
#
# A labelling is a path from left to right through this trellis. Its score is the sum of
# the weights at its nodes, which the features give, and on its edges. The Viterbi
# algorithm finds the path of the highest score without trying all of them: the best
# path to a node goes through the best path to one of the nodes before it. So each node
# keeps one number, the score of the best path to it, and where that came from.

nodes = np.array(
    [
        chain.coef_[chain.vectorizer_.vocabulary_[item[0]]]
        if item[0] in chain.vectorizer_.vocabulary_
        else np.zeros(len(names))
        for item in x[0]
    ]
)
nodes += chain.intercept_
nodes[0] += chain.start_
nodes[-1] += chain.end_
best = [nodes[0]]
for own in nodes[1:]:
    best.append(own + (best[-1][:, None] + weights).max(axis=0))
path = [names.index(label) for label in chain.predict(x)[0]]
print("best score:", best[-1].max().round(1), "labels:", *chain.predict(x)[0])


def draw_trellis(axes, texts, sizes, widths, title):
    """Draw nodes and edges; ``widths`` are (T - 1, n_labels, n_labels)."""
    for t, j, k in np.ndindex(widths.shape):
        if np.isfinite(weights[j, k]):
            color = BLUE if widths[t, j, k] > 0.3 else GREY
            width = 0.4 + 5 * widths[t, j, k]
            axes.plot([t, t + 1], [j, k], color=color, lw=width, alpha=0.6, zorder=1)
        else:
            axes.plot([t, t + 1], [j, k], ":", color=ORANGE, lw=1, zorder=1)
    for t, k in np.ndindex(sizes.shape):
        likely = sizes[t, k] > 0.5
        color, text = (BLUE, "white") if likely else ("white", "black")
        axes.scatter(t, k, s=1100, c=color, edgecolors=GREY, zorder=2)
        axes.text(t, k, texts[t][k], ha="center", va="center", color=text, zorder=3)
    axes.set_xticks(range(len(sentence)), sentence)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(-0.4, len(sentence) - 0.6)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(title, weight="bold")


on_path, edges_of_path = np.zeros(nodes.shape), np.zeros((len(x[0]) - 1, 3, 3))
on_path[range(len(path)), path] = 1
edges_of_path[range(len(path) - 1), path[:-1], path[1:]] = 1
scores = [
    [f"{value:.1f}" if np.isfinite(value) else "-" for value in own] for own in best
]
figure, axes = plt.subplots(figsize=(6.6, 3.2))
draw_trellis(
    axes, scores, on_path, edges_of_path, "Viterbi: the best score up to each node"
)
figure.tight_layout()

# %%
# Dotted lines are the forbidden pairs. After "New", which begins a name, "York" goes on
# with it: one place.
#
# 4. Probabilities
# ----------------
#
# The probability of a path is exp(score), divided by the sum of that over all paths,
# called Z. The sum is made like the maximum, with log-sum-exp in place of max: once
# from the left (forward) and once from the right (backward). Together they give the
# probability of every label, ``predict_proba``, and of every pair of labels,
# ``predict_edge_proba``. All paths count here, and not the best one alone.

marginals, (pairs,) = chain.predict_proba(x)[0], chain.predict_edge_proba(x)
figure, axes = plt.subplots(figsize=(6.6, 3.2))
draw_trellis(
    axes,
    [[f"{value:.2f}" for value in own] for own in marginals],
    marginals,
    pairs,
    "Forward-backward: how probable labels and pairs are",
)
figure.tight_layout()

# %%
# 5. alpha
# --------
#
# A fit takes the weights that make the labels of the training sentences probable, and
# are small::
#
#     P(w) = alpha / 2 ||w||^2 + mean of -log p(y | x; w)
#
# A large alpha keeps all weights near 0, so that the model is unsure of everything.
# With a small one it learns the sentences by heart. The default is 1 / n, for n
# sentences.

path_of_fits = alpha_path(
    SDCACRF(transitions="BIO", random_state=0), X, y, np.logspace(1, -4, 16)
)
alphas = [crf.alpha for crf in path_of_fits]
likely = [np.exp(crf.log_likelihood(X, y)).mean() for crf in path_of_fits]
new = [crf.predict_proba(x)[0][2, names.index("B-LOC")] for crf in path_of_fits]

figure, axes = plt.subplots(figsize=(7, 3.4))
axes.semilogx(alphas, likely, "o-", color=BLUE, label="labels of training sentences")
axes.semilogx(alphas, new, "s--", color=ORANGE, label='B-LOC at "New", a new sentence')
axes.axvline(1 / len(X), color=GREY, lw=0.8)
axes.text(1 / len(X), 0.02, " 1 / n", color=GREY)
axes.invert_xaxis()
axes.set(xlabel="alpha, from strong to weak", ylabel="probability", ylim=(0, 1))
axes.legend(frameon=False, loc="lower right")
axes.set_title("The weaker the penalty, the surer the model", weight="bold")
figure.tight_layout()

# %%
# 6. The gap
# ----------
#
# P(w) has one minimum. A fit by dual ascent has a second number, D, that is never above
# that minimum. P(w) comes down, D goes up, and the minimum is between them: their
# difference, the duality gap, bounds how far P(w) is from it. The fit ends where the
# gap is a thousandth of P(w). Without it one cannot know whether a fit has ended too
# early. A fit with a callback computes the gap after every epoch.

watched = SDCACRF(alpha=0.003, transitions="BIO", tol=1e-3, random_state=0)
fitted = watched.set_callbacks(DualityGapMonitor()).fit(X, y)
primal, dual = (fitted.history_[name][:8] for name in ("primal", "dual"))
epochs = np.arange(1, len(primal) + 1)
figure, axes = plt.subplots(figsize=(7, 3.4))
axes.plot(epochs, primal, "o-", color=ORANGE, label="P(w), above")
axes.plot(epochs, dual, "s-", color=BLUE, label="D, below")
axes.fill_between(epochs, dual, primal, color=GREY, alpha=0.2, label="gap")
axes.axhline(fitted.dual_objective_, color="black", lw=0.8, ls=":")
axes.annotate(
    "minimum of P",
    (epochs[-1], fitted.dual_objective_),
    (epochs[-1], 1.0),
    ha="right",
    arrowprops={"arrowstyle": "->"},
)
axes.set(xlabel="epochs", ylabel="objective", ylim=(0, None))
axes.legend(frameon=False)
axes.set_title("The minimum is between the two", weight="bold")
figure.tight_layout()
plt.show()

# %%
# Where to go on: :doc:`/own_file` trains on your text, :doc:`/model` has the formulas,
# :doc:`/gap` says how to read the gap, and :doc:`/alpha` how to choose alpha.
