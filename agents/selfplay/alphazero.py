"""AlphaZero in one short file: a network plays itself with a tree search (PUCT), and learns.

python -m c4env.agents.selfplay.alphazero --out DIR --positions 100000
c4 run c4env.agents.selfplay.alphazero:AlphaZero:path=DIR,simulations=100 random greedy
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import c4env
from c4env.agents.base import require_count
from c4env.agents.policies import ModelAgent
from c4env.agents.selfplay.folder import claim_folder, needs, reading_checkpoint, run
from c4env.envs.batch import bitboards, boards_from, observed, positions_of
from c4env.files import write_whole
from c4env.rules import COLUMNS

with needs("torch", __name__):
    import torch
    from torch import nn

SIMULATIONS, C = 32, 1.5  # simulations a move; weight of priors against values from -1 to 1
NOISE, SHARE = 1.0, 0.25  # Dirichlet noise at the root, so that every column is tried now and then
DRAWN = 12  # plies in which visits weigh the draw of a column; later the most visited is played
KEPT, USES, BATCH, RATE = 50_000, 4, 256, 2e-3  # positions kept, uses of each, batch, rate
CHECKPOINT = "checkpoint.pt"


class ConvNet(nn.Module):
    """A network that maps planes ``[M, 6, 7, 2]`` to logits ``[M, 7]`` and values ``[M]``."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        net = [nn.Flatten(), nn.Linear(42 * width, 128), nn.ReLU()]
        for inputs in (width, width, width, 2):
            net = [nn.Conv2d(inputs, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), *net]
        self.body = nn.Sequential(*net)
        self.policy, self.value = nn.Linear(128, COLUMNS), nn.Linear(128, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        """Return logits and values for the side to move."""
        hidden = self.body(planes.permute(0, 3, 1, 2).float())
        return self.policy(hidden), self.value(hidden).squeeze(-1).tanh()


class Node:
    """A position in a search tree, with statistics of its columns for the side to move."""

    def __init__(self, position: c4env.Position) -> None:
        self.position, self.children = position, dict[int, Node]()
        end = position.outcome  # at the end the side to move has lost, or the game is drawn
        self.result = None if end is None else 0.0 if end.winner is None else -1.0
        self.prior = np.zeros(0)  # [7] once the network has evaluated the position
        self.visits, self.total = np.zeros(COLUMNS), np.zeros(COLUMNS)

    def select(self) -> int:
        """Return the column with the greatest sum of mean value and exploration bonus."""
        bonus = C * self.prior * np.sqrt(self.visits.sum() + 1) / (1 + self.visits)
        mean = self.total / np.maximum(self.visits, 1)
        return int(np.where(self.prior > 0, mean + bonus, -np.inf).argmax())

    def child(self, column: int) -> Node:
        """Return the node after a column is played."""
        if column not in self.children:
            self.children[column] = Node(self.position.play(column))
        return self.children[column]


def search(network: ConvNet, roots: list[Node], simulations: int, chance: Any = None) -> None:
    """Search several trees at once: each simulation evaluates one leaf of each tree in a batch."""
    for simulation in range(simulations + 1):
        paths, leaves = [], []
        for node in roots:
            path = []
            while len(node.prior):
                path.append((node, column := node.select()))
                node = node.child(column)
            paths.append(path)
            leaves.append(node)
        values = np.array([leaf.result or 0.0 for leaf in leaves])
        if new := [i for i, leaf in enumerate(leaves) if leaf.result is None]:
            planes, masks = observed(bitboards([leaves[i].position for i in new])).values()
            with torch.inference_mode():
                answer = network.eval()(torch.from_numpy(planes).to(network.policy.weight.device))
            logits, values[new] = (part.double().cpu().numpy() for part in answer)
            weights = np.exp(logits - logits.max(axis=1, keepdims=True)).clip(1e-6) * masks
            for i, weight in zip(new, weights, strict=True):
                leaves[i].prior = weight / weight.sum()  # 0 where a column is full
        for path, value in zip(paths, values.tolist(), strict=True):
            for node, column in reversed(path):
                value = -value  # what is good for one side is bad for the other
                node.visits[column] += 1
                node.total[column] += value
        for root in roots if simulation == 0 and chance is not None else ():
            noise = chance.dirichlet([NOISE] * COLUMNS) * (root.prior > 0)
            root.prior = (1 - SHARE) * root.prior + SHARE * noise


def play(network: ConvNet, boards: int, chance: np.random.Generator) -> list[Any]:
    """Play games; return planes ``[M, 6, 7, 2]``, visit shares ``[M, 7]`` and results ``[M]``."""
    going = games = [[Node(c4env.Position())] for _ in range(boards)]
    while going:
        search(network, [game[-1] for game in going], SIMULATIONS, chance)
        for game in going:
            visits = game[-1].visits
            drawn = game[-1].position.plies < DRAWN
            column = chance.choice(COLUMNS, p=visits / visits.sum()) if drawn else visits.argmax()
            game.append(game[-1].child(int(column)))  # the child keeps its tree
        going = [game for game in going if game[-1].result is None]
    nodes = [node for game in games for node in game[:-1]]
    # The sides take turns, so the result changes its sign from ply to ply, backwards from the end.
    turns = [(game[-1], len(game) - k) for game in games for k in range(1, len(game))]
    results = [(end.result or 0.0) * (-1) ** left for end, left in turns]
    visits = torch.tensor(np.stack([node.visits for node in nodes]))
    planes = torch.tensor(observed(bitboards([node.position for node in nodes]))["observation"])
    return [planes, (visits / visits.sum(1, keepdim=True)).float(), torch.tensor(results).float()]


def learn(network: ConvNet, optimizer: Any, kept: list[Any], steps: int, chance: Any) -> float:
    """Fit the network to stored positions and their mirror images; return the last loss."""
    network.train()
    for _ in range(steps):
        rows = chance.integers(len(kept[0]), size=BATCH)
        planes, shares, results = (part[rows].to(network.policy.weight.device) for part in kept)
        planes, shares = c4env.with_mirrors(planes, shares)
        logits, values = network(planes)
        policy = -(shares * logits.log_softmax(-1)).sum(-1).mean()
        loss = policy + (values - results.repeat(2)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


def train(
    out: Path, positions: int = 100_000, seed: int = 1, device: str = "cpu", boards: int = 128
) -> ConvNet:
    """Play and learn in turns until ``positions`` are played; resume in folder ``out``. Each tenth
    of a training leaves a network there. On one machine the same seed trains the same network."""
    c4env.TensorEnv(1, device)  # refuses a device that is not there
    torch.manual_seed(seed)
    network: ConvNet = ConvNet().to(device)
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-4)
    none = [torch.empty(0, dtype=dtype) for dtype in (torch.int8, torch.float32, torch.float32)]
    state: dict[str, Any] = {"done": 0, "turn": 0, "kept": none}
    with claim_folder(out, f"seed {seed}, boards {boards}\n"):
        if (path := out / CHECKPOINT).exists():
            with reading_checkpoint(path):
                state = torch.load(path, "cpu", weights_only=True)
                network.load_state_dict(state["network"])
                optimizer.load_state_dict(state["optimizer"])
        while (done := state["done"]) < positions:
            chance = np.random.default_rng([seed, state["turn"]])  # so that a kill changes nothing
            new = play(network, boards, chance)
            kept = [torch.cat(pair)[-KEPT:] for pair in zip(state["kept"], new, strict=True)]
            loss = learn(network, optimizer, kept, USES * len(new[0]) // BATCH + 1, chance)
            state |= {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            state |= {"done": done + len(new[0]), "turn": state["turn"] + 1, "kept": kept}
            write_whole(path, partial(torch.save, state))
            if 10 * state["done"] // positions > 10 * done // positions:
                save = partial(torch.save, {"network": state["network"]})
                write_whole(out / f"network-{state['done']:09d}.pt", save)
            print(f"{state['done']:>9,} positions  loss {loss:.3f}", flush=True)
    return network


class AlphaZero(ModelAgent):
    """Plays the column that a search visits most; with 0 simulations, the policy's best column."""

    deterministic = True

    def __init__(self, path: str | Path, simulations: int = 100) -> None:
        super().__init__()
        self._simulations = require_count("simulations", simulations, 0, 1_000_000)
        self._network = ConvNet()
        file = Path(path) / CHECKPOINT if Path(path).is_dir() else Path(path)
        with reading_checkpoint(file):
            self._network.load_state_dict(torch.load(file, "cpu", weights_only=True)["network"])

    def preferences(self, planes: Any) -> Any:
        """Return visits plus priors, ``[M, 7]``; the priors break ties. See :class:`ModelAgent`."""
        roots = [Node(position) for position in positions_of(boards_from(planes))]
        search(self._network, roots, self._simulations)
        return np.stack([root.visits + root.prior for root in roots])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the training")
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(run(train, parser))
