"""Converts an ArcFeatures to an entry of the document, and back."""

from skcrf_sdca.persistence._fields import fields
from skcrf_sdca.persistence._values import plain_parameters, with_parameters
from skcrf_sdca.text import ArcFeatures

# The entries, with their types.
ARC_FEATURES = {"type": str, "parameters": dict}


def describe_arc_features(features):
    """Return the entries of an ArcFeatures, and no arrays."""
    features.fit()
    parameters = plain_parameters(features.get_params())
    return {"type": "ArcFeatures", "parameters": parameters}, {}


def rebuild_arc_features(model, array=None):
    """Return the ArcFeatures that entries describe."""
    fields(model, "ArcFeatures", ARC_FEATURES)
    return with_parameters(ArcFeatures, model["parameters"]).fit()
