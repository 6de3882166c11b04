from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("practice", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="draw",
            name="kept",
            field=models.JSONField(
                default=dict, help_text="the instance itself: a later release may bring another bank"
            ),
        ),
    ]
