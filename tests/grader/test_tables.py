"""From calibration runs to P(finding | cause)."""

import numpy as np
import pytest

from grader import calibration, predictive, tables
from tests.grader import simulated

LOW = tables.Rule((("fraction", "logit"),), lambda v: "below" if v["fraction"] < 0.8 else "above", ("below", "above"))
SWITCH = tables.Rule((("on", "linear"),), lambda v: "on" if v["on"] else "off", ("on", "off"), deterministic=True)


def runs_of(cause, values, *, variant="bench", reading="fraction", rule=LOW):
    return [
        {"cause": cause, "run_id": f"{cause}-{number}", "experiment": "bench", "variant": variant,
         "readings": {reading: value}, "finding": rule.classify({reading: value})}
        for number, value in enumerate(values)
    ]  # fmt: skip


def logits(centre, spread, count, seed):
    draws = np.log(centre / (1 - centre)) + np.random.default_rng(seed).normal(0, spread, count)
    return (1 / (1 + np.exp(-draws))).tolist()


def table_of(*groups):
    return tables.build([row for group in groups for row in group], {"bench": LOW}).variants["bench"]


def test_eight_well_separated_runs_entail_an_elimination_by_the_checked_fit():
    table = table_of(runs_of("link", logits(0.3, 0.2, 8, 1)), runs_of("healthy", logits(0.95, 0.2, 8, 2)))
    assert table.cells["link"].basis == "fit"
    assert table.cells["link"].upper["above"] <= 0.10
    assert table.healthy_finding == "above"
    assert table.healthy_false_rate == 0


def test_eight_runs_do_not_entail_one_where_the_fit_fails():
    stuck = [0.3] * 8
    table = table_of(runs_of("link", stuck), runs_of("healthy", logits(0.95, 0.2, 8, 2)))
    assert table.cells["link"].basis == "counts"
    assert table.cells["link"].upper["above"] > 0.10
    assert table.report["link"].why_counts == "a reading does not vary"


def test_thirty_counted_runs_entail_one_without_any_fit():
    assert calibration.clopper_pearson_upper(0, 30) <= 0.10 < calibration.clopper_pearson_upper(0, 28)
    table = table_of(runs_of("link", [0.3] * 30), runs_of("healthy", [0.95] * 30))
    assert table.cells["link"].basis == "counts"
    assert table.cells["link"].upper["above"] <= 0.10


def test_an_outlier_fails_the_fit():
    values = [*logits(0.9, 0.05, 12, 3), 0.2]
    check = predictive.check_fit(np.array([[predictive.to_scale(v, "logit")] for v in values]), np.array([[0.01]]))
    assert not check.fits
    assert check.p < 0.05


def test_normal_runs_pass_the_fit_about_as_often_as_the_test_says():
    passed = [
        predictive.check_fit(np.random.default_rng(seed).normal(0, 1, (12, 1)), np.array([[1.0]])).fits
        for seed in range(200)
    ]
    assert np.mean(passed) >= 0.93


def test_causes_that_the_probe_cannot_tell_apart_share_their_runs():
    table = table_of(
        runs_of("a", logits(0.95, 0.2, 12, 11)), runs_of("b", logits(0.95, 0.2, 12, 12)),
        runs_of("link", logits(0.3, 0.2, 12, 13)), runs_of("healthy", logits(0.95, 0.2, 12, 14)),
    )  # fmt: skip
    assert table.cells["a"].pool == table.cells["b"].pool == ("a", "b", "healthy")
    assert table.cells["a"].runs == 36
    assert table.cells["a"].own_runs == 12
    assert table.cells["link"].pool == ("link",)


def test_causes_alike_in_finding_but_not_in_reading_are_not_pooled():
    table = table_of(runs_of("a", logits(0.95, 0.1, 12, 11)), runs_of("b", logits(0.88, 0.1, 12, 12)))
    assert table.cells["a"].pool == ("a",)


