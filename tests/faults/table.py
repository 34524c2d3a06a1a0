"""What comes of every fault, here and with Blender's own IK constraint, measured in the Blender that runs it.

python -m tests.faults.table OUT.json        in each Blender
python -m tests.faults.table --join *.json   the Markdown of docs/reliability_table.md, from what they wrote
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path


def measure(path: Path) -> None:
    """Write what comes of each fault in this Blender."""
    import bpy

    import ik_addon

    from .every import FAULTS
    from .faults import outcome_of
    from .stage import BLENDERS, OURS

    ik_addon.register()
    rows = []
    for fault in FAULTS:
        row = {"group": fault.group, "title": fault.title, "test": fault.where}
        for solver in (OURS, BLENDERS):
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    row[solver] = str(outcome_of(fault, solver, Path(folder)))
                except AssertionError as error:
                    row[solver] = f"fails: {error}"
        rows.append(row)
        print(fault.where, "|", row[OURS], "|", row[BLENDERS], file=sys.stderr)
    path.write_text(json.dumps({"blender": bpy.app.version_string, "rows": rows}, indent=1))


def joined(paths: list[Path]) -> str:
    """The tables of several Blenders as one, in Markdown: a cell is said once where all versions agree."""
    tables = [json.loads(path.read_text()) for path in paths]
    versions = [table["blender"].rpartition(".")[0] for table in tables]
    lines, group, ours = [], "", []
    for same in zip(*(table["rows"] for table in tables), strict=True):
        if same[0]["group"] != group:
            group = same[0]["group"]
            lines += [
                "",
                f"## {group}",
                "",
                "| fault | Analytic IK | Blender's own IK | test |",
                "| --- | --- | --- | --- |",
            ]
        cells = [_agreed(versions, [row[solver] for row in same]) for solver in ("the add-on", "Blender's own IK")]
        ours.append(cells[0])
        lines.append(f"| {same[0]['title']} | {cells[0]} | {cells[1]} | `{same[0]['test']}` |")
    said = [cell for cell in ours if "says" in cell]
    some = sum("; " in cell and "right" in cell for cell in said)
    right = ours.count("right")
    count = f"Of {len(ours)} faults {right} are right, {len(said)} come with a sentence ({some} in some versions only)."
    return "\n".join([count, *lines])


def _agreed(versions: list[str], cells: list[str]) -> str:
    if len(set(cells)) == 1:
        return cells[0]
    return "; ".join(
        f"{', '.join(version for version, own in zip(versions, cells, strict=True) if own == cell)}: {cell}"
        for cell in dict.fromkeys(cells)
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--join", action="store_true", help="make one table of what several Blenders wrote")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    if given.join:
        print(joined(given.files))
        return
    os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp())
    measure(given.files[0])
    # With any Python callback left in Blender, a normal exit crashes (4.2) or hangs (4.5).
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
