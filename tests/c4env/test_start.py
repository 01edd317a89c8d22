"""One game starts without a compiler: Numba is loaded where kernels are needed."""

from c4env import evaluation
from tests.helpers.processes import run_python

USES = {
    "names": (
        "import c4env.evaluation.__main__\nc4env.errors.C4Error, c4env.agents.names()\n"
        "dir(c4env), dir(c4env.agents), dir(c4env.evaluation), c4env.agents.make('random')"
    ),
    "aec": "env = c4env.env(); env.reset(seed=1); env.step(3); env.last(); env.state()",
    "single": "env = c4env.ConnectFourEnv(); env.reset(seed=1); env.step(3)",
    "single, openings": "c4env.ConnectFourEnv('random', openings=2).reset(seed=1)",
    "single, a function": (
        "env = c4env.ConnectFourEnv(lambda o: int(o['action_mask'].argmax()), seat=0)\n"
        "env.reset(seed=1); env.step(3)"
    ),
    "single, an agent": (
        "class Mine(c4env.agents.Agent):\n"
        "    def choose(self, position):\n"
        "        return position.legal_columns()[0]\n"
        "env = c4env.ConnectFourEnv(Mine(), seat=0); env.reset(seed=1); env.step(3)"
    ),
    "gymnasium": (
        "import gymnasium\nenv = gymnasium.make('c4env/ConnectFour-v0', opponent='random')\n"
        "env.reset(seed=1); env.step(3)"
    ),
    "position": "p = c4env.Position.parse('4455').play(2); p.mirror(); p.moves(); p._repr_svg_()",
    "observation": "c4env.position_from(c4env.observe(c4env.Position.parse('44')))",
    "openings": "c4env.list_openings(3); c4env.list_openings(['44', '45'])",
    "pictures": "env = c4env.env(render_mode='rgb_array'); env.reset(); env.render()",
}


def test_one_game_loads_no_compiler():
    """One process for all: what it says after each use shows the first that loads one."""
    said = "\n".join(
        f"{use}\nprint({name!r}, 'numba' in sys.modules)" for name, use in USES.items()
    )
    done = run_python("-c", f"import sys, c4env\n{said}", check=True)
    assert done.stdout.splitlines() == [f"{name} False" for name in USES]


def test_an_agent_process_that_needs_kernels_loads_them_before_its_first_move(
    tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text(
        "import sys\n"
        "from c4env.agents import Agent\n"
        "class Mine(Agent):\n"
        "    def choose(self, position):\n"
        "        raise ValueError('c4env.bitboard' in sys.modules)\n"
    )
    monkeypatch.chdir(tmp_path)
    game = evaluation.round_robin(["mine.py:Mine", "random"], 0).games[0]
    assert "ValueError: True" in game.reason
