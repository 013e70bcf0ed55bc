"""Which target a name means: profiles by their name, aliases, releases, and files of the user."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from graphfix.engines.engine import Engine, engine_of, every_engine
from graphfix.engines.engine import engines as shipped_engines
from graphfix.engines.interface import Meant, Release
from graphfix.engines.profile import Target, read_profile, target_of
from graphfix.engines.versions import VersionedName, parse_name, sort_key
from graphfix.errors import UsageError


class _Index(Struct, frozen=True):
    """The names of the profiles of some engines, without reading the profiles.

    Attributes:
        names: The profiles in order, with their names taken apart.
        aliases: Alias to profile.
        homes: Profile to engine.
    """

    names: Mapping[str, VersionedName]
    aliases: Mapping[str, str]
    homes: Mapping[str, Engine]


def meant_by(target: Target, capability: str = "", standing: str = "") -> Meant:
    """Return the engine version that a target means, for whoever runs a model in it.

    Args:
        target: The target.
        capability: What it is to build for; empty for what it builds for by itself.
        standing: Where a process of it is that was started before; empty for none.
    """
    aliases = dict(target.dtype_aliases)
    static = target.static_shapes
    return Meant(target.version, aliases, target.name, static, capability, standing)


def load_target(name: str | Target | Path) -> Target:
    """Return the target of a name, an alias, a release or a path; see `resolve`."""
    return resolve(name)[0]


def resolve(name: str | Target | Path) -> tuple[Target, tuple[str, ...]]:
    """Return a target, and notes for the user on how its name was understood.

    Names do not mind case and take ``AcmeRuntime 8.6`` or ``acme-8.6``. A minor that has no
    profile is taken as the next lower one of the same major, with a note: a release that is newer
    than the newest profile is judged by that one, and the note says so. ``jetpack5.1`` and
    ``ngc22.12`` are the engine that the release holds. A `Path`, or text that ends in
    ``.toml``, is a profile of the user's own; it is read again each time.

    Raises:
        UsageError: No target has this name, or the file is no profile.
    """
    if isinstance(name, Target):
        return name, ()
    if isinstance(name, Path) or name.lower().endswith(".toml"):
        return read_profile(Path(name)), ()
    target, notes = _by_name(name)
    caution = engine_of(target.family).caution
    return target, (*notes, f"{target.title}: {caution}") if caution else notes


def resolve_briefly(name: str | Target | Path) -> tuple[Target, tuple[str, ...]]:
    """Return a target as `resolve` does, with notes that every run can bear.

    What a device holds is shown where someone asks for it: ``graphfix targets acme8``.
    """
    target, notes = resolve(name)
    parts = [note.partition("; ") for note in notes]
    more = f"; see `graphfix targets {name}`"
    return target, tuple(f"{said}{more if rest else ''}" for said, _, rest in parts)


@cache
def target_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles, family by family, oldest first."""
    return tuple(_index().names)


@cache
def _by_name(name: str) -> tuple[Target, tuple[str, ...]]:
    for engine in shipped_engines():
        # What begins like the names of a family most often is one: the others need not be read.
        if _spelled(name, (engine,)).startswith(engine.family):
            found = _named(name, (engine,))
            if found is not None:
                return found
    for known in (shipped_engines, every_engine):  # looking at installed packages takes long
        engines = known()
        for engine in engines:
            release = engine.release_named(name)
            if release is not None:
                return _by_name(release.profile)[0], release.notes
        found = _named(name, engines)
        if found is not None:
            return found
    raise _unknown(name)


def _named(name: str, engines: tuple[Engine, ...]) -> tuple[Target, tuple[str, ...]] | None:
    """Return the target of a name or an alias, or the next lower minor."""
    wanted, index = _spelled(name, engines), _index_of(engines)
    for known in index.names:
        if _squeezed(known) == _squeezed(wanted):
            return _load_shipped(known, index), ()
    for alias, known in index.aliases.items():
        if _squeezed(alias) == _squeezed(wanted):
            target = _load_shipped(known, index)
            hint = index.homes[known].hint(alias)
            return target, (f"{name} is taken as {known} ({target.title}){hint}",)
    lower = _next_lower(wanted, index)
    if lower is None:
        return None
    parsed = parse_name(wanted)
    covered = parsed is not None and _covers(index.names[lower], parsed)
    target = _load_shipped(lower, index)
    if covered:
        return target, ()
    return target, (_lower_note(name, lower, index),)


