"""Every component once, with made-up content: a page for those who build pages, in DEBUG only."""
from django.http import HttpRequest, HttpResponse


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("")
