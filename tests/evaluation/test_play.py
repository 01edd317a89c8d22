import pytest

from c4env.evaluation.records.run_folder import read_folder

LEFTMOST = "def agent(observation):\n    return int(observation['action_mask'].argmax())\n"


@pytest.fixture
def play(folder, monkeypatch, c4):
    """Play with these lines typed; returns standard output."""
    (folder / "left.py").write_text(LEFTMOST)

    def played(lines, *arguments):
        typed = iter(lines)

        def ask(prompt):
            print(prompt)
            try:
                return next(typed)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", ask)
        return c4("play", *arguments)

    return played


@pytest.mark.parametrize(
    ("players", "moves", "typed", "said", "winner"),
    [
        ("human left=left.py", "", "4444", "human (red x) wins", 0),
        ("left=left.py human", "", "4444", "left (red x) wins", 0),
        ("human left=left.py", "4141", "44", "human (red x) wins", 0),
        ("left=left.py human", "414", "2344", "human (yellow o)", None),
    ],
)
def test_a_person_is_a_policy(play, players, moves, typed, said, winner, tmp_path):
    """Whoever is named first owns the first disc, after --moves of any length."""
    shown = play(typed, *players.split(), "--moves", moves, "--record", "kept")
    assert said in shown
    if winner is not None:
        (game,) = read_folder(tmp_path / "kept")[1]
        assert (game.winner, game.opening) == (winner, moves)
        assert game.moves.startswith(moves)


def test_bad_input_is_asked_again_and_nothing_is_written(play, tmp_path):
    shown = play(["", "0", "8", "x", "44", " 4 ", *"444"], "human", "left=left.py")
    for wrong in ("''", "'0'", "'8'", "'x'", "'44'"):
        assert f"{wrong}: expected a column that has room" in shown
    assert shown.rstrip().endswith("human (red x) wins")
    assert {path.name for path in tmp_path.iterdir()} <= {"left.py", "__pycache__"}


@pytest.mark.parametrize("typed", [["4", "q"], ["4"]])
def test_who_leaves_has_played_no_game(play, typed, tmp_path):
    assert play(typed, "human", "left=left.py", "--record", "kept").endswith("left the game\n")
    assert not (tmp_path / "kept").exists()


def test_a_record_has_the_tally_of_the_two(play):
    play("4444", "human", "left=left.py", "--record", "kept")
    shown = play("4444", "human", "left=left.py", "--record", "kept", "--format", "csv")
    assert shown.splitlines() == [
        "first,second,games,wins,draws,losses,score",
        "human,left,2,2,0,0,1.0",
    ]


def test_an_agent_that_fails_forfeits(play, tmp_path):
    (tmp_path / "bad.py").write_text("def agent(observation):\n    return 9\n")
    shown = play("4", "human", "bad.py")
    assert "bad.py (yellow o) forfeits: " in shown
    assert shown.rstrip().endswith("human (red x) wins")
