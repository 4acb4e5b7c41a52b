# Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
"""What sample streams say, read with Python's own JSON parser, and what rows
they come to by the rules of docs/change-streams.md: the expectations of
log-samples. Nothing here knows how the command does it."""

import base64
import datetime
import decimal
import json
import re
import zoneinfo

decimal.getcontext().prec = 500


class Number(str):
    """A number just as the stream writes it."""


class Bytes(bytes):
    pass


class Bad(Exception):
    """The line cannot be applied."""


def parse(text):
    def pairs(items):
        if len({key for key, _ in items}) != len(items):
            raise Bad("twice")
        return dict(items)

    try:
        return json.loads(text, parse_int=Number, parse_float=Number,
                          object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise Bad(str(error)) from error


class Change:
    def __init__(self, kind, database="", table="", key=None, before=None,
                 after=None, no_key=False):
        self.kind = kind
        self.database = database or ""
        self.table = table or ""
        self.key = key
        self.before = before
        self.after = after
        self.no_key = no_key


SKIPPED = {"tombstone", "key alone", "schema change", "transaction",
           "heartbeat", "message", "statement", "internal"}


# --- Debezium ---

MOMENTS = {"io.debezium.time.Date": 86400 * 10**6,
           "io.debezium.time.Timestamp": 1000,
           "io.debezium.time.MicroTimestamp": 1}


class Moment(Number):
    """A number that the stream gives a unit, in microseconds."""
    unit_us = 1


def with_schema(row, schema):
    if not isinstance(row, dict) or not isinstance(schema, dict):
        return row
    row = dict(row)
    for field in schema.get("fields") or []:
        name = field.get("field")
        value = row.get(name)
        if value is None:
            continue
        if field.get("name") == "org.apache.kafka.connect.data.Decimal":
            if not isinstance(value, Number):
                scale = int(field["parameters"]["scale"])
                unscaled = int.from_bytes(base64.b64decode(value), "big",
                                          signed=True)
                value = Number(decimal.Decimal(unscaled).scaleb(-scale))
        elif field.get("type") == "bytes":
            value = Bytes(base64.b64decode(value, validate=True))
        elif field.get("name") in MOMENTS:
            value = Moment(value)
            value.unit_us = MOMENTS[field["name"]]
        row[name] = value
    return row


def unwrap(value):
    """(schema, payload)"""
    if isinstance(value, dict) and "payload" in value and set(value) <= {
            "schema", "payload"}:
        return value.get("schema") or {}, value["payload"]
    return {}, value


def mongo(value):
    if isinstance(value, dict):
        if len(value) == 1:
            name, only = next(iter(value.items()))
            if name.startswith("$number"):
                return Number(only)
            if name == "$oid":
                return only
        return {k: mongo(v) for k, v in value.items()}
    return [mongo(v) for v in value] if isinstance(value, list) else value


def image(schema, payload, name):
    value = payload.get(name)
    if isinstance(value, str) and not isinstance(value, Number):
        value = mongo(parse(value))
    if value is not None and not isinstance(value, dict):
        raise Bad("no row")
    for field in schema.get("fields") or []:
        if field.get("field") == name:
            value = with_schema(value, field)
    return value


def debezium(line):
    value = parse(line)
    key = None
    if isinstance(value, dict) and {"key", "value"} <= set(value):
        schema, key = unwrap(value["key"])
        key = with_schema(key, schema)
        value = value["value"]
    schema, event = unwrap(value)
    if event is None:
        return [Change("tombstone")]
    if not isinstance(event, dict):
        raise Bad("no object")
    source = event.get("source") or {}
    table = source.get("table") or source.get("collection")
    op = event.get("op")
    if op is None:
        if event.get("ddl") or event.get("tableChanges"):
            return [Change("schema change")]
        if event.get("status") in ("BEGIN", "END") and event.get("id"):
            return [Change("transaction")]
        if (schema.get("name") or "").endswith("Key"):
            return [Change("key alone")]
        raise Bad("no op")
    kind = {"c": "insert", "r": "insert", "u": "update", "d": "delete",
            "t": "truncate", "m": "message"}.get(op)
    if kind is None:
        raise Bad("op")
    change = Change(kind, source.get("db"), table, key,
                    image(schema, event, "before"),
                    image(schema, event, "after"))
    if kind in ("insert", "update") and change.after is None:
        raise Bad("no after")
    if kind == "delete" and change.before is None and key is None:
        raise Bad("no before")
    return [change]


# --- Canal, Maxwell, HBase ---

def canal(line):
    message = parse(line)
    if not isinstance(message, dict):
        raise Bad("no object")
    if isinstance(message.get("payload"), dict):
        return aliyun(message)
    kind = message.get("type")
    names = message.get("database"), message.get("table")
    if message.get("isDdl") is True:
        return [Change("truncate" if kind == "TRUNCATE" else "schema change",
                       *names)]
    if kind == "QUERY":
        return [Change("statement", *names)]
    if kind not in ("INSERT", "UPDATE", "DELETE"):
        raise Bad("type")
    rows = message.get("data")
    old = message.get("old") or [None] * len(rows or [])
    if not rows or len(old) != len(rows):
        raise Bad("rows")
    no_key = "pkNames" in message and not message["pkNames"]
    changes = []
    for row, was in zip(rows, old):
        change = Change(kind.lower(), *names, no_key=no_key)
        if kind == "DELETE":
            change.before = row
        else:
            change.after = row
            if was is not None:
                change.before = {**row, **was}
        changes.append(change)
    return changes


def aliyun(message):
    payload = message["payload"]
    source = message["schema"]["source"]
    kind = {"INSERT": "insert", "UPDATE_AFTER": "update",
            "DELETE": "delete"}[payload["op"]]

    def row(name):
        return payload[name]["dataColumn"] if payload.get(name) else None
    return [Change(kind, source["dbName"], source["tableName"],
                   before=row("before"), after=row("after"))]


def maxwell(line):
    message = parse(line)
    if not isinstance(message, dict):
        raise Bad("no object")
    kind = message.get("type") or ""
    names = message.get("database"), message.get("table")
    if kind.startswith(("table-", "database-")):
        return [Change("schema change", *names)]
    if kind not in ("insert", "update", "delete"):
        raise Bad("type")
    data = message.get("data")
    if not isinstance(data, dict):
        raise Bad("data")
    if kind == "delete":
        return [Change(kind, *names, before=data)]
    before = {**data, **message["old"]} if message.get("old") else None
    return [Change(kind, *names, before=before, after=data)]


def hbase(line):
    """The sample has nothing but bulk-load marks of HBase's own."""
    if "METAFAMILY" in line:
        return [Change("internal")]
    if line.startswith("[hdfs@"):
        raise Bad("not the printer's")
    return []


def csv_or_json(line):
    row = parse(line)
    if not isinstance(row, dict):
        raise Bad("no object")
    return [Change("insert", after=row)]


# --- Conversions ---

def text_of(value):
    if isinstance(value, Bytes):
        return value.decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return json_of(value)
    return str(value)


def json_of(value):
    if isinstance(value, dict):
        return "{" + ",".join(json_of(k) + ":" + json_of(v)
                              for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_of, value)) + "]"
    if isinstance(value, Number):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def in_years(when):
    if not 1900 <= when.year <= 2199:
        raise Bad("year")
    return when


