"""The window, on SDL's driver without a screen."""

import copy
import pickle
import sys

import numpy as np
import pytest

from c4env import Position
from c4env.envs.aec import env, raw_env
from c4env.errors import C4Error, MissingExtra
from c4env.render import Window, rgb_array

pygame = pytest.importorskip("pygame")


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(raw_env.metadata, "render_fps", 1000)
    yield
    pygame.display.quit()


def shown(window):
    """What SDL holds of it: the window itself hands nothing out, nor does an environment."""
    return pygame.surfarray.array3d(window._window.get_surface()).swapaxes(0, 1)


def test_the_environment_shows_every_disc():
    environment = env(render_mode="human", screen_scaling=2)
    environment.reset()
    environment.step(3)
    window = environment.unwrapped._viewer.window
    assert window is not None
    assert np.array_equal(shown(window), rgb_array(Position.parse("4"), 3, screen_scaling=2))
    environment.step(4)
    assert np.array_equal(shown(window), rgb_array(Position.parse("45"), 4, screen_scaling=2))
    assert environment.render() is None
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._window))
    environment.step(5)
    assert not window.is_open
    with pytest.raises(pygame.error):
        window._window.get_surface()
    environment.close()
    environment.close()
    assert environment.position == Position.parse("456")
    environment.step(6)
    assert environment.unwrapped._viewer.window is not None
    assert environment.unwrapped._viewer.window.is_open
    environment.close()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_opens_its_own_window(duplicate):
    environment = env(render_mode="human", screen_scaling=2)
    environment.reset()
    environment.step(3)
    double = duplicate(environment)
    double.step(3)
    assert double.unwrapped._viewer.window is not environment.unwrapped._viewer.window
    double.close()
    assert environment.unwrapped._viewer.window is not None
    assert environment.unwrapped._viewer.window.is_open
    environment.close()


@pytest.mark.parametrize("make", [env, raw_env, lambda **_: Window("", rgb_array(Position()))])
def test_without_pygame_the_extra_is_named(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    for error in (MissingExtra, ImportError, C4Error):
        with pytest.raises(error, match="pip install pygame-ce"):
            make(render_mode="human")
