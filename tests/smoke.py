"""Fit and predict with the package that is installed, away from the checkout."""

import pickle

from skcrf_sdca import SDCACRF
from skcrf_sdca._kernels.math._vecmath import LEVEL
from skcrf_sdca.datasets import load_digit_sequences
from skcrf_sdca.estimators.crfs import ESTIMATORS

data = load_digit_sequences(n_train=50, n_test=50)
for estimator in ESTIMATORS:
    crf = estimator(tol=1e-2).fit(data.X_train, data.y_train)
    crf = pickle.loads(pickle.dumps(crf))
    accuracy = crf.score(data.X_test, data.y_test)
    print(f"{estimator.__name__}: gap {crf.duality_gap_:.2g}, accuracy {accuracy:.2f}")
    assert crf.duality_gap_ <= crf.gap_target_
    assert accuracy > 0.8

words = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}]]
crf = SDCACRF(random_state=0).fit(words, [["DET", "NOUN"]] * 2)
assert crf.predict(words).tolist() == [["DET", "NOUN"]] * 2
print("loops of level", LEVEL)
