"""What holds for every probe, found by looking and not by a list."""

import json

import pytest

from gpu_worker import export, figures
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import INCONCLUSIVE, variants

PALETTE_OF_THE_FIRST_INCIDENT = {
    "per-rank-step-times": (3, False),
    "collective-arrivals": (4, False),
    "host-telemetry": (8, False),
    "input-timings": (8, False),
    "microbenchmark": (8, True),
    "link-rates": (12, False),
    "link-error-counters": (12, False),
    "placement-map": (10, False),
    "library-choices": (10, False),
    "overlap-trace": (12, False),
    "change-log": (20, False),
}
EACH = [(probe, params) for probe in PROBES.values() for params in variants(probe)]
IDS = [f"{probe.id}{params or ''}" for probe, params in EACH]


def test_the_palette_of_the_first_incident_is_there_at_its_prices():
    found = {probe.id: (probe.price_min, probe.stops_job) for probe in PROBES.values()}
    assert PALETTE_OF_THE_FIRST_INCIDENT.items() <= found.items()


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_probe_says_each_finding_in_a_sentence_and_where_to_look_on_nccl(probe):
    assert INCONCLUSIVE in probe.findings
    assert all(sentence.endswith(".") and len(sentence) > 20 for sentence in probe.findings.values())
    assert len(probe.on_nccl) > 250
    assert probe.question.endswith("?")


@pytest.mark.parametrize(("probe", "params"), EACH, ids=IDS)
def test_a_reading_has_a_unit_and_a_label_and_the_finding_is_one_of_the_stated(probe, params, run_for):
    result = probe.read(run_for(probe, params), params)
    assert all(reading.unit and reading.label for reading in result.readings.values())
    assert probe.finding(result) in probe.findings
    for decisive in probe.decisive:
        value = float(result.readings[decisive.reading].value)
        assert decisive.from_scale(decisive.to_scale(value)) == pytest.approx(value, abs=2e-4)


@pytest.mark.parametrize(("probe", "params"), EACH, ids=IDS)
def test_series_are_tables_and_travel_as_json_and_csv(probe, params, run_for):
    result = probe.read(run_for(probe, params), params)
    assert result.series
    for series in result.series.values():
        assert len(series.columns) == len(series.units)
        assert all(len(row) == len(series.columns) for row in series.rows)
        assert series.caption.endswith(".")
        assert export.series_as_csv(series).count("\r\n") == len(series.rows) + 1
    assert json.loads(export.as_json(result)) == export.as_dict(result)


@pytest.mark.parametrize(("probe", "params"), EACH, ids=IDS)
def test_a_figure_is_plain_json_whose_colours_are_roles_known_to_both_themes(probe, params, run_for):
    figure = probe.figure(probe.read(run_for(probe, params), params), params)
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
    if not figure:
        return
    assert len(figure["layout"]["meta"]["alt"]) > 20
    for theme in figures.THEMES:
        text = json.dumps(figures.themed(figure, theme))
        assert "role:" not in text
    assert '"#' not in json.dumps(figure)


@pytest.mark.parametrize(("probe", "params"), EACH, ids=IDS)
def test_a_figure_shows_nothing_that_the_table_does_not_hold(probe, params, run_for):
    """The figure is made of the result alone, so that its table twin can be made of the same."""
    result = probe.read(run_for(probe, params), params)
    again = probe.read(run_for(probe, params), params)
    assert probe.figure(result, params) == probe.figure(again, params)


@pytest.mark.parametrize(("probe", "params"), EACH, ids=IDS)
@pytest.mark.parametrize("cause", ["throttled-rank", "degraded-link", "no-overlap", "comparison-changed"])
def test_what_was_injected_never_reaches_a_reading(probe, params, cause, run_for, with_faults):
    run = run_for(probe, params)
    plain = _everything(probe, params, run)
    for place in (None, "rank:3", "link:leaf0-spine1"):
        assert _everything(probe, params, with_faults(run, cause, place)) == plain


def _everything(probe, params, run):
    result = probe.read(run, params)
    return json.dumps([export.as_dict(result), probe.figure(result, params), probe.finding(result)]).encode()


def test_a_job_probe_refuses_a_run_of_another_experiment_by_name(made_microbenchmark_run):
    with pytest.raises(ValueError, match="microbenchmark"):
        PROBES["per-rank-step-times"].read(made_microbenchmark_run(), {})
    with pytest.raises(ValueError, match="no iteration"):
        PROBES["microbenchmark"].read(made_microbenchmark_run().model_copy(update={"iterations": []}), {})