def test_a_configuration_read_is_near_certain_and_marked():
    rows = [*runs_of("x", [1.0] * 8, reading="on", rule=SWITCH), *runs_of("y", [0.0] * 8, reading="on", rule=SWITCH)]
    table = tables.build(rows, {"bench": SWITCH}).variants["bench"]
    assert table.cells["x"].basis == "deterministic"
    assert table.cells["x"].p["on"] > 0.99
    assert table.cells["x"].upper["off"] <= 0.10


def test_a_configuration_read_that_varies_within_a_cause_is_counted():
    rows = [
        *runs_of("x", [1.0, 0.0] * 5, reading="on", rule=SWITCH),
        *runs_of("y", [0.0] * 8, reading="on", rule=SWITCH),
    ]
    cell = tables.build(rows, {"bench": SWITCH}).variants["bench"].cells["x"]
    assert cell.basis == "counts"
    assert 0.3 < cell.p["on"] < 0.7
    assert cell.upper["on"] > 0.10


def test_the_fit_recovers_the_probability_that_the_runs_were_drawn_with():
    from scipy import stats

    centre, spread = 1.7, 0.4
    share_below = stats.norm.cdf((np.log(0.8 / 0.2) - centre) / spread)
    data = np.random.default_rng(5).normal(centre, spread, 60)
    found = table_of(runs_of("a", (1 / (1 + np.exp(-data))).tolist())).cells["a"]
    assert found.p["below"] == pytest.approx(share_below, abs=0.08)
    assert found.p["below"] < found.upper["below"] < found.p["below"] + 0.15


def test_the_upper_bound_covers_the_truth_about_nineteen_times_in_twenty():
    from scipy import stats

    truth = stats.norm.cdf(-1.3)
    covered = []
    for seed in range(120):
        data = np.random.default_rng(seed).normal(np.log(4) + 1.3, 1.0, 10)
        cell = table_of(runs_of("a", (1 / (1 + np.exp(-data))).tolist())).cells["a"]
        covered.append(cell.upper["below"] >= truth)
    assert np.mean(covered) >= 0.90


def test_correlated_readings_are_fitted_jointly():
    draw = np.random.default_rng(3)
    first = draw.normal(0, 1, 40)
    data = np.column_stack([first, first + draw.normal(0, 0.1, 40)])
    assert [b.columns for b in predictive.fit_blocks(data, np.cov(data.T))] == [(0, 1)]
    difference = lambda v: "far" if abs(v["a"] - v["b"]) > 0.5 else "near"  # noqa: E731
    found = predictive.predict(data, ["linear"] * 2, ["a", "b"], np.cov(data.T), difference, ["near", "far"])
    assert found.p[0] > 0.9


def test_every_cell_is_a_distribution_under_its_bound():
    for table in simulated.built().variants.values():
        for cell in table.cells.values():
            assert sum(cell.p.values()) == pytest.approx(1)
            assert all(0 < p <= cell.upper[finding] + 1e-12 <= 1 + 1e-9 for finding, p in cell.p.items())


def test_the_order_in_which_runs_were_taken_changes_nothing():
    rows = simulated.observations()
    by_run = lambda row: row["run_id"][::-1]  # noqa: E731
    causes = sorted(rows, key=lambda row: (rows.index(row) // (15 * 10), by_run(row)))
    assert tables.build(causes, simulated.rules()).digest == simulated.built().digest
    assert len(simulated.built().digest) == 16


def test_held_out_loss_is_lower_where_the_probe_tells():
    built = simulated.built().variants
    assert built["microbenchmark[placement=as-job,size=job]"].log_loss_bits < 0.1
    assert built["microbenchmark[placement=as-job,size=small]"].log_loss_bits > 0.4


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"variant": "nobody"}, "has no rule"),
        ({"finding": "sideways"}, "does not list"),
        ({"readings": {}}, "lacks the decisive reading"),
    ],
)
def test_observations_that_do_not_fit_their_rule_are_refused(row, says):
    good = runs_of("a", [0.9])[0]
    with pytest.raises(tables.TableError, match=says):
        tables.build([{**good, **row}], {"bench": LOW})


