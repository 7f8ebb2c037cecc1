"""Parameters that are written once: signatures, constraints, texts and defaults."""

import inspect
import pickle
import re
import subprocess
import sys
from collections import ChainMap
from dataclasses import field
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from sklearn.base import clone

import code_figures
from skcrf_sdca import LBFGSCRF, TreeCRF
from skcrf_sdca._utils.checked_parameters import Choices
from skcrf_sdca._utils.sklearn_private import InvalidParameterError
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.estimators import parameters as module
from skcrf_sdca.estimators.base import BaseFit
from skcrf_sdca.estimators.parameters import parameter, parameters
from skcrf_sdca.persistence._registry import CRFS
from skcrf_sdca.solvers.dca import DCA
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.solvers.sgd import SGD

ESTIMATORS = (*CRFS.values(), DistributedCRF)
every_estimator = pytest.mark.parametrize("cls", ESTIMATORS)


@parameters
class Lengths(module.EpochOptions):
    """An option of an estimator below."""

    shortest: int = parameter(int, default=2)
    """int

    Length of the shortest sequence.
    """
    exact: bool = False


@parameters
class Toy(Lengths, BaseFit):
    """An estimator.

    {parameters}
    """

    max_iter: int = 7
    lengths_: list[int] = field(init=False)


def test_an_estimator_has_the_parameters_of_its_bases_and_may_change_a_default():
    signature = inspect.signature(Toy)
    assert [*signature.parameters] == ["max_iter", "tol", "shortest", "exact"]
    known = {"max_iter": 7, "tol": 1e-3, "shortest": 2, "exact": False}
    assert Toy().get_params() == known
    assert vars(clone(Toy(shortest=5)))["shortest"] == 5
    assert not hasattr(Toy(), "lengths_")


@parameters(max_iter=9, shortest=4)
class Longer(Toy):
    """An estimator.

    {parameters}
    """


def test_the_decorator_gives_another_default_and_changes_nothing_else():
    ours, base = (inspect.signature(cls).parameters for cls in (Longer, Toy))
    assert [*ours] == [*base]
    assert {n: p.default for n, p in ours.items()} == Longer().get_params()
    assert Longer().get_params() == Toy(max_iter=9, shortest=4).get_params()
    assert [p.replace(default=0) for p in ours.values()] == [
        p.replace(default=0) for p in base.values()
    ]
    assert Longer._parameter_constraints == Toy._parameter_constraints
    assert Toy().max_iter == 7
    assert "\nmax_iter : int, default=9\n    Maximum number of epochs" in Longer.__doc__
    assert pickle.loads(pickle.dumps(clone(Longer(max_iter=5)))).max_iter == 5


@pytest.mark.parametrize("kind", [str, int, str | None, list[int], Literal[1, 2]])
def test_a_type_that_does_not_say_what_is_allowed_is_named(kind):
    class Noted(module.EpochOptions):
        note: kind = parameter(default=None)

    with pytest.raises(TypeError, match=r"Noted.note: the type .* name them"):
        parameters(Noted)


def test_a_parameter_that_is_passed_by_its_place_remains_so_with_another_default():
    @parameters(alpha=0.5)
    class Strong(module.StrengthOptions):
        """An option."""

    assert Strong().alpha == 0.5
    assert Strong(2.0).alpha == 2.0


def test_another_default_needs_a_parameter_of_a_base():
    with pytest.raises(TypeError, match=r"^No base of Wrong has a parameter max_iters"):

        @parameters(max_iters=9)
        class Wrong(Toy):
            """An estimator."""


def test_constraints_are_those_of_the_base_or_of_the_type():
    known = Toy._parameter_constraints
    assert known["max_iter"] == module.EpochOptions._parameter_constraints["max_iter"]
    assert known["exact"] == ["boolean"]
    assert "lengths_" not in known
    with pytest.raises(InvalidParameterError, match="'max_iter' parameter of Toy"):
        Toy(max_iter=0)._validate_params()


def test_the_docstring_has_the_text_of_each_parameter_and_its_own_default():
    assert "\nmax_iter : int, default=7\n    Maximum number of epochs" in Toy.__doc__
    assert "{parameters}" not in Toy.__doc__


@pytest.mark.parametrize(("cls", "default"), [(Lengths, 2), (Toy, 2), (Longer, 4)])
def test_the_text_of_a_parameter_is_read_from_the_module_of_its_class(cls, default):
    own = parameters(type("Own", (cls,), {"__doc__": "{parameters}"}))
    entry = f"shortest : int, default={default}\n    Length of the shortest sequence."
    assert entry in own.__doc__


def test_the_text_of_a_parameter_of_a_class_in_a_function_is_its_own():
    @parameters
    class Lengths(module.EpochOptions):
        """{parameters}"""

        shortest: int = parameter(int, default=3)
        """int

        Another text.
        """

    assert "shortest : int, default=3\n    Another text." in Lengths.__doc__