def _lower_note(name: str, lower: str, index: _Index) -> str:
    """Say which profile stands for a release that has none."""
    taken = index.names[lower]
    same = (known for known in index.names.values() if known.family == taken.family)
    if all(sort_key(known.version) <= sort_key(taken.version) for known in same):
        return (
            f"there is no profile {name}: {lower}, the newest one, is taken; "
            "what changed in the engine since is not known"
        )
    return f"there is no profile {name}: {lower}, the next lower one, is taken"


def releases_of(target: Target) -> tuple[Release, ...]:
    """Return the releases of products that hold the engine version of a target."""
    known = engine_of(target.family).releases()
    return tuple(release for release in known if release.profile == target.name)


def spelled(name: str, engine: Engine) -> VersionedName | None:
    """Take a name apart as users write it, ``AcmeRuntime 1.20``; None without a version."""
    return parse_name(_spelled(name, (engine,)))


def _spelled(name: str, engines: Sequence[Engine]) -> str:
    """Return `name` in lower case with the family's own spelling."""
    text = re.sub(r"[\s_]+", "-", name.strip().lower())
    known = [(other, engine.family) for engine in engines for other in engine.spellings]
    for other, family in sorted(known, key=lambda pair: -len(pair[0])):
        if text.startswith(other):
            return family + text[len(other) :]
    return text


def _squeezed(name: str) -> str:
    return name.replace("-", "")


def _covers(profile: VersionedName, wanted: VersionedName) -> bool:
    """Whether `wanted` is the profile's version, or a patch release of its minor."""
    version = wanted.version + (0,) * (len(profile.version) - len(wanted.version))
    begin = profile.version + (0,) * (2 - len(profile.version))
    return (*version, 0)[: len(begin)] == begin


def _next_lower(wanted: str, index: _Index) -> str | None:
    """Return the highest profile of the wanted major and variant that is not above `wanted`."""
    parsed = parse_name(wanted)
    if parsed is None or len(parsed.version) < 2:
        return None
    best = None
    for known, named in index.names.items():
        same = (named.family, named.version[0], named.variant)
        if same != (parsed.family, parsed.version[0], parsed.variant):
            continue
        if sort_key(named.version) <= sort_key(parsed.version):
            best = known
    return best


def _unknown(name: str) -> UsageError:
    """Return the error for a name that nothing matches, with close names in the hint."""
    wanted, index = _spelled(name, every_engine()), _index()
    every = [*index.names, *index.aliases]
    parsed = parse_name(wanted)
    close = difflib.get_close_matches(wanted, every, n=3, cutoff=0.6)
    if parsed is not None:
        above = [
            known
            for known, named in index.names.items()
            if named.family == parsed.family and sort_key(named.version) > sort_key(parsed.version)
        ]
        close = list(dict.fromkeys([*above[:1], *close]))
    if not close:
        close = sorted({named.family for named in index.names.values()})
        return UsageError(
            f"there is no target {name!r}",
            hint=f"known families: {', '.join(close)}; `graphfix targets` lists all",
        )
    return UsageError(f"there is no target {name!r}", hint=f"did you mean {', '.join(close)}?")


def _index() -> _Index:
    """Return the names of all engines."""
    return _index_of(every_engine())


@cache
def _index_of(engines: tuple[Engine, ...]) -> _Index:
    names: dict[str, VersionedName] = {}
    aliases: dict[str, str] = {}
    homes: dict[str, Engine] = {}
    for engine in engines:
        aliases |= engine.aliases()
        for name in engine.names():
            names[name] = parse_name(name) or VersionedName(name, (0,))
            homes[name] = engine
    return _Index(names, aliases, homes)


def _load_shipped(name: str, index: _Index) -> Target:
    return _loaded(name, index.homes[name])


@cache
def _loaded(name: str, home: Engine) -> Target:
    aliases = tuple(alias for alias, known in home.aliases().items() if known == name)
    found = home.profile(name)
    if isinstance(found, Path):
        return read_profile(found, aliases)
    return target_of(found, f"{home.name}: {name}", aliases)
