"""The build of the compiled modules; all metadata is in pyproject.toml.

Every .pyx file of the kernels is a module. Its C files and headers are found by what it
declares and what they include, and its .pxd files by Cython.
"""

import re
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("skcrf_sdca", "_kernels")
# Written by Cython: the code of memoryviews, which the other modules import from there.
# They have half of the size then.
SHARED = "skcrf_sdca._kernels._cython"
# Kernels check sizes and addresses once, not at every index.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}
# -O3 is for modules whose loops take time; -O2 makes the others a tenth smaller, and
# no slower. -g0 is for all, as most builds of Python ask for debug symbols, nine tenths
# of a wheel. Compilers that do not know an option here only warn of it.
OPTIONS = ["-O2", "-g0"]
OPTIONS_OF = {
    "_arc_rows": ["-O3", "-g0"],
    "_chain": ["-O3", "-g0"],
    "_elimination": ["-O3", "-g0"],
    "_features": ["-O3", "-g0"],
    "_line_search": ["-O3", "-g0"],
    "_made_rows": ["-O3", "-g0"],
    "_metric": ["-O3", "-g0"],
    "_mixture": ["-O3", "-g0"],
    "_observed": ["-O3", "-g0"],
    "_reweighted": ["-O3", "-g0"],
    "_reweighted_maximum": ["-O3", "-g0"],
    "_sibling_rows": ["-O3", "-g0"],
    "_segment_chain": ["-O3", "-g0"],
    "_sparse_transitions": ["-O3", "-g0"],
    # A square root must not have to tell of an error.
    "_steps": ["-O2", "-g0", "-fopenmp-simd", "-fno-math-errno"],
    "_transitions": ["-O3", "-g0", "-fopenmp-simd"],
    # The only unit with -ffast-math, and never at link time: see vecmath.h.
    "_vecmath": ["-O3", "-g0", "-ffast-math", "-fopenmp-simd"],
}
# As an argument, which a linker without libm only warns of: vector functions are in it.
LINK_OPTIONS_OF = {"_vecmath": ["-lm"]}
# Names of static functions are a fourteenth of a wheel. Builds in place keep them, for
# profilers.
STRIP = ["-Wl,-s"]


def module(pyx):
    """Return the module of a .pyx file.

    If the file itself declares functions of name.h, name*.c beside it belong to it.
    """
    declared = re.findall(r'^cdef extern from "(\w+)\.h"', pyx.read_text("utf-8"), re.M)
    c_files = [path for name in declared for path in pyx.parent.glob(f"{name}*.c")]
    return Extension(
        ".".join(pyx.with_suffix("").parts),
        [path.as_posix() for path in [pyx, *sorted(c_files)]],
        include_dirs=sorted({path.parent.as_posix() for path in KERNELS.rglob("*.h")}),
        extra_compile_args=OPTIONS_OF.get(pyx.stem, OPTIONS),
        extra_link_args=LINK_OPTIONS_OF.get(pyx.stem, []),
    )


def included(sources):
    """Return the files of the kernels that C sources include, directly or not."""
    files = {path.name: path for path in KERNELS.rglob("*.[ch]")}
    found, to_read = set(), [Path(source) for source in sources]
    while to_read:
        text = to_read.pop().read_text("utf-8")
        names = re.findall(r'^\s*#\s*include "(.+)"', text, re.M)
        new = {files[name] for name in names if name in files} - found
        found |= new
        to_read += new
    return sorted(path.as_posix() for path in found)


class TranslateFirst(build_ext):
    """Translate all modules to C, in processes, before threads compile them.

    Cython has global state, which threads would share. It translates what changed, or
    cimports what changed; `depends` is for the compiler.
    """

    def run(self):
        """Build the extensions; setuptools resets `inplace` until it copies them."""
        self.strips = not self.inplace
        super().run()

    def build_extensions(self):
        """Build the extensions."""
        translated = cythonize(
            self.extensions,
            nthreads=self.parallel,
            shared_utility_qualified_name=SHARED,
            compiler_directives=DIRECTIVES,
        )
        sources = {module.name: module.sources for module in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            extension.depends = included(extension.sources)
            if self.strips:
                extension.extra_link_args += STRIP
        super().build_extensions()


shared = (KERNELS / "_cython.c").as_posix()
modules = [
    Extension(SHARED, [shared], extra_compile_args=OPTIONS),
    *map(module, sorted(KERNELS.rglob("*.pyx"))),
]
# Where processes are not copies of this one, they import this file.
if __name__ == "__main__":
    setup(
        # First what takes far longer to compile than any other: no thread waits.
        ext_modules=sorted(modules, key=lambda own: not own.name.endswith("._vecmath")),
        cmdclass={"build_ext": TranslateFirst},
    )
