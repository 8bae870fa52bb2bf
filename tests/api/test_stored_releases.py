"""A stored release becomes an object of its kind in a process that has imported nothing of that kind."""

import subprocess
import sys
from importlib import import_module

import pytest

from discreet.api.stored_releases import _MODULES
from discreet.measurement.run_release import RunRelease


def test_every_kind_of_release_is_in_the_table():
    for module in _MODULES.values():
        import_module(module)
    assert set(RunRelease._kinds) == set(_MODULES)


@pytest.mark.parametrize("kind", _MODULES)
def test_the_module_of_a_kind_defines_it(kind):
    code = (
        "from importlib import import_module; from discreet.measurement.run_release import RunRelease; "
        f"import_module('{_MODULES[kind]}'); assert '{kind}' in RunRelease._kinds"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
