"""Functions with the arguments of another one look like functions of their own."""

import inspect
import pickle
import typing

import pytest

from skcrf_sdca._utils.arguments import takes_arguments_of


def numbers(text: str, *, sep: str = " ") -> list[int]:
    return [int(part) for part in text.split(sep)]


@takes_arguments_of(numbers)
def total(numbers: list[int]) -> int:
    """Return the sum."""
    return sum(numbers)


def test_the_signature_has_the_parameters_of_one_and_the_result_of_the_other():
    assert str(inspect.signature(total)) == "(text: str, *, sep: str = ' ') -> int"
    assert typing.get_type_hints(total) == {"text": str, "sep": str, "return": int}
    assert (total.__name__, total.__doc__) == ("total", "Return the sum.")


def test_the_function_gets_what_is_read():
    assert total("1 2") == total("1,2", sep=",") == 3
    assert pickle.loads(pickle.dumps(total)) is total


@pytest.mark.parametrize("given", [{}, {"text": "1", "separator": ","}])
def test_errors_of_arguments_name_the_function(given):
    with pytest.raises(TypeError, match=r"^total\(\) "):
        total(**given)
    with pytest.raises(TypeError, match=r"^numbers\(\) "):
        numbers(**given)