def test_reading_tables_does_not_load_the_statistics():
    import subprocess
    import sys

    code = "import sys, grader.tables, grader.grade; sys.exit('scipy.stats' in sys.modules or 'django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_cause_of_three_runs_joins_where_it_could_be_tested_and_was_alike():
    many = runs_of("healthy", logits(0.95, 0.2, 12, 1))
    table = table_of(many, runs_of("a", logits(0.95, 0.2, 3, 2)), runs_of("link", logits(0.3, 0.2, 3, 3)))
    assert table.cells["a"].pool == ("healthy", "a")
    assert (table.cells["a"].own_runs, table.cells["a"].runs) == (3, 15)
    assert table.cells["link"].pool == ("link",)


def test_two_causes_of_three_runs_are_not_pooled_for_want_of_a_test():
    table = table_of(runs_of("a", logits(0.95, 0.2, 3, 1)), runs_of("b", logits(0.3, 0.2, 3, 2)))
    assert table.cells["a"].pool == ("a",)
    assert table.cells["b"].pool == ("b",)


def test_a_cause_that_cannot_touch_a_reading_shows_what_healthy_runs_do_and_adds_no_run():
    rows = runs_of("healthy", logits(0.95, 0.2, 12, 1))
    table = tables.build(rows, {"bench": LOW}, {"bench": ["a"]}).variants["bench"]
    assert table.cells["a"].p == table.cells["healthy"].p
    assert (table.cells["a"].runs, table.cells["a"].own_runs) == (12, 0)


def test_a_cause_with_runs_of_its_own_is_not_said_to_be_untouched():
    rows = runs_of("healthy", logits(0.95, 0.2, 12, 1)) + runs_of("a", logits(0.95, 0.2, 3, 2))
    with pytest.raises(tables.TableError, match="has runs of it"):
        tables.build(rows, {"bench": LOW}, {"bench": ["a"]})


def test_counted_cells_are_a_run_of_doubt_shared_among_the_findings():
    """Eight stuck runs: (8 + ½) of 9; the bound of none in eight is 1 − 0.05^⅛; each run held out leaves 7½ of 8."""
    table = table_of(runs_of("link", [0.3] * 8))
    cell, report = table.cells["link"], table.report["link"]
    assert cell.p == {"below": pytest.approx(8.5 / 9), "above": pytest.approx(0.5 / 9)}
    assert cell.upper == {"below": 1.0, "above": pytest.approx(1 - 0.05 ** (1 / 8))}
    assert report.log_loss_bits == pytest.approx(-np.log2(7.5 / 8)) == table.log_loss_bits
    assert (report.seen, report.runs, report.own_runs, report.pool, report.fit_p) == (
        {"below": 8},
        8,
        8,
        ("link",),
        None,
    )
    assert (table.healthy_finding, table.healthy_false_rate, table.healthy_inconclusive_rate) == (None, None, None)


def test_counted_runs_of_two_findings_are_bounded_each_by_its_own_count():
    rows = runs_of("x", [1.0] * 6 + [0.0] * 4, reading="on", rule=SWITCH)
    table = tables.build(rows, {"bench": SWITCH}).variants["bench"]
    cell, report = table.cells["x"], table.report["x"]
    assert cell.p == {"on": pytest.approx(6.5 / 11), "off": pytest.approx(4.5 / 11)}
    bounds = {"on": calibration.clopper_pearson_upper(6, 10), "off": calibration.clopper_pearson_upper(4, 10)}
    assert cell.upper == {finding: pytest.approx(bound) for finding, bound in bounds.items()}
    assert report.log_loss_bits == pytest.approx(-(6 * np.log2(5.5 / 10) + 4 * np.log2(3.5 / 10)) / 10)
    assert report.seen == {"off": 4, "on": 6}


@pytest.mark.parametrize(("hits", "runs", "bound"), [(0, 30, 0.0950), (1, 10, 0.3942), (10, 10, 1.0), (0, 1, 0.95)])
def test_the_bound_of_a_share_is_clopper_and_pearson_s(hits, runs, bound):
    assert calibration.clopper_pearson_upper(hits, runs) == pytest.approx(bound, abs=1e-4)


