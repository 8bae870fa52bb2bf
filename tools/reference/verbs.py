"""Every call of a curator: its parameters in Python, over HTTP and on the command line, from its request."""

import pkgutil
import re
from importlib import import_module

from discreet.api import requests
from discreet.api.reference import reference


def verb_lists(first, last):
    """A section for each verb whose first letter is one of these or between them."""
    lines = []
    for name, kind in sorted(all_requests().items()):
        if first <= name[0] <= last:
            lines += ["", *reference(name, kind).splitlines()]
    return lines[1:]


def all_requests():
    """Each request by the name of its verb."""
    found = {}
    for module in pkgutil.iter_modules(requests.__path__):
        public = vars(import_module(f"{requests.__name__}.{module.name}"))
        for name, kind in public.items():
            if name.endswith("Request") and kind.__module__.endswith(module.name) and kind.http_path:
                found[re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Request")).lower()] = kind
    return found
