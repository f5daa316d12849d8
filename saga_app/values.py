"""What one execution has so far, decoded at each use: the input, the outputs of its nodes, the items of its loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from saga_app import codec
from saga_app.core import registry
from saga_app.core.binding import CallPlan, FromInput, FromItem, FromOutput, Origin
from saga_app.core.lookup import Lookup, turn_at
from saga_app.core.providers import Readable
from saga_app.core.results import DONE, Spot
from saga_app.core.saga import Saga
from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.core.tree import prefix_of, turns_of
from saga_app.core.walk import Walk
from saga_app.store.leases import Lease
from saga_app.store.texts import stored_text, stored_texts

LONG_AGO = datetime.min.replace(tzinfo=UTC)
KEPT = 8  # lists of items that are kept parsed; more would only be more memory


@dataclass(slots=True)
class Values:
    """What one execution has so far. What a call sees of it by name depends on its place: see `at`."""

    claim: Lease
    facts: Snapshot
    texts: dict[str, str] = field(default_factory=dict)
    _input: codec.Entries | None = None
    _input_is_inert: bool | None = None
    _lists: dict[str, codec.Elements] = field(default_factory=dict)
    _saga: Saga[Any] | None = None
    _lookup: Lookup | None = None

    @property
    def input(self) -> Mapping[str, Any]:
        """The input, name → value. A model instance in it is read again when it is asked for: never a stale copy."""
        if self._input is None:
            self._input = codec.entries(self.claim.input_text)
        return self._input

    @property
    def input_is_inert(self) -> bool:
        """Whether it can be decoded without running any code of the project or reading its rows."""
        if self._input_is_inert is None:
            self._input_is_inert = codec.inert(self.claim.input_text)
        return self._input_is_inert

    def at(self, path: str) -> Here:
        """The same as it is seen from the call at that path; "" is the end."""
        return Here(self, path)

    def output(self, path: str) -> Any:
        """What the node at `path` gave; KeyError where it has nothing."""
        text = self.output_text(path)
        if text is None:
            raise KeyError(path)
        return codec.decode(text, path=path)

    def output_text(self, path: str) -> str | None:
        """The same, encoded, or None."""
        record = self.facts.record(path)
        if record is None or record.output_text is None:
            return None
        return self._text(path, "output_text", record.output_text)

    def output_texts(self, records: Sequence[Record]) -> list[str]:
        """The outputs of many records, encoded, in few queries. They are not kept."""
        far = [
            one.path for one in records if one.output_text == ELSEWHERE and f"output_text:{one.path}" not in self.texts
        ]
        found = stored_texts(self.claim.execution_id, far, "output_text", self.claim.using)
        return [found.get(one.path) or self.output_text(one.path) or "" for one in records]

    def arguments(self, record: Record) -> Mapping[str, Any]:
        """The bound arguments of a forward call, stored before its first attempt, name → value."""
        text = record.arguments_text
        found = None if text is None else self._text(record.path, "arguments_text", text)
        return {} if found is None else codec.entries(found, path=record.path)

    def items(self, path: str) -> codec.Elements:
        """The items of the loop at that path, each decoded when it is asked for: the list is parsed once."""
        known = self._lists.pop(path, None)
        if known is None:
            record = self.facts.record(path)
            text = self._text(path, "output_text", ELSEWHERE if record is None else record.output_text or "")
            if text is None:
                raise KeyError(path)
            known = codec.elements(text, path=path)
        self._lists[path] = known  # at the end: the one that was not asked for longest is the first
        if len(self._lists) > KEPT:
            del self._lists[next(iter(self._lists))]
        return known

    @property
    def saga(self) -> Saga[Any]:
        """The definition."""
        if self._saga is None:
            self._saga = registry.get(self.facts.saga, self.facts.revision)
            assert self._saga is not None  # noqa: S101 - nothing is called of a saga that is not known
        return self._saga

    @property
    def readable(self) -> Readable:
        """What can be read by name in this saga."""
        return self.saga.readable

    def latest(self, names: Sequence[str], path: str) -> Record | None:
        """The record that these names mean, seen from `path`."""
        if self._lookup is None:
            self._lookup = Lookup(self.readable.homes, self._is_over)
        return self._lookup.latest(self.facts.records, names, path)

    def _is_over(self, record: Record) -> bool:
        """A loop has its items from the start, and its results once it is over; a Try may go on without them."""
        if record.name not in self.readable.breakable:
            return True
        loop = self.saga.places[record.name].node
        walk = Walk(self.saga, self.facts, LONG_AGO)  # what is over is over at any time
        return walk.block([loop], Spot(prefix_of(record.path))) is DONE

    def _text(self, path: str, column: str, text: str) -> str | None:
        if text != ELSEWHERE:
            return text
        if (known := self.texts.get(f"{column}:{path}")) is not None:
            return known
        found = stored_text(self.claim.execution_id, path, column, self.claim.using)
        if found is not None:
            self.texts[f"{column}:{path}"] = found
        return found


@dataclass(frozen=True, slots=True)
class Here:
    """What one call sees by name, from its place.

    A loop has no list of its results anywhere in the tables: it is made of the records of its turns each time it is
    read, so that there is one truth, and a step that is skipped or resolved by hand counts as it is now.
    """

    values: Values
    path: str

    @property
    def input(self) -> Mapping[str, Any]:
        """The input, name → value."""
        return self.values.input

    @property
    def index(self) -> int | None:
        """Which turn of the innermost loop the call is in; None outside of loops."""
        return next(reversed([*turns_of(self.path).values()]), None)

    @property
    def iteration(self) -> int:
        """The same, where there is a loop."""
        if self.index is None:
            raise KeyError(self.path)
        return self.index

    def output(self, names: Sequence[str]) -> Any:
        """What the last one to run of these nodes gave; KeyError where none has anything."""
        record = self.values.latest(names, self.path)
        if record is None:
            raise KeyError(names)
        return self._results(record) if self._is_loop(record) else self.values.output(record.path)

    def item(self, loop: str) -> Any:
        """The item of that loop which the call is for."""
        items, place = self._item(loop)
        return items[place]

    def has(self, names: Sequence[str]) -> bool:
        """Whether `output` finds something."""
        return self.values.latest(names, self.path) is not None

    def inert(self, plan: CallPlan) -> bool:
        """Whether the arguments of that call can be made without running code of the project or reading its rows."""
        return not plan.calls_user_code and not plan.wants_context and all(map(self._is_inert, plan.origins()))

    def _is_inert(self, origin: Origin) -> bool:
        match origin:
            case FromInput():
                return self.values.input_is_inert
            case FromItem():
                items, place = self._item(origin.loop)
                return items.inert(place)
            case FromOutput():
                record = self.values.latest(origin.names, self.path)
                return record is None or all(map(codec.inert, self._texts(record)))
        return True

    def _texts(self, record: Record) -> Iterator[str]:
        if not self._is_loop(record):
            yield self.values.output_text(record.path) or ""
            return
        turns = [one for one in self._turns(record) if one is not None]
        yield from self.values.output_texts([one for one in turns if not self._is_loop(one)])
        for one in turns:
            if self._is_loop(one):
                yield from self._texts(one)

    def _results(self, record: Record) -> list[Any]:
        """What each turn of a loop came to, in the order of its items; None where that has nothing."""
        turns = self._turns(record)
        plain = [one for one in turns if one is not None and not self._is_loop(one)]
        texts = dict(zip((one.path for one in plain), self.values.output_texts(plain), strict=True))
        return [self._result(one, texts) for one in turns]

    def _result(self, record: Record | None, texts: Mapping[str, str]) -> Any:
        if record is None:
            return None
        return self._results(record) if self._is_loop(record) else codec.decode(texts[record.path], path=record.path)

    def _turns(self, record: Record) -> list[Record | None]:
        """Of each turn of a loop, the record whose output it comes to."""
        names = self.values.readable.lists[record.name]
        count = int(record.choice) if record.choice.isdigit() else len(self.values.items(record.path))
        return [self.values.latest(names, f"{record.path}[{turn}]/") for turn in range(count)]

    def _is_loop(self, record: Record) -> bool:
        return record.name in self.values.readable.lists

    def _item(self, loop: str) -> tuple[codec.Elements, int]:
        turn = turn_at(self.path, loop)
        if turn is None:
            raise KeyError(loop)
        path, _, number = turn.removesuffix("]/").rpartition("[")
        return self.values.items(path), int(number)


class Results(Mapping[str, Any]):
    """`ctx.results`: what the nodes so far provide, by name, decoded when asked for."""

    def __init__(self, saga: Saga[Any], values: Here, ask: Callable[[Callable[[], Any]], Any]) -> None:
        """`ask` calls a function on the thread that has the connection."""
        self._saga, self._values, self._ask = saga, values, ask

    @cached_property
    def _names(self) -> Mapping[str, tuple[str, ...]]:
        return {name: nodes for name, nodes in self._saga.readable.names.items() if self._values.has(nodes)}

    def __getitem__(self, name: str) -> Any:
        nodes = self._names[name]
        return self._ask(lambda: self._values.output(nodes))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