def test_a_configuration_read_leaves_one_per_cent_for_a_slip():
    rows = runs_of("x", [1.0] * 3, reading="on", rule=SWITCH)
    table = tables.build(rows, {"bench": SWITCH}).variants["bench"]
    assert table.cells["x"].p == {"on": pytest.approx(0.995), "off": pytest.approx(0.005)}
    assert table.cells["x"].upper == {"on": 1.0, "off": 0.02}
    assert table.report["x"].log_loss_bits == pytest.approx(-np.log2(0.995))
    assert (table.report["x"].why_counts, table.deterministic, table.experiment) == ("", True, "bench")


def test_why_a_configuration_read_is_counted_is_said():
    few = tables.build(runs_of("x", [1.0] * 2, reading="on", rule=SWITCH), {"bench": SWITCH}).variants["bench"]
    assert few.report["x"].why_counts == "2 of the 3 runs that a configuration read needs"
    varies = runs_of("x", [1.0, 1.0, 0.0], reading="on", rule=SWITCH)
    report = tables.build(varies, {"bench": SWITCH}).variants["bench"].report["x"]
    assert report.why_counts == "a configuration read, but its finding varies within the cause"
    assert report.basis == "counts"


UNSURE = tables.Rule(
    (("fraction", "logit"),),
    lambda v: "below" if v["fraction"] < 0.6 else "above" if v["fraction"] > 0.8 else "inconclusive",
    ("below", "above", "inconclusive"),
)


def healthy(values):
    rows = [{**row, "finding": UNSURE.classify(row["readings"])} for row in runs_of("healthy", values)]
    return tables.build(rows, {"bench": UNSURE}).variants["bench"]


def test_what_healthy_runs_show_is_told_with_how_often_they_show_something_else():
    table = healthy([0.9] * 6 + [0.5] * 1 + [0.7] * 3)
    assert table.healthy_finding == "above"
    assert (table.healthy_false_rate, table.healthy_inconclusive_rate) == (0.1, 0.3)
    unclear = healthy([0.7] * 4)
    assert (unclear.healthy_finding, unclear.healthy_false_rate) == ("inconclusive", 0.0)
    assert unclear.healthy_inconclusive_rate == 1.0


def test_the_loss_of_a_variant_weighs_its_causes_by_their_runs():
    table = table_of(runs_of("a", [0.3] * 12), runs_of("b", [0.3, 0.95, 0.95]))
    losses = {cause: report.log_loss_bits for cause, report in table.report.items()}
    assert table.log_loss_bits == pytest.approx((12 * losses["a"] + 3 * losses["b"]) / 15)


def test_what_is_untouched_needs_healthy_runs_and_adds_nothing_to_the_loss():
    rows = runs_of("healthy", [0.95] * 8)
    lent = tables.build(rows, {"bench": LOW}, {"bench": ["a", "b"]}).variants["bench"]
    alone = tables.build(rows, {"bench": LOW}).variants["bench"]
    assert lent.log_loss_bits == alone.log_loss_bits
    assert (lent.report["b"].own_runs, lent.report["b"].seen, lent.report["b"].runs) == (0, {}, 8)
    with pytest.raises(tables.TableError, match=r"^bench has no healthy runs, which a, b would be read by$"):
        tables.build(runs_of("link", [0.3] * 8), {"bench": LOW}, {"bench": ["a", "b"]})


def test_two_readings_of_one_run_are_tempered_by_what_predicts_its_cause_best():
    """The same reading twice tells no more than once; two that are independent tell twice as much."""
    draw = np.random.default_rng(4)
    rows = []
    for cause, centre in (("a", 0.75), ("b", 0.85)):
        for number in range(24):
            one, other = (1 / (1 + np.exp(-(np.log(centre / (1 - centre)) + draw.normal(0, 0.3)))) for _ in range(2))
            for variant, value in (("first", one), ("again", one), ("apart", other)):
                rows += [
                    {"cause": cause, "run_id": f"{cause}-{number}", "variant": variant, "readings": {"fraction": value},
                     "experiment": "job", "finding": LOW.classify({"fraction": value})}
                ]  # fmt: skip

    def tempering(*variants):
        chosen = [row for row in rows if row["variant"] in variants]
        return tables.build(chosen, dict.fromkeys(variants, LOW))

    twice, apart = tempering("first", "again"), tempering("first", "apart")
    assert twice.tempering["job"] < apart.tempering["job"]
    assert set(twice.tempering_log_loss_bits["job"]) == {"0", "0.25", "0.5", "0.75", "1"}
    losses = twice.tempering_log_loss_bits["job"]
    assert losses[f"{twice.tempering['job']:g}"] <= min(losses.values()) + 0.01
    assert tempering("first").tempering == {}


