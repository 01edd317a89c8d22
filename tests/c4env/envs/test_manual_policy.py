"""A person at the window: by mouse and keys posted to SDL's driver without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from c4env import ManualPolicy, Position
from c4env.envs.aec import env, raw_env
from c4env.errors import InvalidOption, UnknownAgent, WindowClosed, WrongOrder
from c4env.view.rendering import column_at, rgb_array
from c4env.view.window import Window

pygame = pytest.importorskip("pygame")
SCALING = 2


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(raw_env.metadata, "render_fps", 1000)
    yield
    pygame.display.quit()


@pytest.fixture
def board() -> Iterator[Any]:
    board = env(render_mode="human", screen_scaling=SCALING)
    board.reset()
    board.render()
    pygame.event.clear()
    yield board
    board.close()


def window_of(board: Any) -> Window:
    """An environment does not hand out its window; events are posted to it."""
    window = board._viewer.window
    assert window is not None
    return window


def middle(column: int) -> int:
    return int((4 + 13 * (column + 0.5)) * SCALING)


def post(board: Any, kind: int, **fields: Any) -> None:
    pygame.event.post(pygame.event.Event(kind, window=window_of(board)._window, **fields))


def click(board: Any, column: int, button: int = 1) -> None:
    post(board, pygame.MOUSEBUTTONDOWN, pos=(middle(column), 50), button=button)


def press(board: Any, key: int, text: str = "") -> None:
    post(board, pygame.KEYDOWN, key=key, unicode=text, mod=0)


def ask(board: Any, agent: str = "player_0") -> int:
    policy = ManualPolicy(board, agent_id=int(agent[-1]))
    return policy(board.observe(agent), agent)


def test_every_column_by_click_and_by_digit(board: Any) -> None:
    for column in range(7):
        click(board, column)
        assert ask(board) == column
        press(board, pygame.K_1 + column, str(column + 1))
        assert ask(board) == column
        press(board, pygame.K_KP1 + column, str(column + 1))
        assert ask(board) == column


def test_arrows_and_enter(board: Any) -> None:
    for key in (pygame.K_LEFT, pygame.K_LEFT, pygame.K_RETURN):  # first the middle, then left of it
        press(board, key)
    assert ask(board) == 2
    for key in (pygame.K_RIGHT, *[pygame.K_RIGHT] * 4, pygame.K_SPACE):  # around the edge
        press(board, key)
    assert ask(board) == 0


def test_what_is_no_choice_is_passed_over(board: Any) -> None:
    """Other buttons, the frame, other keys, full columns, and other windows' clicks."""
    board.reset(options={"moves": "444444"})
    other = Window("another", rgb_array(Position(), screen_scaling=SCALING))
    pygame.event.post(
        pygame.event.Event(
            pygame.MOUSEBUTTONDOWN, window=other._window, pos=(middle(6), 50), button=1
        )
    )
    click(board, 2, button=3)
    post(board, pygame.MOUSEBUTTONDOWN, pos=(1, 50), button=1)
    press(board, pygame.K_8, "8")
    press(board, pygame.K_RETURN)
    click(board, 3)
    press(board, pygame.K_4, "4")
    click(board, 5)
    assert ask(board) == 5
    assert pygame.event.get(pygame.MOUSEBUTTONDOWN)[0].window is other._window
    other.close()


def test_the_disc_shows_where_it_would_fall(board: Any) -> None:
    board.reset(options={"moves": "44"})
    window = window_of(board)
    seen = []
    show = window.show
    actions = iter(
        (
            lambda: post(board, pygame.MOUSEMOTION, pos=(middle(3), 50)),
            lambda: post(board, pygame.WINDOWLEAVE),
            lambda: press(board, pygame.K_3, "3"),
        )
    )

    def watched(frame: Any, fps: float = 0.0) -> None:
        seen.append(frame)
        show(frame, fps)
        next(actions)()

    window.show = watched  # type: ignore[method-assign]
    assert ask(board) == 2
    position = Position.parse("44")
    plain, faint = (
        rgb_array(position, 3, screen_scaling=SCALING, hover=hover) for hover in (None, 3)
    )
    assert [np.array_equal(frame, faint) for frame in seen] == [False, True, False]
    assert np.array_equal(seen[2], plain)
    rows, columns = np.nonzero((plain != faint).any(axis=2))
    assert {column_at(x, SCALING) for x in columns.tolist()} == {3}
    assert {(y // SCALING - 4) // 13 for y in rows.tolist()} == {3}  # the third from below


def test_hovering_over_what_cannot_be_played_shows_nothing() -> None:
    for moves in ("444444", "1212121"):
        position = Position.parse(moves)
        assert np.array_equal(rgb_array(position, hover=3), rgb_array(position)) == (
            not position.is_legal(3)
        )


def test_column_at_is_the_inverse_of_the_drawing() -> None:
    for scaling in (1, 2, 9):
        seen = [column_at(x, scaling) for x in range(99 * scaling)]
        expected = [None] * 4 + [c for c in range(7) for _ in range(13)] + [None] * 4
        assert seen == [c for c in expected for _ in range(scaling)]


@pytest.mark.parametrize("how", ["close", "escape"])
def test_closing_the_window_ends_the_program_unless_caught(board: Any, how: str) -> None:
    if how == "close":
        post(board, pygame.WINDOWCLOSE)
    else:
        press(board, pygame.K_ESCAPE, "\x1b")
    with pytest.raises(SystemExit) as closed:
        ask(board)
    assert isinstance(closed.value, WindowClosed)
    assert closed.value.code is None
    with pytest.raises(WindowClosed):  # it stays closed
        ask(board)
    board.close()
    board.render()  # the environment was closed and opens a new one
    click(board, 1)
    assert ask(board) == 1


def test_a_person_plays_a_whole_game_in_the_loop(board: Any) -> None:
    board.reset()
    person = ManualPolicy(board, agent_id=1)
    assert (person.agent, person.available_agents) == ("player_1", {"player_0": 0, "player_1": 1})
    choices = iter((0, 0, 0, 6))
    for agent in board.agent_iter():
        observation, reward, termination, truncation, _ = board.last()
        if termination or truncation:
            action = None
        elif agent == person.agent:
            click(board, 5)
            action = person(observation, agent)
        else:
            action = next(choices)
        board.step(action)
        if termination and agent == person.agent:
            assert reward == 1
    assert board.position == Position.parse("16161676")


def test_the_board_as_text(board: Any, capsys: pytest.CaptureFixture[str]) -> None:
    click(board, 0)
    ManualPolicy(board, show_obs=True)(board.observe("player_0"), "player_0")
    assert "player 0 (x) to move" in capsys.readouterr().out


def test_misuse(board: Any) -> None:
    for environment in (env(), env(render_mode="ansi"), object()):
        with pytest.raises(InvalidOption, match="render_mode"):
            ManualPolicy(environment)
    for wrong in (2, -1, "player_0", True):
        with pytest.raises(InvalidOption, match="agent_id"):
            ManualPolicy(board, wrong)  # type: ignore[arg-type]
    with pytest.raises(UnknownAgent, match="plays only 'player_0'"):
        ManualPolicy(board)(board.observe("player_1"), "player_1")
    board.reset(options={"moves": "121212"})
    board.step(0)
    with pytest.raises(WrongOrder, match="over"):
        ask(board, "player_1")
