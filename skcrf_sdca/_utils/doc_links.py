"""The link to the reference in the diagram of an estimator, as notebooks show it.

The environment variable SKCRF_SDCA_DOCS names the address of the built pages, such as
``file:///home/me/skcrf_sdca/docs/_build``. Without it a diagram has no link.
"""

import os

# The folders whose classes are public names of the package itself.
AT_THE_TOP = {"estimators", "features"}


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
        package, folder, *_ = cls.__module__.split(".")
        folders = [] if folder in AT_THE_TOP else [folder]
        return {"name": ".".join([package, *folders, cls.__name__])}
