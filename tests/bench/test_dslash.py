# SPDX-License-Identifier: Apache-2.0
"""`bench dslash` on the CPU: every action in every form, its operations, and what there is not."""

import pytest
from halocline.errors import InvalidArgument

from halocline import bench

LOCAL = [4, 4, 4, 4]
SHORT = {"seconds": 1e-3, "block_seconds": 1e-5}
HOP = 1320 * 4**4 / 2
"""Operations of a hop onto one parity."""
INVERSE = {"domain-wall": 3 * 48, "mobius": 5 * 48}
"""Operations of A^-1 a site and point: multiply-adds of 24 reals by the corner, the number and the one before, and with
Moebius two of the product."""


@pytest.mark.parametrize("precision", bench.PRECISIONS)
@pytest.mark.parametrize("action", bench.ACTIONS)
def test_all_forms_of_an_action_are_measured(action, precision):
    walls, staggered = action in bench.WALLS, action in bench.STAGGERED
    found = {}
    for form in (
        bench.WALL_FORMS if walls or action == "doublet" else bench.STAGGERED_FORMS if staggered else bench.FORMS
    ):
        if form == "inside" and (precision == "double" or action != "wilson"):
            continue
        result = bench.dslash(LOCAL, precision=precision, form=form, columns=2, action=action, ls=4, **SHORT)
        case = result["case"]
        assert (case["action"], case["form"], case["ls"]) == (action, form, 4 if walls else 1)
        assert result["seconds"]["median"] > 0
        found[form] = result["flops"]
    columns = 8 if walls else 4 if action == "doublet" else 2
    if staggered:
        hop = (570 if action == "one-link" else 1146) * 4**4 / 2 * columns
        assert found["hopping"] == hop
        assert found["schur"] == found["wilson"] - 12 * 4**4 / 2 * columns == 2 * hop + 12 * 4**4 / 2 * columns
        return
    assert found["hopping"] == pytest.approx(HOP * columns)
    if walls:
        other = 2 * INVERSE[action] + 48
        assert found["schur"] == pytest.approx((2 * 1320 + other) / 1320 * HOP * columns)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"action": "overlap"}, "give wilson, twisted, doublet, domain-wall, mobius, one-link, asqtad or hisq"),
        ({"action": "hisq", "form": "clover"}, "has no form clover"),
        ({"action": "hisq", "link_reals": 12}, "are not unitary"),
        ({"action": "mobius", "form": "clover"}, "has no form clover"),
        ({"action": "doublet", "form": "clover"}, "has no form clover"),
        ({"action": "twisted", "form": "inside"}, "of the action wilson"),
        ({"action": "domain-wall", "ls": 5}, "even number from 4 to 64"),
        ({"form": "sideways"}, 'the form is "sideways"'),
    ],
)
def test_what_there_is_not_is_refused(words, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        bench.dslash(LOCAL, **words, **SHORT)
