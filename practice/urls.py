"""Addresses of the web room."""

from django.conf import settings
from django.urls import path

from practice.design import views as design
from practice.drills import views as drills
from practice.views import attempt, conclusion, evidence, home, record, scorecard

app_name = "practice"

urlpatterns = [
    path("", home.home, name="home"),
    path("incidents/<slug:key>/start", home.start, name="start"),
    path("attempts/<uuid:id>/", attempt.page, name="attempt"),
    path("attempts/<uuid:id>/do/<slug:kind>", attempt.act, name="act"),
    path("attempts/<uuid:id>/evidence/<uuid:evidence_id>/", evidence.card, name="evidence"),
    path("attempts/<uuid:id>/evidence/<uuid:evidence_id>/reading.json", evidence.as_json, name="evidence_json"),
    path("attempts/<uuid:id>/evidence/<uuid:evidence_id>/reading.csv", evidence.as_csv, name="evidence_csv"),
    path("attempts/<uuid:id>/evidence/<uuid:evidence_id>/report", evidence.report, name="report"),
    path("attempts/<uuid:id>/conclusion/", conclusion.page, name="conclusion"),
    path("attempts/<uuid:id>/alerts/try", conclusion.try_alert, name="try_alert"),
    path("attempts/<uuid:id>/scorecard/", scorecard.page, name="scorecard"),
    path("attempts/<uuid:id>/transcript.json", scorecard.transcript, name="transcript"),
    path("progress/", record.page, name="record"),
    path("drills/", drills.home, name="drills"),
    path("drills/start", drills.start, name="start_sprint"),
    path("drills/<uuid:id>/", drills.page, name="sprint"),
    path("drills/<uuid:id>/answer", drills.answer, name="drill_answer"),
    path("drills/<uuid:id>/next", drills.go_on, name="drill_next"),
    path("drills/<uuid:id>/end", drills.end, name="drill_end"),
    path("drills/<uuid:id>/<int:index>/", drills.question, name="drill_question"),
    path("design/", design.home, name="design"),
    path("design/start", design.start, name="start_design"),
    path("design/<uuid:id>/", design.page, name="design_attempt"),
    path("design/<uuid:id>/answer", design.answer, name="design_answer"),
    path("design/<uuid:id>/draft", design.draft, name="design_draft"),
    path("design/<uuid:id>/mark", design.mark, name="design_mark"),
]

if settings.DEBUG:
    from practice.views import components

    urlpatterns.append(path("components/", components.page, name="components"))
