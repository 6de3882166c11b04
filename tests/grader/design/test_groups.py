"""Groups drawn on a cluster: each thing wrong is told in a sentence that names ranks, and crossing has its price."""

from __future__ import annotations

import pytest

from grader import physics
from grader.design import groups, reading, traffic
from grader.design.base import NotAnAnswer
from grader.design.groups import CROSSES, Degrees, Plan, judge, task

# Two nodes of four; tensor ranks are neighbours, data ranks two apart.
PLAN = Plan(2, 4, Degrees(2, 1, 1, 4, 1), ("pipeline", "data", "expert", "context", "tensor"))
TASK = task(1, PLAN)
TENSOR, DATA = "0 1\n2 3\n4 5\n6 7", "0 2 4 6\n1 3 5 7"
EXPERTS = task(3, Plan(2, 8, Degrees(2, 1, 2, 4, 1), ("pipeline", "data", "expert", "context", "tensor")))


def lines(tensor: str = TENSOR, data: str = DATA, crosses: tuple[str, ...] = ("data",)):
    judged = judge(TASK, {"tensor": [tensor], "data": [data], CROSSES: list(crosses)})
    return {line.field: line for line in judged.lines}


def test_right_groups_are_right_in_whatever_order_they_are_written():
    for tensor in (TENSOR, "7 6\n5,4\n\n3 2\n1 0", "[[0, 1], [2, 3], [4, 5], [6, 7]]", "0-1; 2-3; 4-5; 6-7"):
        assert all(line.right and not line.told for line in lines(tensor).values()), tensor


def test_a_rank_in_the_wrong_group_is_named_with_those_it_belongs_to():
    line = lines("0 2\n1 3\n4 5\n6 7")["tensor"]
    assert not line.right
    assert line.told == (
        "Group 0 and 2: rank 0 belongs with 1, and rank 2 with 3.",
        "Group 1 and 3: rank 1 belongs with 0, and rank 3 with 2.",
    )


def test_a_group_of_the_wrong_size_says_how_many_belong_in_it():
    line = lines("0 1 2 3\n4 5\n6 7")["tensor"]
    assert line.told == ("Group 0, 1, 2 and 3 has 4 ranks, and a tensor group has 2; rank 0 belongs with 1.",)


def test_groups_of_another_kind_are_called_by_their_name():
    line = lines(DATA)["tensor"]
    assert line.told == (
        "These are the data groups: ranks 0, 2, 4 and 6 hold the same dense weights and read other samples.",
    )


def test_nodes_taken_for_groups_are_called_so():
    line = lines(data="0-3\n4-7")["data"]
    assert line.told == ("These are the nodes, and not the mesh: rank 0 is in one data group with 2, 4 and 6.",)


def test_experts_left_out_of_the_data_groups_is_a_mix_up_with_a_name():
    given = {kind: [groups.written(right)] for kind, right in EXPERTS.groups.items()}
    given |= {"data": [groups.written(EXPERTS.experts_alone)], CROSSES: ["data"]}
    line = next(line for line in judge(EXPERTS, given).lines if line.field == "data")
    assert not line.right and "hold the same experts; the dense weights are the same on" in line.told[0]


def test_what_crosses_nodes_is_told_with_two_ranks_and_their_nodes():
    told = lines(crosses=("tensor",))
    assert told["crosses-data"].told == ("Ranks 0 and 4 are in one data group, on node 0 and on node 1.",)
    assert told["crosses-tensor"].told == ("Ranks 0 and 1 all lie on node 0, and the other tensor groups likewise.",)
    assert told["tensor"].right and told["data"].right


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "No group is drawn yet."),
        ("0 1\n2 3\n4 5", "In no group yet: 6, 7."),
        ("0 1\n1 2 3\n4 5\n6 7", "Rank 1 stands there twice; each rank is in one group."),
        ("0 1\n2 3\n4 5\n6 8", "There is no rank 8: the ranks are 0 to 7."),
        ("0 one\n2-7", "I cannot read “one”: write ranks by their numbers, a group a line."),
        ("3-0", "“3-0” runs backwards: write 0-3."),
        ("0 " * 1500, "That is 2,999 characters; 2,000 are read."),
    ],
)
def test_what_is_no_division_of_the_ranks_is_not_judged(typed, said):
    with pytest.raises(NotAnAnswer) as refused:
        lines(typed)
    assert refused.value.fields == {"tensor": said}


