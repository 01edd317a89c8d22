import sys

import pytest

from c4env.system import usable_cores
from tests.helpers.processes import environment, run_python

NEWER = pytest.mark.skipif(sys.version_info < (3, 13), reason="a switch of Python 3.13")


@pytest.mark.parametrize(
    "variable", ["LOKY_MAX_CPU_COUNT", pytest.param("PYTHON_CPU_COUNT", marks=NEWER)]
)
def test_a_limit_of_the_machine_is_respected(variable):
    script = "from c4env.system import usable_cores; print(usable_cores())"
    assert run_python("-c", script, env=environment(**{variable: "1"})).stdout == "1\n"
    assert usable_cores() >= 1
