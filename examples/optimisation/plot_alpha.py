"""
Underfitting and overfitting by alpha
=====================================

With a large alpha, all weights are near zero and the model underfits. With a small
alpha, it overfits the training strings. This example fits models for many alphas with
``alpha_path``, where each fit starts at the solution of the one before (warm start).
The test labels have the largest probability at about a twentieth of the default alpha,
1 / n. The accuracy is largest at another alpha: the best alpha depends on the score.
scikit-learn contains the data. The example takes some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.metrics import flat_log_loss
from skcrf_sdca.selection import alpha_path

data = load_digit_sequences(n_train=100, n_test=300)
X, y = data.X_train, data.y_train

# %%
# Fit a model for each alpha
# --------------------------

path = alpha_path(SDCACRF(random_state=0), X, y, np.logspace(0, -5, 16))
print("epochs:", *(crf.n_iter_ for crf in path))


def log_loss(crf, X, y):
    """Return the mean of minus the log probability of the labels."""
    return flat_log_loss(y, crf.predict_proba(X), labels=crf.classes_)


alphas = [crf.alpha for crf in path]
train = [log_loss(crf, X, y) for crf in path]
test = [log_loss(crf, data.X_test, data.y_test) for crf in path]
accuracy = [crf.score(data.X_test, data.y_test) for crf in path]
best = int(np.argmin(test))

# %%
# Plot log loss and accuracy
# --------------------------

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharex=True)
left.loglog(alphas, test, "o-", color="#0072B2", label="test strings")
left.loglog(alphas, train, "s--", color="#D55E00", label="training strings")
left.axvline(alphas[best], color="#707070", linewidth=0.8)
left.annotate(
    "1 / n", (1 / len(X), test[np.argmin(np.abs(np.array(alphas) - 1 / len(X)))])
)
left.set(xlabel="alpha", ylabel="log loss per digit (nats)")
left.legend(frameon=False)
right.semilogx(alphas, accuracy, "o-", color="#0072B2")
right.axvline(alphas[best], color="#707070", linewidth=0.8)
right.set(xlabel="alpha", ylabel="accuracy on test digits")
left.invert_xaxis()
figure.suptitle(f"Probabilities are best at alpha = {alphas[best]:.1g}", weight="bold")
figure.tight_layout()
plt.show()
