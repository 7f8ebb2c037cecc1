"""The build of the compiled modules; all metadata is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import setup
from setuptools.command.build_ext import build_ext

# The module that has the code of memoryviews: the others import it from there, and have
# half of the size.
SHARED = "skcrf_sdca._kernels._cython"


class TranslateFirst(build_ext):
    """Translate all modules to C before threads compile them.

    Cython has global state, which threads would share.
    """

    def build_extensions(self):
        """Build the extensions."""
        translated = cythonize(self.extensions, shared_utility_qualified_name=SHARED)
        sources = {module.name: module.sources for module in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        super().build_extensions()


setup(cmdclass={"build_ext": TranslateFirst})
