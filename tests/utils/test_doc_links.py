"""The diagram of an estimator links to its page, if it is known where the pages are."""

import json
from importlib import import_module

import pytest
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

import skcrf_sdca
from skcrf_sdca import SDCACRF, PerToken, compat, distributed, selection, text
from skcrf_sdca.estimators import tagger

PUBLIC = {
    f"{module.__name__}.{name}": found
    for module in (skcrf_sdca, compat, distributed, selection, tagger, text)
    for name in module.__all__
    if isinstance(found := getattr(module, name), type)
    and issubclass(found, BaseEstimator)
}
ARGUMENTS = {
    "PerToken": [StandardScaler()],
    "SequenceUnion": [[("scaled", PerToken(StandardScaler()))]],
    "Tagger": [[("crf", SDCACRF())]],
    "SequenceVoting": [[("crf", SDCACRF())]],
    "SequenceBagging": [SDCACRF()],
    "CalibratedSpans": [SDCACRF()],
    "TunedSpans": [SDCACRF()],
    "CRFCV": [SDCACRF()],
}
# Parameters that are objects: estimators, templates and tuples, of which JSON has none.
HOLD_OBJECTS = {*ARGUMENTS, "ArcFeatures", "TokenFeatures"}


def made(cls):
    return cls(*ARGUMENTS.get(cls.__name__, ()))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_diagram_has_a_link_to_the_page(name, monkeypatch):
    estimator = made(PUBLIC[name])
    monkeypatch.delenv("SKCRF_SDCA_DOCS", raising=False)
    assert "api/generated" not in estimator._repr_html_()
    monkeypatch.setenv("SKCRF_SDCA_DOCS", "https://docs.local/crf/")
    html = estimator._repr_html_()
    assert f'href="https://docs.local/crf/api/generated/{name}.html"' in html
    module, _, last = name.rpartition(".")
    assert getattr(import_module(module), last) is type(estimator)


@pytest.mark.parametrize(
    "name", [name for name in PUBLIC if name.split(".")[-1] not in HOLD_OBJECTS]
)
def test_default_parameters_are_json(name):
    parameters = PUBLIC[name]().get_params()
    assert json.loads(json.dumps(parameters)) == parameters
