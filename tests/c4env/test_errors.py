"""The check of integers that is made everywhere, and the error of a missing extra."""

import numpy as np
import pytest

from c4env.errors import InvalidOption, MissingExtra, require_integer
from c4env.lazy import from_extra


@pytest.mark.parametrize("value", [1, np.int8(7), np.uint64(7), np.array(7)])
def test_integers_of_any_library_are_taken(value):
    taken = require_integer("threads", value, high=7)
    assert type(taken) is int
    assert taken == value


@pytest.mark.parametrize("value", [0, 8, True, np.True_, 2.0, "3", None, 10**30])
def test_what_is_no_integer_in_bounds_is_quoted(value):
    with pytest.raises(InvalidOption) as caught:
        require_integer("threads", value, 1, "a number of threads", high=7)
    assert str(caught.value) == f"threads={value!r}: expected a number of threads"


def test_a_failed_import_names_what_it_was_for_and_the_extra():
    expected = r"^x needs y: pip install 'c4env\[z\]' \(No module named 'no_such_module_1'\)$"
    with pytest.raises(MissingExtra, match=expected), from_extra("z", "x needs y"):
        import no_such_module_1  # noqa: F401
    with pytest.raises(KeyError), from_extra("z", "x needs y"):
        raise KeyError("not an import")
