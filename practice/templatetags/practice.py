"""Numbers and times as the pages print them."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def clock(seconds: float | None) -> str:
    """Seconds as `04:12`, or `27:04:12` from an hour on."""
    if seconds is None:
        return "–"
    whole = int(seconds)
    minutes, s = divmod(whole, 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m:02d}:{s:02d}"


@register.filter
def minutes(value: float) -> str:
    """Priced minutes without needless decimals: `8`, `2.5`."""
    return f"{value:.1f}".removesuffix(".0")


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    """A share in percent: `0.58` -> `58 %`."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


@register.filter
def bits(value: float | None) -> str:
    """Information to a tenth of a bit."""
    return "–" if value is None else f"{value:.1f} bit"
