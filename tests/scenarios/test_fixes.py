"""A fix does good only to its causes and only at the fault's own place."""

from __future__ import annotations

import pytest

from scenarios import draws, fixes, library

FLAGSHIP = library.get("slow-all-reduce")


def drawn(cause: str, place: str | None = None):
    instance = draws.draw_instance(FLAGSHIP, FLAGSHIP.cause(cause), 2, "seed")
    return instance.model_copy(update={"place": place or instance.place})


CURES = {
    "throttled-rank": ("drain-host", "rank:1"),
    "stuttering-rank": ("drain-host", "rank:1"),
    "pinned-cores": ("fix-affinity", None),
    "slow-input-rank": ("move-input", "rank:1"),
    "shared-storage": ("move-input", None),
    "skewed-shard": ("rebalance-shards", None),
    "degraded-link": ("replace-link", "link:leaf0-spine1"),
    "lossy-link": ("replace-link", "link:host0-leaf0"),
    "worse-placement": ("restore-placement", None),
    "path-collision": ("repin-paths", None),
    "oversubscribed-spine": ("isolate-traffic", None),
    "fallback-transport": ("restore-transport", None),
    "small-buckets": ("restore-buckets", None),
    "no-overlap": ("restore-overlap", None),
    "per-step-sync": ("remove-sync", None),
    "launch-gaps": ("restore-kernels", None),
    "slower-compute-everywhere": ("restore-kernels", None),
    "comparison-changed": ("accept-physics", None),
}


@pytest.mark.parametrize("cause", FLAGSHIP.prior)
def test_every_cause_has_its_cure(cause):
    fix, where = CURES[cause]
    instance = drawn(cause, where)
    assert fixes.effect(FLAGSHIP, instance, fix, where) == "cures"


@pytest.mark.parametrize("cause", FLAGSHIP.prior)
@pytest.mark.parametrize("fix", ["restart-job", "reboot-switches"])
def test_tempting_fixes_cure_nothing_but_what_other_ports_do(cause, fix):
    cures = (fix, cause) == ("restart-job", "path-collision")  # other ports, other paths
    assert fixes.effect(FLAGSHIP, drawn(cause), fix, None) == ("cures" if cures else "nothing")


@pytest.mark.parametrize("where", [None, "rank:0", "link:host0-leaf0"])
def test_the_right_fix_at_the_wrong_place_does_nothing(where):
    assert fixes.effect(FLAGSHIP, drawn("degraded-link", "link:leaf0-spine1"), "replace-link", where) == "nothing"


def test_draining_a_host_takes_its_bad_cable_away_and_no_uplink():
    assert fixes.effect(FLAGSHIP, drawn("degraded-link", "link:host3-leaf1"), "drain-host", "host:3") == "cures"
    assert fixes.effect(FLAGSHIP, drawn("degraded-link", "link:leaf1-spine0"), "drain-host", "host:3") == "nothing"


def test_more_accelerators_harm_where_each_has_too_little_to_do():
    assert fixes.effect(FLAGSHIP, drawn("comparison-changed"), "add-gpus", None) == "harms"


def test_an_unknown_fix_is_no_fix():
    with pytest.raises(KeyError):
        fixes.effect(FLAGSHIP, drawn("no-overlap"), "pray", None)


@pytest.mark.parametrize(
    ("applied", "left"),
    [
        (["restart-job", "restore-overlap"], "cures"),
        (["restore-overlap", "restart-job"], "cures"),
        (["restart-job"], "nothing"),
        (["compress-gradients"], "compress-gradients"),
        (["compress-gradients", "restart-job"], "nothing"),
        (["restore-overlap", "more-accumulation"], "cures+more-accumulation"),
    ],
)
def test_a_cure_stays_and_a_change_of_the_job_is_taken_back_by_the_next(applied, left):
    instance = draws.draw_instance(FLAGSHIP, FLAGSHIP.cause("no-overlap"), 0, "seed")
    assert fixes.left_behind(FLAGSHIP, instance, [(fix, None) for fix in applied]) == left


def test_a_cause_without_a_place_is_cured_wherever_the_fix_names():
    instance = draws.draw_instance(FLAGSHIP, FLAGSHIP.cause("shared-storage"), 0, "seed")
    assert fixes.effect(FLAGSHIP, instance, "move-input", None) == "cures"
    assert fixes.effect(FLAGSHIP, instance, "move-input", "rank:1") == "cures"
