"""A service that checks every request with openapi-core against its document.

    openapi_double.py serve DOCUMENT      prints its port; answers 200, or 422 with what is wrong
    openapi_double.py arguments           reads tools from standard input, prints arguments for each

The arguments fit the input schemas of the tools. Whether their requests fit the document is decided
here, by an implementation that shares nothing with pml.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit, unquote

METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]


# ---------------------------------------------------------------------------------------------------
# Arguments

class Cannot(Exception):
    """No value was found for a schema."""


FORMATS = {
    "date": "2026-03-01", "date-time": "2026-03-01T10:00:00Z", "time": "10:00:00Z",
    "email": "a@example.com", "uuid": "7f1c3b9e-0c1d-4c55-9a51-0d2f1f3b7a11",
    "uri": "https://example.com/a", "url": "https://example.com/a", "hostname": "example.com",
    "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "aGk=", "uri-reference": "/a",
    "duration": "P1D", "password": "secret-1",
}


def pattern_text(pattern):
    """A text that a pattern matches, for the patterns that documents have."""
    import re._constants as c
    import re._parser as p

    def chars(items):
        negated = any(op is c.NEGATE for op, _ in items)
        def has(ch):
            for op, value in items:
                if op is c.LITERAL and ord(ch) == value:
                    return True
                if op is c.RANGE and value[0] <= ord(ch) <= value[1]:
                    return True
                if op is c.CATEGORY:
                    classes = {c.CATEGORY_DIGIT: r"\d", c.CATEGORY_WORD: r"\w", c.CATEGORY_SPACE: r"\s",
                               c.CATEGORY_NOT_DIGIT: r"\D", c.CATEGORY_NOT_WORD: r"\W", c.CATEGORY_NOT_SPACE: r"\S"}
                    if re.match(classes[value], ch):
                        return True
            return False
        for ch in "a1A0b2-_./:@ " + "".join(map(chr, range(33, 127))):
            if has(ch) != negated:
                return ch
        literal = next((v for op, v in items if op in (c.LITERAL,)), None)
        ranges = next((v for op, v in items if op is c.RANGE), None)
        if literal is not None:
            return chr(literal)
        if ranges is not None:
            return chr(ranges[0])
        raise Cannot(pattern)

    def one(tree):
        out = ""
        for op, value in tree:
            if op is c.LITERAL:
                out += chr(value)
            elif op is c.NOT_LITERAL:
                out += "a" if value != ord("a") else "b"
            elif op is c.ANY:
                out += "a"
            elif op is c.IN:
                out += chars(value)
            elif op is c.BRANCH:
                out += one(value[1][0])
            elif op is c.SUBPATTERN:
                out += one(value[3])
            elif op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
                low, high, inner = value
                out += one(inner) * max(low, min(1, high))
            elif op in (c.AT, c.ASSERT, c.ASSERT_NOT):
                pass
            else:
                raise Cannot(pattern)
        return out

    try:
        return one(p.parse(pattern))
    except (re.error, KeyError, RecursionError) as error:
        raise Cannot(pattern) from error


class Generator:
    def __init__(self, root, full):
        self.root, self.full = root, full
        self.left = 2000

    def resolve(self, schema, chain=()):
        while isinstance(schema, dict) and "$ref" in schema:
            name = schema["$ref"]
            if name in chain or len(chain) > 20:
                raise Cannot(name)
            chain += (name,)
            rest = {k: v for k, v in schema.items() if k != "$ref"}
            target = self.root["$defs"][name.rsplit("/", 1)[1]]
            schema = target if not rest or not isinstance(target, dict) else {**target, **rest}
        return schema

    def merged(self, schema):
        schema = self.resolve(schema)
        if not isinstance(schema, dict) or "allOf" not in schema:
            return schema
        out = {k: v for k, v in schema.items() if k != "allOf"}
        for part in schema["allOf"]:
            part = self.merged(part)
            if part is False:
                raise Cannot("false")
            if not isinstance(part, dict):
                continue
            for key, value in part.items():
                if key == "properties":
                    known = out.get("properties", {})
                    out["properties"] = {**value, **known}
                elif key == "required":
                    out["required"] = sorted(set(out.get("required", [])) | set(value))
                elif key in ("anyOf", "oneOf") and key in out:
                    out.setdefault("also", []).append({key: value})
                elif key == "enum" and "enum" in out:
                    out["enum"] = [x for x in out["enum"] if x in value]
                else:
                    out.setdefault(key, value)
        return out

    def value(self, schema, depth):
        self.left -= 1
        if depth > 9 or self.left < 0:
            raise Cannot("too deep")
        schema = self.merged(schema)
        if schema is False:
            raise Cannot("false")
        if schema is True or not schema:
            return "text"
        if "const" in schema:
            return schema["const"]
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.alternative(schema, key, depth)
        if "enum" in schema:
            for value in schema["enum"]:
                if value is not None and self.valid(value, schema):
                    return value
            if schema["enum"]:
                return schema["enum"][0]
            raise Cannot("empty enum")
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "null")
        if kind is None:
            kind = "object" if "properties" in schema or "additionalProperties" in schema else \
                "array" if "items" in schema else "string"
        return getattr(self, kind)(schema, depth)

    def kind(self, part):
        try:
            part = self.merged(part)
        except Cannot:
            return None
        return part.get("type") if isinstance(part, dict) else None

    def alternative(self, schema, key, depth):
        base = {k: v for k, v in schema.items() if k != key}
        # openapi-core reads a parameter with alternatives as a text.
        is_text = lambda part: self.kind(part) != "string"
        for part in sorted(schema[key], key=is_text) if depth < 3 else schema[key]:
            try:
                part = self.merged(part)
                if part is True:
                    part = {}
                both = self.merged({"allOf": [part, base]}) if base else part
                value = self.value(both, depth + 1)
            except Cannot:
                continue
            if value is not None and self.valid(value, schema):
                return value
        raise Cannot(key)

    def valid(self, value, schema):
        import jsonschema
        whole = {**schema, "$defs": self.root.get("$defs", {})}
        whole.pop("also", None)
        try:
            return jsonschema.Draft202012Validator(whole).is_valid(value)
        except (re.error, RecursionError):
            return True

    def string(self, schema, depth):
        text = FORMATS.get(schema.get("format"), "text")
        if schema.get("contentEncoding") == "base64":
            text = "aGk="
        if "pattern" in schema:
            pattern = schema["pattern"]
            try:
                matches = re.search(pattern, text)
            except re.error as error:
                raise Cannot(pattern) from error
            if not matches:
                text = pattern_text(pattern)
                low = schema.get("minLength", 0)
                while len(text) < low and len(text) < 500:
                    for at in range(len(text) + 1):
                        longer = text[:at] + (text[at - 1] if at else "a") + text[at:]
                        if re.search(pattern, longer):
                            text = longer
                            break
                    else:
                        raise Cannot(pattern)
            return text
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if len(text) < low:
            text += "x" * (low - len(text))
        return text if high is None else text[:high]

    def number(self, schema, depth):
        step = schema.get("multipleOf")
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        value = 1
        if low is not None and (value < low or value <= schema.get("exclusiveMinimum", value - 1)):
            value = low + (1 if "exclusiveMinimum" in schema else 0)
        if high is not None and value > high:
            value = high
        if high is not None and value >= schema.get("exclusiveMaximum", value + 1):
            value = (low or 0) + (high - (low or 0)) / 2
        if step:
            value = (value // step) * step
            if low is not None and value < low:
                value += step
            if value == int(value):
                value = int(value)
        return value

    def integer(self, schema, depth):
        value = self.number(schema, depth)
        return int(value)

    def boolean(self, schema, depth):
        return True

    def null(self, schema, depth):
        return None

    def array(self, schema, depth):
        count = schema.get("minItems", 0)
        if count == 0 and schema.get("maxItems") != 0 and depth < 6:
            count = 1
        items = schema.get("items", True)
        out = []
        for n in range(count):
            try:
                prefix = schema.get("prefixItems", [])
                value = self.value(prefix[n] if n < len(prefix) else items, depth + 1)
            except Cannot:
                if n >= schema.get("minItems", 0):
                    return out
                raise
            if schema.get("uniqueItems") and value in out:
                value = self.other(value, items, n)
            out.append(value)
        return out

    def other(self, value, items, n):
        items = self.merged(items)
        if isinstance(items, dict) and "enum" in items:
            return items["enum"][n]
        if isinstance(value, str):
            return f"{value}{n}"
        if isinstance(value, (int, float)):
            return value + n
        return value

    def object(self, schema, depth):
        properties, required = schema.get("properties", {}), schema.get("required", [])
        out = {}
        for name, part in properties.items():
            optional = name not in required
            if optional and not (self.full and depth < 3):
                continue
            try:
                value = self.value(part, depth + 1)
                # How a query has lists of lists or objects, the specification does not say.
                nested = isinstance(value, list) and any(isinstance(it, (list, dict)) for it in value)
                if optional and depth == 0 and nested and "body" not in name:
                    continue
                if optional and (value is None or not self.valid(value, self.resolve(part) if isinstance(self.resolve(part), dict) else {})):
                    continue
                out[name] = value
            except Cannot:
                if not optional:
                    raise
        for name in required:
            if name not in properties:
                extra = schema.get("additionalProperties", True)
                out[name] = "text" if extra in (True, False) else self.value(extra, depth + 1)
        extra = schema.get("additionalProperties", True)
        wanted = schema.get("minProperties", 0)
        for name, part in properties.items():
            if len(out) >= wanted:
                break
            if name not in out:
                try:
                    out[name] = self.value(part, depth + 1)
                except Cannot:
                    pass
        n = 0
        while len(out) < wanted and extra is not False:
            n += 1
            out[f"key{n}"] = "text" if extra is True else self.value(extra, depth + 1)
        return out


def arguments(tool, full):
    import jsonschema
    schema = tool["inputSchema"]
    value = Generator(schema, full).value({k: v for k, v in schema.items() if k != "$defs"}, 0)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


def print_arguments():
    tools = json.load(sys.stdin)
    found = []
    for tool in tools:
        row = []
        for full in (False, True):
            try:
                value = arguments(tool, full)
                if value not in row:
                    row.append(value)
            except Exception as error:  # noqa: BLE001: what has no arguments is counted
                reason = f"{type(error).__name__}: {str(error)[:200]}"
        found.append({"name": tool["name"], "arguments": row, "reason": None if row else reason})
    json.dump(found, sys.stdout)


# ---------------------------------------------------------------------------------------------------
# The service

def plain(document):
    """The document at this address and without security, which other tests are about; without what
    openapi-core takes otherwise than the specification.

    - Parameters called Accept, Content-Type and Authorization are to be ignored.
    - `readOnly` is about properties, not about parameters and whole bodies.
    - The default of a parameter is for the service, and need not fit its schema.
    - The mapping of a discriminator may name documents that are not there.
    """
    def without_discriminators(value):
        if isinstance(value, dict):
            found = value.get("discriminator")
            if isinstance(found, dict) and "propertyName" in found:
                del value["discriminator"]
            for inner in value.values():
                without_discriminators(inner)
        elif isinstance(value, list):
            for inner in value:
                without_discriminators(inner)

    def resolved(value):
        while isinstance(value, dict) and str(value.get("$ref", "")).startswith("#/"):
            target = document
            for part in value["$ref"][2:].split("/"):
                target = target[unquote(part).replace("~1", "/").replace("~0", "~")]
            value = target
        return value

    def parameters(listed):
        kept = []
        for parameter in map(resolved, listed):
            if parameter["in"] == "header" and parameter["name"].lower() in ("accept", "content-type", "authorization"):
                continue
            schema = resolved(parameter.get("schema"))
            if isinstance(schema, dict):
                schema = {key: value for key, value in schema.items() if key not in ("readOnly", "default")}
                parameter = {**parameter, "schema": schema}
            kept.append(parameter)
        return kept

    def body(value):
        value = resolved(value)
        content = {}
        for media, part in value.get("content", {}).items():
            schema = resolved(part.get("schema"))
            if isinstance(schema, dict) and schema.get("readOnly"):
                schema = {key: value for key, value in schema.items() if key != "readOnly"}
                part = {**part, "schema": schema}
            content[media] = part
        return {**value, "content": content}

    without_discriminators(document)
    document["servers"] = [{"url": "/"}]
    document.pop("security", None)
    for item in document.get("paths", {}).values():
        item.pop("servers", None)
        if "parameters" in item:
            item["parameters"] = parameters(item["parameters"])
        for method in METHODS:
            if method in item:
                item[method].pop("servers", None)
                item[method].pop("security", None)
                if "requestBody" in item[method]:
                    item[method]["requestBody"] = body(item[method]["requestBody"])
                if "parameters" in item[method]:
                    item[method]["parameters"] = parameters(item[method]["parameters"])
    return document


def serve(path):
    from openapi_core import Config, OpenAPI
    from openapi_core.datatypes import RequestParameters
    from werkzeug.datastructures import Headers, ImmutableMultiDict
    from werkzeug.http import parse_cookie
    from urllib.parse import parse_qsl

    with open(path, encoding="utf-8") as file:
        if path.endswith((".yaml", ".yml")):
            import yaml
            document = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            document = json.loads(json.dumps(document, default=str))
        else:
            document = json.load(file)

    def decoded(body, **_):
        text = body if isinstance(body, str) else body.decode("latin-1")
        try:
            return json.loads(text)
        except ValueError:
            return text

    def media_types(value):
        if isinstance(value, dict):
            if isinstance(value.get("content"), dict):
                yield from value["content"]
            for inner in value.values():
                yield from media_types(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from media_types(inner)

    # openapi-core gives bodies of other types as bytes, which no schema allows.
    forms = ("multipart/", "application/x-www-form-urlencoded", "text/", "application/json")
    others = {media: decoded for media in media_types(document) if not media.startswith(forms)}
    config = Config(spec_validator_cls=None, extra_media_type_deserializers=others)
    openapi = OpenAPI.from_dict(plain(document), config=config)

    class Request:
        def __init__(self, handler, body):
            parts = urlsplit(handler.path)
            self.host_url = "http://localhost"
            # As servers do it. A separator inside a value stays encoded.
            self.path = parts.path if "%2F" in parts.path else unquote(parts.path)
            self.method = handler.command.lower()
            self.content_type = handler.headers.get("Content-Type", "")
            self.body = body
            query = parse_qsl(parts.query, keep_blank_values=True)
            self.parameters = RequestParameters(
                query=ImmutableMultiDict(query),
                header=Headers(list(handler.headers.items())),
                cookie=ImmutableMultiDict(parse_cookie(handler.headers.get("Cookie", ""))),
            )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            try:
                errors = list(openapi.iter_request_errors(Request(self, body)))
                problem = "; ".join(describe(error) for error in errors)
            except Exception as error:  # noqa: BLE001
                problem = describe(error)
            answer = json.dumps({"ok": not problem, "problem": problem}).encode()
            self.send_response(422 if problem else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        do_GET = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = do_TRACE = answer

        def log_message(self, *_):
            pass

    def describe(error):
        texts = [f"{type(error).__name__}: {error}"]
        cause = error.__cause__
        while cause is not None:
            texts.append(f"{type(cause).__name__}: {cause}")
            for inner in getattr(cause, "schema_errors", []):
                texts.append(str(inner.message)[:200])
            cause = cause.__cause__
        return " <- ".join(texts)[:900]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    if sys.argv[1] == "arguments":
        print_arguments()
    else:
        serve(sys.argv[2])
