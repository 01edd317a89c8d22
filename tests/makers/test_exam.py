"""``python -m tests.makers exam``."""

import pytest

from c4env.agents.solver.exam import exam
from c4env.errors import InvalidOption
from tests.makers import exam as making
from tests.makers.__main__ import main


@pytest.mark.slow
@pytest.mark.compiled
def test_a_small_exam_is_made_and_verified(tmp_path):
    path = tmp_path / "exam.tsv"
    assert main(["exam", "build", str(path), "--games", "40", "--quiet"]) == 0
    questions = making.build(40)
    assert path.read_text() == making.format_exam(questions)
    making.verify(questions[:3])
    late = max(exam(), key=lambda question: len(question.moves))
    wrong = late._replace(scores=tuple(None if s is None else s + 1 for s in late.scores))
    with pytest.raises(InvalidOption, match="the scores are"):
        making.verify([wrong])
