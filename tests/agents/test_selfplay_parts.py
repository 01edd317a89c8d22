"""What self-play needs and PyTorch does not: searches in one batch, games, a training's folder."""

import numpy as np
import pytest

from c4env import Position
from c4env.agents.selfplay.folder import TrainingParser, claim_folder, run
from c4env.agents.selfplay.gumbel import GumbelSearch, considered_visits
from c4env.agents.selfplay.plays import DRAWN, ONGOING, WON, begin_games, play_columns
from c4env.agents.solver import Solver
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, Unwritable
from c4env.jit import config
from tests.helpers.processes import start_python
from tests.rules import reference


def uniform(boards):
    """No opinion."""
    return np.zeros((len(boards), 7)), np.zeros(len(boards))


def sure(boards):
    """Likes the columns on the right, and thinks whoever holds the left corner ahead."""
    logits = np.tile(np.arange(7.0) / 2, (len(boards), 1))
    mine, theirs = boards.T & 1
    return logits, 0.8 * (mine - theirs)


def still(boards):
    """Noise that changes nothing."""
    return np.zeros((len(boards), 7))


@pytest.mark.parametrize(
    ("columns", "simulations", "counts"),
    [
        (4, 16, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        (3, 10, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4]),
        (2, 5, [0, 0, 1, 1, 2]),
        (1, 3, [0, 1, 2]),
        (0, 2, [0, 1]),
    ],
)
def test_the_better_half_goes_on(columns, simulations, counts):
    assert considered_visits(columns, simulations) == counts


def test_all_searches_ask_in_one_batch():
    sizes = []

    def asked(boards):
        sizes.append(len(boards))
        return uniform(boards)

    boards = bitboards(["", "44", "4455", "123", "414141"])
    GumbelSearch(asked, 8)(boards, still(boards))
    assert sizes[0] == 4  # the roots; 414141 is won at once
    assert len(sizes) == 9  # and each simulation, but where a proof ends it
    assert max(sizes) == 4


def test_what_the_next_discs_decide_is_proven_without_asking():
    boards = bitboards(["414141", "33445"])
    result = GumbelSearch(lambda boards: pytest.fail("asked"), 8)(boards, still(boards))
    assert result.columns[0] == 3
    assert result.values.tolist() == [1, -1]
    assert result.proven.all()
    assert result.policies[0].tolist() == [0, 0, 0, 1, 0, 0, 0]


def test_a_forced_move_is_played_and_nothing_said_of_its_value():
    boards = bitboards(["41414"])
    result = GumbelSearch(uniform, 8)(boards, still(boards))
    assert (result.columns[0], result.policies[0, 3], result.proven[0]) == (3, 1, False)
    assert np.isnan(result.values[0])


def test_the_policy_moves_to_what_the_values_favour():
    boards = bitboards(["", "4"])
    result = GumbelSearch(sure, 32)(boards, still(boards))
    prior = np.exp(np.arange(7) / 2) / np.exp(np.arange(7) / 2).sum()
    assert np.allclose(result.policies.sum(axis=1), 1)
    assert (result.columns == 0).all()
    assert (result.policies[:, 0] > 10 * prior[0]).all()
    assert (result.values > 0.3).all()
    unmoved = GumbelSearch(lambda b: (sure(b)[0], np.zeros(len(b))), 32)(boards, still(boards))
    assert np.allclose(unmoved.policies, prior)


def test_compiled_and_plain_python_agree():
    """Written once; both passes of the tests compare with it. Some of the leaves are proven."""
    boards = bitboards(["357231372113312561517767"])
    result = GumbelSearch(sure, 64)(boards, still(boards))
    policy = [0.0, 0.0258, 0.0425, 0.07, 0.1155, 0.1904, 0.5558]
    assert result.columns[0] == 6
    assert result.policies[0] == pytest.approx(policy, abs=1e-4)
    assert result.values[0] == pytest.approx(-0.7565, abs=1e-4)


def test_a_search_does_not_depend_on_those_beside_it():
    games = list(reference.random_games(seed=930, count=12, least=4, most=30))
    boards = bitboards(games)
    noise = np.random.default_rng(2).gumbel(size=(len(boards), 7))
    search = GumbelSearch(sure, 16)
    together = search(boards, noise)
    for i in range(len(boards)):
        alone = search(boards[i : i + 1], noise[i : i + 1])
        for one, many in zip(alone, together, strict=True):
            assert np.array_equal(one[0], many[i], equal_nan=True)


