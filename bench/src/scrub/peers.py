"""Runs Presidio and detect-secrets on the texts from standard input, and prints their findings.

Throughput is per CPU time, as that of pml-scrub.
"""

import json
import os
import sys
import time


def presidio(data):
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Loaded(SpacyNlpEngine):
        def __init__(self, model):
            super().__init__()
            self.nlp = {"en": model}

    model = spacy.load(os.environ["SPACY_MODEL"])
    note = "with the spaCy model en_core_web_md"
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    add_by_name(registry, data)
    engine = AnalyzerEngine(registry=registry, nlp_engine=Loaded(model), supported_languages=["en"])
    known = set(engine.get_supported_entities("en"))
    names = {"URL": "DOMAIN_NAME", "LOCATION": "GPE", "ORG": "ORGANIZATION"}
    findings = []
    for row in data["rows"]:
        tested = row["entities"] if row["recognizer"] else None
        wanted = [e for e in tested or [] if e in known]
        if tested is not None and not wanted:
            findings.append([])
            continue
        results = engine.analyze(row["text"], language="en", entities=wanted or None)
        rename = {} if tested else names
        findings.append([(rename.get(r.entity_type, r.entity_type), r.start, r.end) for r in results])
    speed = []
    for text in data["corpora"]:
        start = time.process_time()
        engine.analyze(text, language="en")
        speed.append(len(text.encode()) / 1e6 / (time.process_time() - start))
    return {"name": "presidio-analyzer", "findings": findings, "mb_per_second": speed, "note": note}


def add_by_name(registry, data):
    """Country recognizers are not loaded by default; the data's cases need them."""
    import presidio_analyzer.predefined_recognizers as every

    loaded = {type(r).__name__ for r in registry.recognizers}
    skip = ("Spacy", "Stanza", "Transformers", "GLiNER", "Azure", "LangExtract", "Remote", "Ahds", "HuggingFace")
    for name in dir(every):
        if not name.endswith("Recognizer") or name in loaded or name.startswith(skip):
            continue
        try:
            registry.add_recognizer(getattr(every, name)(supported_language="en"))
        except Exception:
            continue


def detect_secrets(data):
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import default_settings

    speed = []
    with default_settings():
        for text in data["corpora"]:
            start = time.process_time()
            for line in text.splitlines():
                list(scan_line(line))
            speed.append(len(text.encode()) / 1e6 / (time.process_time() - start))
    note = "finds secrets only, so it has no accuracy on this data"
    return {"name": "detect-secrets", "findings": None, "mb_per_second": speed, "note": note}


data = json.load(sys.stdin)
reports = [peer(data) for peer in (presidio, detect_secrets)]
json.dump(reports, sys.stdout)
