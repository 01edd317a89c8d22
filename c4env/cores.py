"""The number of processors that this process may use."""

from __future__ import annotations


def usable_cores() -> int:
    """Return the number of processors that this process may use, at least 1.

    The number respects the process's affinity, the limit of a container (cgroup), and the variables
    ``LOKY_MAX_CPU_COUNT`` and, from Python 3.13, ``PYTHON_CPU_COUNT``.
    """
    import joblib  # the import takes 0.2 s

    return int(joblib.cpu_count())
