import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("practice", "0002_draw_kept"),
    ]

    operations = [
        migrations.CreateModel(
            name="Sprint",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "scope",
                    models.CharField(help_text="what is asked about, as practice.drills.scopes names it", max_length=60),
                ),
                ("level", models.PositiveSmallIntegerField(default=0, help_text="of napkin drills; 0 is any")),
                ("wanted", models.PositiveSmallIntegerField(help_text="questions; null where time ends it", null=True)),
                ("minutes", models.PositiveSmallIntegerField(null=True)),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "token",
                    models.CharField(
                        help_text="of the form that opened it: a doubled click opens one sprint", max_length=64
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sprints", to="practice.person"
                    ),
                ),
            ],
            options={
                "ordering": ["-opened_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("person", "token"), name="one_sprint_per_token"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("index", models.PositiveSmallIntegerField()),
                ("item", models.CharField(max_length=90)),
                ("seed", models.BigIntegerField()),
                (
                    "fingerprint",
                    models.CharField(help_text="of what was asked: a new release may ask otherwise", max_length=16),
                ),
                ("asked_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("answer", models.JSONField(blank=True, default=dict, help_text="as it was typed or ticked")),
                ("verdict", models.CharField(blank=True, max_length=12)),
                (
                    "slip",
                    models.CharField(blank=True, help_text="the name of the slip, if it has one", max_length=300),
                ),
                (
                    "rating",
                    models.PositiveSmallIntegerField(help_text="FSRS: 1 again, 2 hard, 3 good, 4 easy", null=True),
                ),
                (
                    "sure",
                    models.PositiveSmallIntegerField(
                        help_text="per cent, as said before the answer was judged", null=True
                    ),
                ),
                ("due_at", models.DateTimeField(help_text="when the item came up again, as it was then", null=True)),
                (
                    "sprint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="questions", to="practice.sprint"
                    ),
                ),
            ],
            options={
                "ordering": ["sprint", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("sprint", "index"), name="one_question_per_index"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.CharField(max_length=90)),
                ("state", models.JSONField(help_text="the card, as py-fsrs writes it")),
                ("due", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memories", to="practice.person"
                    ),
                ),
            ],
            options={
                "ordering": ["due"],
                "indexes": [models.Index(fields=["person", "due"], name="memory_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("person", "item"), name="one_memory_per_item"),
                ],
            },
        ),
    ]
