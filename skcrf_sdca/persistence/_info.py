"""What a model file says of itself, read without the weights and with NumPy alone."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from skcrf_sdca._utils.grids import Cell, clipped, text_grid
from skcrf_sdca._utils.typing import FilePath, SupportsRead
from skcrf_sdca.persistence._archive import opened_to_read, read_document
from skcrf_sdca.persistence._entries import PIPELINE, axis_size, check_pipeline
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.persistence._head import checked_document
from skcrf_sdca.persistence._labels import labels_from
from skcrf_sdca.persistence._templates import templates_from
from skcrf_sdca.persistence._values import (
    figures_from,
    parameters_from,
    rebuild_parameters,
)
from skcrf_sdca.text.features.sentences import SentenceFeatures
from skcrf_sdca.text.features.templates import checked_features

__all__ = ["ModelInfo", "model_info"]

# The entries that hold the model within a model.
WITHIN = ("crf", "estimator")
# So many labels are shown.
MOST_SHOWN = 20
# Parameters of these values are not shown.
UNSAID = (None, False, "auto")


class ModelInfo(NamedTuple):
    """What a model file says of itself; `model_info` reads it.

    It is shown as a table. Values that the model does not have are None or empty.

    Parameters
    ----------
    type : str
        Type of the model, such as "Tagger"; "CRF" is that of ``skcrf_sdca.compat``.
    steps : dict of str to str
        Of a pipeline, the names of its steps and their types.
    labels : list
        The labels, ``classes_``; of a parser its relations.
    n_features : int or None
        Number of features.
    input_format : str or None
        What the items were in the fit, such as "dicts", "strings" or "arrays".
    columns : list of str or None
        Names of the columns of a token that the features read.
    parameters : dict
        Parameters of the CRF.
    fit : dict
        What the fit says of itself, by the names of the attributes: ``alpha_``,
        ``duality_gap_``, ``n_iter_``, ..., and of a `CRF` ``solver_``.
    metadata : dict
        The ``metadata`` of `save_model`.
    written_by : str
        The package and its version.
    format_version : int
        Version of the file format.
    sizes : dict of str to int
        Bytes of the parts of the file: of the document, and of each array of weights.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.persistence import model_info, save_model
    >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B", "I"]])
    >>> save_model(crf, file := io.BytesIO())
    >>> model_info(file.getvalue())._fields[:4]
    ('type', 'steps', 'labels', 'n_features')
    """

    type: str
    steps: dict[str, str]
    labels: list[Any]
    n_features: int | None
    input_format: str | None
    columns: list[str] | None
    parameters: dict[str, Any]
    fit: dict[str, Any]
    metadata: dict[str, Any]
    written_by: str
    format_version: int
    sizes: dict[str, int]

    def __repr__(self) -> str:
        """Return a line for each fact."""
        lines = (line for line in self._lines() if line[1])
        return text_grid([tuple(map(Cell, line)) for line in lines])

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the texts of the facts."""
        steps = (f"{name} ({cls})" for name, cls in self.steps.items())
        yield "type", ": ".join(filter(None, [self.type, _listed(steps)]))
        if self.labels:
            yield "labels", f"{len(self.labels):,}: {_listed(self.labels)}"
        if self.n_features is not None:
            yield "features", f"{self.n_features:,}"
        yield "input", self.input_format or ""
        yield "columns", _listed(self.columns or ())
        for name, value in self.fit.items():
            yield name, value if isinstance(value, str) else f"{value:.6g}"
        given = (f"{n}={v!r}" for n, v in self.parameters.items() if v not in UNSAID)
        yield "parameters", _listed(given)
        yield "written by", f"{clipped(self.written_by)}, format {self.format_version}"
        parts = (f"{name} {size:,}" for name, size in self.sizes.items())
        yield "bytes", f"{sum(self.sizes.values()):,}: {_listed(parts)}"
        for name, value in self.metadata.items():
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"metadata: {clipped(name)}", _printable(text)