def moment(value, zone):
    """As a datetime, UTC."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    if isinstance(value, Moment):
        try:
            return in_years(epoch + datetime.timedelta(
                microseconds=int(value) * value.unit_us))
        except OverflowError as error:
            raise Bad("range") from error
    if isinstance(value, Number) or value is None:
        raise Bad("unit")
    try:
        when = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        match = re.fullmatch(r"(.{19})\.(\d{1,6})(Z?)", value)
        if not match:
            raise Bad("time") from None
        when = datetime.datetime.fromisoformat(
            match[1] + "." + match[2].ljust(6, "0")
            + ("+00:00" if match[3] else ""))
    if when.tzinfo is None:
        when = when.replace(tzinfo=zoneinfo.ZoneInfo(zone))
    return in_years(when.astimezone(datetime.timezone.utc))


def micros(when):
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (when - epoch) // datetime.timedelta(microseconds=1)


def latin1(value):
    try:
        return value if isinstance(value, Bytes) else value.encode("latin-1")
    except UnicodeEncodeError as error:
        raise Bad("latin-1") from error


def base64_bytes(value):
    return value if isinstance(value, Bytes) else base64.b64decode(value)


def exact(value, scale):
    try:
        number = decimal.Decimal(text_of(value)).scaleb(scale)
    except decimal.InvalidOperation as error:
        raise Bad("number") from error
    if number != number.to_integral_value():
        raise Bad("digits")
    return int(number)


def convert(field, value, how):
    """The field as proto3 JSON has it; None for null."""
    if value is None or text_of(value) in how.get("null_texts", []):
        return None
    if field in ("origin", "id", "name", "text", "number"):
        return text_of(value)
    if field == "milli":
        return str(exact(value, 3))
    if field == "big":
        number = exact(value, 0)
        if not 0 <= number < 2**64:
            raise Bad("range")
        return str(number)
    if field == "real":
        return float(text_of(value))
    if field == "flag":
        return {"true": True, "1": True, "false": False,
                "0": False}[text_of(value).lower()]
    if field == "blob":
        decode = latin1 if how.get("binary") == "LATIN1" else base64_bytes
        return base64.b64encode(decode(value)).decode()
    when = moment(value, how.get("zone", "UTC"))
    if field == "moment_us":
        return str(micros(when))
    if field == "day_s":
        return str(micros(when) // 10**6)
    assert field == "stamp"
    return str(micros(when))


# --- Rows ---

class Table:
    """One table of a mapping: {our field: (column, how)}."""

    def __init__(self, origin, fields, table="", database="",
                 ignore_case=False, allow_no_key=False):
        self.origin = origin
        self.fields = {f: c if isinstance(c, tuple) else (c, {})
                       for f, c in fields.items()}
        self.table = table
        self.database = database
        self.ignore_case = ignore_case
        self.allow_no_key = allow_no_key

    def fits(self, change):
        def same(wanted, given):
            return (not wanted or wanted == given or
                    self.ignore_case and wanted.lower() == given.lower())
        return (same(self.database, change.database) and
                same(self.table, change.table))

    def find(self, row, column):
        if column in row:
            return True, row[column]
        for name, value in row.items():
            if self.ignore_case and name.lower() == column.lower():
                return True, value
        return False, None

    def id_of(self, row):
        found, value = self.find(row, self.fields["id"][0]) if row else (
            False, None)
        return convert("id", value, {}) or "" if found else None

    def fill(self, row):
        """{field: value}, of the columns that are there."""
        filled = {"origin": self.origin}
        for field, (column, how) in self.fields.items():
            found, value = self.find(row, column)
            if found:
                filled[field] = convert(field, value, how)
        return filled

    def textproto(self):
        lines = [f'  table: "samples"',
                 f'  fields {{ field: "origin" constant: "{self.origin}" }}']
        if self.table or self.database:
            lines.append(f'  sources {{ database: "{self.database}" '
                         f'table: "{self.table}" }}')
        if self.ignore_case:
            lines.append("  ignore_case: true")
        if self.allow_no_key:
            lines.append("  allow_no_primary_key: true")
        for field, (column, how) in self.fields.items():
            parts = [f'field: "{field}"', f"column: {json.dumps(column)}"]
            if field == "milli":
                parts.append("decimal { scale: 3 }")
            if field == "blob":
                parts.append(f"binary {{ form: {how.get('binary', 'BASE64')} }}")
            if field in ("moment_us", "day_s", "stamp"):
                zone = how.get("zone")
                parts.append("time { " + (f'zone: "{zone}" ' if zone else "")
                             + "}")
            parts += [f"null_texts: {json.dumps(t)}"
                      for t in how.get("null_texts", [])]
            lines.append("  fields { " + " ".join(parts) + " }")
        return "tables {\n" + "\n".join(lines) + "\n}\n"


def apply(tables, changes, rows):
    """Applies one line's changes to `rows`; its outcome. All or nothing."""
    applied = False
    after = dict(rows)
    for change in changes:
        if change.kind in SKIPPED:
            continue
        table = next((t for t in tables if t.fits(change)), None)
        if table is None:
            continue
        if change.kind == "truncate":
            raise Bad("truncate")
        if change.no_key and not table.allow_no_key:
            raise Bad("no primary key")
        apply_one(table, change, after)
        applied = True
    rows.clear()
    rows.update(after)
    return "applied" if applied else "skipped"


def apply_one(table, change, rows):
    if change.kind == "delete":
        for row in (change.before, change.key, change.after):
            key = table.id_of(row)
            if key is not None:
                rows.pop((table.origin, key), None)
                return
        raise Bad("which row")
    filled = table.fill(change.after)
    key = table.id_of(change.after)
    if change.kind == "insert":
        if key is None:
            raise Bad("key")
        rows[table.origin, key] = filled
        return
    old = table.id_of(change.before)
    if old is None:
        old = table.id_of(change.key)
    if old is None and change.before is None:
        old = key
    if old is None:
        raise Bad("which row")
    whole = len(filled) == len(table.fields) + 1
    row = rows.pop((table.origin, old), None)
    if row is None and not whole:
        raise Bad("no such row")
    rows[table.origin, key if key is not None else old] = {
        **(row or {}), **filled}