def several(experiments, *, causes=("a", "b"), runs=12, lacking=()):
    """Runs of variants, each (name, experiment, seed), some of which lack some causes or runs."""
    rows = []
    for name, experiment, seed in experiments:
        draw = np.random.default_rng(seed)
        for cause in causes:
            for number in range(runs):
                value = float(np.clip(draw.normal({"a": 0.75, "b": 0.85}.get(cause, 0.8), 0.05), 0.01, 0.99))
                if (name, cause) not in lacking and (name, cause, number) not in lacking:
                    rows.append(
                        {"cause": cause, "run_id": f"{cause}-{number}", "variant": name, "experiment": experiment,
                         "readings": {"fraction": value}, "finding": LOW.classify({"fraction": value})}
                    )  # fmt: skip
    return tables.build(rows, {name: LOW for name, _, _ in experiments})


PAIR = (("first", "job", 1), ("second", "job", 2))


def test_every_experiment_of_two_readings_is_tempered_by_its_own_runs():
    other = (("third", "sweep", 3), ("fourth", "sweep", 4))
    alone, beside = several(PAIR), several((("only", "bench", 5), *PAIR, *other))
    assert set(beside.tempering) == {"job", "sweep"}
    assert beside.tempering_log_loss_bits["job"] == alone.tempering_log_loss_bits["job"]
    assert beside.tempering_log_loss_bits["sweep"] == several(other).tempering_log_loss_bits["sweep"]


def test_an_experiment_of_which_no_run_has_two_readings_is_not_tempered():
    halves = (("third", "a-sweep", 3), ("fourth", "a-sweep", 4))
    apart = [("third", cause, number) for cause in "ab" for number in range(6)]
    apart += [("fourth", cause, number) for cause in "ab" for number in range(6, 12)]
    found = several((*halves, *PAIR), lacking=apart)
    assert set(found.tempering) == {"job"}


def test_a_run_with_one_reading_says_nothing_of_tempering():
    one_reading = several(PAIR, lacking=[("second", cause, number) for cause in "ab" for number in range(1, 12)])
    assert set(one_reading.tempering) == {"job"}


def test_a_cause_that_one_reading_was_never_taken_under_is_left_out_of_tempering():
    found = several(PAIR, causes=("a", "b", "c"), lacking=[("second", "c")])
    assert "c" not in found.variants["second"].cells
    assert found.tempering == {}


def test_configuration_reads_are_not_tempered():
    rows = [
        {"cause": cause, "run_id": f"{cause}-{number}", "variant": name, "experiment": "job",
         "readings": {"on": float(cause == "a")}, "finding": "on" if cause == "a" else "off"}
        for name in ("one", "other") for cause in "ab" for number in range(8)
    ]  # fmt: skip
    assert tables.build(rows, {"one": SWITCH, "other": SWITCH}).tempering == {}


def test_the_spread_within_causes_is_pooled_over_the_runs_less_the_causes():
    """Two runs of one cause a unit apart from their mean, one run of another: one degree of freedom."""
    by_cause = {
        "a": calibration._Sample(("1", "2"), np.array([[0.0], [2.0]]), ("x", "x")),
        "b": calibration._Sample(("3",), np.array([[9.0]]), ("x",)),
    }
    assert calibration._covariance_within(by_cause).tolist() == [[pytest.approx(2.0)]]
    four = {**by_cause, "b": calibration._Sample(("3", "4"), np.array([[7.0], [9.0]]), ("x", "x"))}
    assert calibration._covariance_within(four).tolist() == [[pytest.approx(2.0)]]
    alone = {"b": by_cause["b"]}
    assert calibration._covariance_within(alone).tolist() == [[pytest.approx(0.0, abs=1e-12)]]
