"""What is imported only when it is used."""

import pytest

from c4env.errors import MissingExtra
from c4env.lazy import from_extra


def test_a_failed_import_names_what_it_was_for_and_the_extra():
    expected = r"^x needs y: pip install 'c4env\[z\]' \(No module named 'no_such_module_1'\)$"
    with pytest.raises(MissingExtra, match=expected), from_extra("z", "x needs y"):
        import no_such_module_1  # noqa: F401
    with pytest.raises(KeyError), from_extra("z", "x needs y"):
        raise KeyError("not an import")