def test_proofs_agree_with_exact_play():
    solver = Solver(book=None, table_mb=4)
    count = 6 if config.DISABLE_JIT else 80
    games = list(reference.random_games(seed=931, count=count, least=28, most=40))
    boards = bitboards(games)
    result = GumbelSearch(uniform, 64)(boards, still(boards))
    assert result.proven.sum() > count / 3
    for moves, column, policy, value, proven in zip(games, *result, strict=True):
        position = Position.parse(moves)
        scores = solver.scores(position)
        if proven:
            worth = np.sign(solver.score(position))
            assert value == worth, moves
            assert np.sign(scores[column]) == worth, moves
            kept = [c for c in range(7) if policy[c] > 0]
            assert all(np.sign(scores[c]) == worth for c in kept), moves


def test_games_begin_empty_or_after_random_moves_that_lose_nothing_at_once():
    boards, count = np.full((600, 2), -1), 500
    results = np.array([WON, DRAWN] * (count // 2) + [ONGOING] * 100, np.int8)
    begin_games(boards, results, np.random.default_rng(4), 0.3)
    assert (boards[count:] == -1).all()
    positions = [Position.from_bitboards(*pair) for pair in boards[:count].tolist()]
    for position in positions:
        after = [position.play(column) for column in position.legal_columns()]
        assert all(other.outcome is None for other in after)
    plies = np.array([position.plies for position in positions])
    assert np.mean(plies == 0) == pytest.approx(0.3, abs=0.06)
    assert {*plies.tolist()} >= {*range(1, 17)}  # later ones are often decided before
    assert plies.max() <= 24
    again = np.full((600, 2), -1)
    begin_games(again, results, np.random.default_rng(4), 0.3)
    assert (boards == again).all()


def test_columns_are_played_and_results_told():
    games = list(reference.random_games(seed=933, count=40, least=8, most=42))
    drawn = "421127327363224366417626743773654415515515"
    for moves in ["1212121", drawn, *games]:
        boards = bitboards([moves[:-1]])
        (result,) = play_columns(boards, np.array([int(moves[-1]) - 1]))
        position = Position.parse(moves)
        assert boards.tolist() == [[position.mine, position.theirs]]
        winner = position.outcome and position.outcome.winner
        ended = DRAWN if winner is None else WON
        assert result == (ONGOING if position.outcome is None else ended)


def test_bad_input_is_one_line_and_an_interrupt_leaves_with_130(capsys):
    parser = TrainingParser("script")
    parser.add_argument("--steps", type=int)

    def act(steps):
        if steps < 1:
            raise InvalidOption(f"steps={steps}: expected at least 1")
        raise KeyboardInterrupt

    assert run(act, parser, "--steps", "0") == 2
    assert capsys.readouterr().err == "script: steps=0: expected at least 1\n"
    assert run(act, parser, "--steps", "1") == 130
    for wrong in (["--step", "1"], ["--steps", "x"], ["--steps", "1", "--steps", "2"]):
        capsys.readouterr()
        with pytest.raises(SystemExit, match="2"):
            run(act, parser, *wrong)
        (line,) = capsys.readouterr().err.splitlines()
        assert wrong[-1] in line
    assert line == ("script: argument --steps: given twice, 1 and 2: expected it once (see --help)")


def test_a_folder_resumes_only_with_the_same_settings(tmp_path):
    for _ in range(2):
        with claim_folder(tmp_path / "new", "seed 1\n"):
            pass
    with pytest.raises(InvalidOption, match="a training with seed 1: expected seed 2"):
        claim_folder(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_bytes(b"\xff")
    with pytest.raises(InvalidOption, match="expected seed 2"):
        claim_folder(tmp_path / "new", "seed 2\n").__enter__()
    (tmp_path / "new" / "settings.txt").write_text("see")  # as a kill may leave it
    with claim_folder(tmp_path / "new", "seed 2\n"):
        assert (tmp_path / "new" / "settings.txt").read_text() == "seed 2\n"


def test_a_folder_takes_more_settings_and_keeps_them(tmp_path):
    for settings in ("seed 1\n", "seed 1\nboards 2\n"):
        with claim_folder(tmp_path, settings):
            pass
    with pytest.raises(InvalidOption, match=r"with seed 1 boards 2: expected seed 1 boards 3"):
        claim_folder(tmp_path, "seed 1\nboards 3\n").__enter__()


def test_a_folder_is_held_by_one_process_until_it_is_killed(tmp_path):
    script = (
        "import pathlib, sys, time\nfrom c4env.agents.selfplay.folder import claim_folder\n"
        "with claim_folder(pathlib.Path(sys.argv[1]), 'seed 1\\n'):\n"
        "    print('held', flush=True)\n    time.sleep(60)\n"
    )
    with start_python("-c", script, tmp_path) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with pytest.raises(Unwritable, match="is locked by another process"):
                claim_folder(tmp_path, "seed 1\n").__enter__()
        finally:
            process.kill()
    with claim_folder(tmp_path, "seed 1\n"):
        pass