def model_info(path: FilePath | SupportsRead | bytes) -> ModelInfo:
    """Return what a file of `save_model` says of its model, without reading weights.

    No file can make it run code. Of the arrays only the sizes are read: a file whose
    document is whole has an info, and `load_model` may still refuse it.

    Parameters
    ----------
    path : str, path-like, binary file object or bytes
        As for `load_model`.

    Returns
    -------
    info : ModelInfo

    Raises
    ------
    ModelFormatError
        If the file is no model, its document is damaged, or it has a newer format.
    TypeError, MemoryError, OSError
        As `load_model`.

    See Also
    --------
    load_model : Returns the estimator.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.persistence import model_info, save_model
    >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B", "I"]])
    >>> save_model(crf, file := io.BytesIO(), metadata={"corpus": "two tokens"})
    >>> info = model_info(file.getvalue())
    >>> info.labels, info.n_features, info.metadata
    (['B', 'I'], 2, {'corpus': 'two tokens'})
    """
    with opened_to_read(path) as file:
        return read_document(file, _info_of)


def _info_of(document, sizes):
    """Return the ModelInfo of a document, and of the sizes of the members."""
    checked_document(document)
    models = list(_nested(document["model"]))
    inner = models[-1]
    labels = inner.get("labels") or (inner.get("relations") or {}).get("labels")
    n_features = inner.get("n_features")
    return ModelInfo(
        _text_of(models[0], "type"),
        {name: cls for model in models for name, cls in _steps_of(model)},
        [] if labels is None else labels_from(labels).tolist(),
        None if n_features is None else axis_size("n_features", n_features),
        _text_of(inner, "input_format") if "input_format" in inner else None,
        next(filter(None, map(_columns_of, models)), None),
        parameters_from(inner.get("parameters", {})),
        _solver_of(inner) | figures_from(inner.get("fit", {})),
        document.get("metadata", {}),
        document["written_by"],
        document["format_version"],
        sizes,
    )


def _nested(model):
    """Yield a model, the model in it, and so on: the last one is a CRF if one is."""
    while model is not None:
        yield model
        model = next((model[name] for name in WITHIN if name in model), None)


def _text_of(model, name):
    """Return an entry that must be a str."""
    if not isinstance(text := model.get(name), str):
        raise ModelFormatError(f"{name} must be of type str")
    return text


def _steps_of(model):
    """Return the names and types of the steps of a pipeline; of others nothing."""
    if "names" not in model:
        return []
    roles = [name for name in model if name not in PIPELINE]
    check_pipeline(model, roles)
    return zip(
        model["names"], (_text_of(model[role], "type") for role in roles), strict=True
    )


def _solver_of(model):
    """Return what a model says of its solver, as an attribute."""
    return {"solver_": _text_of(model, "solver")} if "solver" in model else {}


def _columns_of(model):
    """Return the columns that the features of a model read, None if it has none."""
    name = model.get("type")
    entry = model if name in READ else model.get("features", model.get("arc_features"))
    if name == "OnlineDependencyCRF" and entry is None:
        entry = DEFAULT_ARCS
    return None if entry is None else READ[_text_of(entry, "type")](entry)


def _read_by_templates(entry):
    """Return the columns that a TokenFeatures reads."""
    templates = templates_from(entry)
    return SentenceFeatures(checked_features(**templates), templates["pad"]).read


def _read_by_arcs(entry):
    """Return the columns that an ArcFeatures reads."""
    # A parser alone needs it, and it needs scikit-learn.
    from skcrf_sdca.text import ArcFeatures

    return rebuild_parameters(ArcFeatures, entry).read_columns()


READ = {"TokenFeatures": _read_by_templates, "ArcFeatures": _read_by_arcs}
DEFAULT_ARCS = {"type": "ArcFeatures", "parameters": {}}


def _listed(values):
    """Return values on one line, of many the first."""
    shown = [_printable(str(value)) for value in values]
    return ", ".join(shown[:MOST_SHOWN] + ["..."] * (len(shown) > MOST_SHOWN))


def _printable(text):
    """Return a text without what could control a terminal."""
    return text if text.isprintable() else ascii(text)
