"""Help with options in groups, which are the same for every command; and options with old names."""

from __future__ import annotations

from collections.abc import Mapping

import click

# Heading -> the options that it holds in their order, by their first long name. One table for all
# commands, so that an option is in the same place wherever it is.
_GROUPS = {
    "What to work on": (
        "--target --opset --passes --skip --option --pass-file --except --only --shape "
        "--no-settings --recipe --fails --match --at --family --grep --install "
        "--program --command --engine-version --python --host --port"
    ),
    "What to show": (
        "--explain --layers --plot --reach --nodes --around --op-table --macs --constants-baked "
        "--where-from --time --netron --no-open --learned --export-learned"
    ),
    "What is allowed": (
        "--allow-lossy --allow-mended --allow-io-change --allow-invalid --trust-rules "
        "--no-fallback --partial --strict"
    ),
    "Operators that ONNX does not know": "--assume-op --op-type --op-alias",
    "How it is verified": (
        "--verify --questions --compute-capability --inputs --input --range --seed "
        "--certificates --no-cache"
    ),
    "Where the result goes": (
        "--output --out --in-place --force --dry-run --data --share-weights --strip "
        "--no-provenance --write-recipe --rows --fresh --report --example --reproducers --anonymize"
    ),
    "What is printed": "--verbose --quiet --json --debug --help",
    "Limits": (
        "--minutes --answer-timeout --timeout --run-timeout --max-runs --max-memory --max-size "
        "--keep-for --jobs --scheduler"
    ),
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    heading: tuple(names.split()) for heading, names in _GROUPS.items()
}


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups, the limits last."""

    groups: Mapping[str, tuple[str, ...]] = GROUPS

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group."""
        named = {long_name(param): param for param in self.get_params(ctx)}
        for heading, names in self.groups.items():
            records = [named[name].get_help_record(ctx) for name in names if name in named]
            shown = [record for record in records if record is not None]
            if shown:
                with formatter.section(heading):
                    formatter.write_dl(shown)


class RenamedOption(click.Option):
    """An option whose last name is an old one, which still works and is not shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return name and help without the old name."""
        every = self.opts
        self.opts = every[:-1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = every


def long_name(param: click.Parameter) -> str:
    """Return the first long name of an option; empty for an argument."""
    if not isinstance(param, click.Option):
        return ""
    return next((name for name in param.opts if name.startswith("--")), "")
