"""The link to the reference in the diagram of an estimator, as notebooks show it.

The environment variable SKCRF_SDCA_DOCS names the address of the built pages, such as
``file:///home/me/skcrf_sdca/docs/_build``. Without it a diagram has no link.
"""

import os

# Where the classes of a module, or else of its folder, are public.
PUBLIC_IN = {
    "estimators": "skcrf_sdca",
    "estimators.calibration": "skcrf_sdca.selection",
    "estimators.ensembles": "skcrf_sdca.selection",
    "estimators.tagger": "skcrf_sdca.estimators.tagger",
    "estimators.thresholds": "skcrf_sdca.selection",
    "features": "skcrf_sdca",
}


class HasDocLink:
    """An estimator of this package, whose page is ``api/generated/<name>.html``."""

    @property
    def _doc_link_module(self):
        # scikit-learn gives a link to the estimators of this package only.
        return "skcrf_sdca" if os.environ.get("SKCRF_SDCA_DOCS") else ""

    @property
    def _doc_link_template(self):
        address = os.environ.get("SKCRF_SDCA_DOCS", "").rstrip("/")
        return f"{address}/api/generated/{{name}}.html"

    def _doc_link_url_param_generator(self):
        cls = type(self)
        module = cls.__module__.removeprefix("skcrf_sdca.")
        folder = module.split(".")[0]
        home = PUBLIC_IN.get(module) or PUBLIC_IN.get(folder, f"skcrf_sdca.{folder}")
        return {"name": f"{home}.{cls.__name__}"}