@every_estimator
def test_every_parameter_has_a_type_a_constraint_and_a_text(cls):
    for name, argument in inspect.signature(cls).parameters.items():
        assert argument.annotation is not argument.empty
        assert cls._parameter_constraints[name]
        entry = rf"^{name} : .+, default=.+\n    \S"
        assert re.search(entry, cls.__doc__, re.MULTILINE), name


def literals(annotation):
    """Return the texts of the Literals in a type."""
    parts = get_args(annotation)
    if get_origin(annotation) is Literal:
        return {part for part in parts if isinstance(part, str)}
    return set().union(*map(literals, parts))


@every_estimator
def test_the_type_the_constraint_and_the_text_of_a_parameter_have_the_same_choices(cls):
    for name, argument in inspect.signature(cls).parameters.items():
        constraints = cls._parameter_constraints[name]
        choices = [own.options for own in constraints if isinstance(own, Choices)]
        # A type "str" stands for more texts than one would list.
        if of_type := literals(argument.annotation):
            assert of_type == set().union(*choices), name
            types = re.search(rf"^{name} : (.+), default=", cls.__doc__, re.MULTILINE)
            in_text = set(re.findall('"([^"]+)"', types[1]))
            assert not in_text or in_text == set().union(*choices), name


@every_estimator
def test_parameters_can_be_pickled_and_one_alone_is_passed_by_its_place(cls):
    crf = pickle.loads(pickle.dumps(cls(0.5, max_iter=3)))
    assert vars(crf) == vars(cls(0.5, max_iter=3))
    with pytest.raises(TypeError, match="positional"):
        cls(0.5, 3)


def test_the_edges_of_trees_have_a_direction():
    assert TreeCRF().directed
    assert "directed" not in TreeCRF().get_params()
    with pytest.raises(TypeError, match="directed"):
        TreeCRF(directed=True)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        (SDCA, module.SDCAOptions),
        (OEG, module.OEGOptions),
        (SAG, module.SAGOptions),
        (DCA, module.PassiveAggressiveOptions),
    ],
)
def test_defaults_are_those_of_the_solver(solver, options):
    # What a constructor passes on, a base takes.
    makers = [vars(cls).get("__init__", object) for cls in reversed(solver.__mro__)]
    taken = ChainMap(*(inspect.signature(m).parameters for m in reversed(makers)))
    ours = inspect.signature(options).parameters
    names = (taken.keys() & ours.keys()) - {"warm_start"}
    assert len(names) >= 4
    assert {n: ours[n].default for n in names} == {n: taken[n].default for n in names}


def test_defaults_of_gradient_methods_are_those_of_the_solver():
    taken = inspect.signature(SGD).parameters
    ours = inspect.signature(module.SGDOptions).parameters
    names = ours.keys() - {"method"}
    assert {n: ours[n].default for n in names} == {n: taken[n].default for n in names}


def test_every_parameter_is_read_by_a_solver_or_a_fit():
    home = Path(module.__file__)
    others = [path.read_text() for path in code_figures.files("*.py") if path != home]
    words = set(re.findall(r"\w+", "\n".join(others)))
    unread = sorted(set(code_figures.written_parameters()) - words)
    assert not unread


@pytest.mark.slow
def test_without_the_source_docstrings_have_no_texts_and_all_else_works():
    program = """
import inspect
def fail(module): raise OSError("no source")
inspect.getsource = fail
from skcrf_sdca import LBFGSCRF
print(LBFGSCRF(0.5).max_iter, "max_iter : object, default=1000" in LBFGSCRF.__doc__)
"""
    command = [sys.executable, "-P", "-c", program]
    assert subprocess.check_output(command, text=True) == "1000 True\n"
    assert LBFGSCRF().max_iter == 1000


@pytest.mark.parametrize(
    ("parameters", "end"),
    [
        ({"transitions": "BIOO"}, "Got 'BIOO' instead; did you mean 'BIO'?"),
        ({"transitions": "observe"}, "Got 'observe' instead; did you mean 'observed'?"),
        ({"transitions": "Bioes2"}, "Got 'Bioes2' instead; did you mean 'BIOES'?"),
        ({"loss": "hing"}, "Got 'hing' instead; did you mean 'hinge'?"),
        ({"loss": "xyz"}, "Got 'xyz' instead."),
    ],
)
def test_choices_are_told_in_order_once_with_the_nearest(parameters, end):
    with pytest.raises(InvalidParameterError) as error:
        LBFGSCRF(**parameters)._validate_params()
    message = str(error.value)
    assert message.endswith(end)
    shown = re.search(r"among \{(.*?)\}", message)[1].split(", ")
    assert shown == sorted(shown)
    assert len({text.upper() for text in shown}) == len(shown)


def test_other_constraints_are_told_beside_choices():
    with pytest.raises(InvalidParameterError, match="}, an array-like or None. Got"):
        LBFGSCRF(transitions="BIOO")._validate_params()
    LBFGSCRF(transitions="bio")._validate_params()
