"""Every report has the shape that the schema in the package promises."""

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).parents[1] / "ik_addon" / "report.schema.json"


@cache
def _validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def check_report(report: dict) -> None:
    """jsonschema.ValidationError, which says where, if a report has another shape."""
    # As it is written: with lists in place of tuples, and without what JSON does not know.
    _validator().validate(json.loads(json.dumps(report, allow_nan=False)))


def check_last_report() -> None:
    from ik_addon.bake import last_report

    report = last_report()
    if report:
        check_report(report)
