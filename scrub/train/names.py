"""Names of people, places and streets of all locales of Faker (MIT), as far as they are in Latin script."""

import importlib
import pkgutil
import unicodedata
from collections import defaultdict

SOURCES = {
    "person": [
        (
            "first",
            "first_names first_names_male first_names_female first_names_unisex first_romanized_names"
            " first_name_male first_name_female",
        ),
        ("last", "last_names last_names_male last_names_female last_romanized_names last_names_unisex last_names_non_slavic"),
    ],
    "address": [
        (
            "city",
            "cities city_names towns countries provinces states regions departments villages cantons municipalities"
            " counties districts prefectures administrative_units states_and_territories",
        ),
        ("street", "streets street_names street_name_formats"),
    ],
}
LETTERS = {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "ß": "ss"}


def fold(text):
    """The text without accents."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(LETTERS.get(c, c) for c in plain)


def is_latin(text):
    return all(c in " '-.’" or "LATIN" in unicodedata.name(c, "") for c in text)


def entries(provider, attribute):
    """The texts of a list of a provider; weights and pairs are taken apart."""
    values = getattr(provider, attribute, None)
    if not isinstance(values, (dict, list, tuple, set, frozenset)):
        return
    for value in values:
        if isinstance(value, (tuple, list)):
            value = value[0] if isinstance(value[-1], (float, int)) else value[-1]
        if isinstance(value, str) and "{" not in value and 1 < len(value) < 40:
            yield value


def load():
    """By kind and locale, the sorted names."""
    found = {"first": defaultdict(set), "last": defaultdict(set), "city": defaultdict(set), "street": defaultdict(set)}
    for kind, lists in SOURCES.items():
        package = importlib.import_module(f"faker.providers.{kind}")
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg:
                continue
            provider = importlib.import_module(f"faker.providers.{kind}.{module.name}").Provider
            for name, attributes in lists:
                for attribute in attributes.split():
                    for text in entries(provider, attribute):
                        if is_latin(text) and text[:1].isupper():
                            found[name][module.name].add(text)
    return {kind: {locale: sorted(names) for locale, names in by.items()} for kind, by in found.items()}


def words(lists):
    """The words of names, in lower case, with and without accents."""
    import re

    parts = (part for names in lists.values() for name in names for part in re.split(r"[ -]", name))
    return {form.lower() for part in parts for form in (part, fold(part)) if len(part) > 1}