@pytest.mark.parametrize("level", groups.LEVELS)
def test_a_seed_gives_the_same_exercise_and_seeds_differ(level):
    drawn = [groups.draw(level, seed) for seed in range(60)]
    assert drawn == [groups.draw(level, seed) for seed in range(60)]
    assert len({one.fingerprint for one in drawn}) > 5
    for one in drawn:
        for kind in one.plan.kinds:
            assert sorted(rank for group in one.groups[kind] for rank in group) == list(range(one.plan.world))
            assert {len(group) for group in one.groups[kind]} == {one.plan.size(kind)} != {1}


def test_every_layout_fills_its_cluster_and_level_three_has_all_five_kinds():
    for level, sizes in groups.SIZES.items():
        for size in sizes:
            made = task(level, Plan(size.nodes, size.devices, size.degrees, groups.ORDERS[0]))
            assert len(made.plan.kinds) == {1: 2, 2: 3, 3: 5}[level]


def test_degrees_that_do_not_fill_the_cluster_are_refused():
    with pytest.raises(ValueError, match="do not fill 8 ranks"):
        task(1, Plan(2, 4, Degrees(3, 1, 1, 2, 1), groups.ORDERS[0]))


def costs(plan: Plan) -> dict[str, traffic.Cost]:
    return {one.kind: one for one in traffic.costs(plan, groups.groups_of(plan))}


def test_bytes_are_those_of_the_physics():
    found, model = costs(PLAN), traffic.MODEL
    tensor = physics.tensor_parallel_traffic(1, model.seq, model.hidden, model.layers, 2, 2) * model.microbatches
    assert found["tensor"].bytes_per_rank == pytest.approx(tensor)
    gradients = 12 * model.layers * model.hidden**2 * 2 / 2
    assert found["data"].bytes_per_rank == pytest.approx(2 * 3 / 4 * gradients)


def test_groups_inside_a_node_pay_nothing_and_a_ring_across_runs_at_the_slow_wire():
    found = costs(PLAN)
    assert found["tensor"].across == 0 and found["tensor"].price_s == 0
    data = found["data"]
    assert data.across == data.of == 2
    assert data.laid_s == pytest.approx(data.bytes_per_rank * 8 / traffic.WIRES.across)
    assert data.inside_s == pytest.approx(data.bytes_per_rank * 8 / traffic.WIRES.inside)


def test_an_all_to_all_pays_for_the_partners_elsewhere_alone():
    plan = Plan(2, 4, Degrees(1, 1, 8, 1, 1), groups.ORDERS[0])
    expert = costs(plan)["expert"]
    assert expert.share_across == pytest.approx(4 / 7)
    slow, fast = expert.bytes_per_rank * 8 / traffic.WIRES.across, expert.bytes_per_rank * 8 / traffic.WIRES.inside
    assert expert.laid_s == pytest.approx(4 / 7 * slow + 3 / 7 * fast)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_order_costs_no_more_than_any_that_is_drawn(seed):
    plan = groups.draw(2, seed).plan
    order, price = traffic.best_order(plan)
    assert sorted(order) == sorted(name for name, _ in plan.shape)
    for other in groups.ORDERS:
        laid = Plan(plan.nodes, plan.devices, plan.degrees, other)
        assert price <= traffic.price_s(laid, groups.groups_of(laid)) * (1 + 1e-9)


def test_tensor_parallel_ranks_as_neighbours_beat_tensor_parallel_ranks_far_apart():
    far = Plan(2, 4, PLAN.degrees, ("tensor", "pipeline", "context", "data", "expert"))
    assert traffic.price_s(PLAN, groups.groups_of(PLAN)) < traffic.price_s(far, groups.groups_of(far))
    assert traffic.best_order(far)[0] == ("data", "tensor")


def test_a_bracket_that_never_closes_is_refused_at_once():
    """Three quantifiers that overlap would try every way to share the blanks out."""
    with pytest.raises(ValueError, match="I cannot read"):
        reading.groups("[" + " " * 1900 + "x", 8)
    assert reading.groups("[ 0 1 ] [2,3](4-7)", 8) == [[0, 1], [2, 3], [4, 5, 6, 7]]
