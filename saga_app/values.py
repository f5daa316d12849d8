"""What one execution has so far, decoded at each use: the input and the outputs of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from saga_app import codec
from saga_app.core.saga import Saga
from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.store.claims import Claim
from saga_app.store.texts import stored_text


@dataclass(slots=True)
class Values:
    """What one execution has so far: its input and the outputs of its steps, decoded at each use."""

    claim: Claim
    facts: Snapshot
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def input(self) -> Mapping[str, Any]:
        """The input, name → value. A model instance in it is read again when it is asked for: never a stale copy."""
        return codec.entries(self.claim.input_text)

    def output(self, path: str) -> Any:
        """What the step at `path` returned; KeyError where it has nothing."""
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

    def arguments(self, record: Record) -> Mapping[str, Any]:
        """The bound arguments of a forward call, stored before its first attempt, name → value."""
        text = record.arguments_text
        found = None if text is None else self._text(record.path, "arguments_text", text)
        return {} if found is None else codec.entries(found, path=record.path)

    def _text(self, path: str, column: str, text: str) -> str | None:
        if text != ELSEWHERE:
            return text
        if (known := self.texts.get(f"{column}:{path}")) is not None:
            return known
        found = stored_text(self.claim.execution_id, path, column, self.claim.using)
        if found is not None:
            self.texts[f"{column}:{path}"] = found
        return found


class Results(Mapping[str, Any]):
    """`ctx.results`: what the steps so far provide, by name, decoded when asked for."""

    def __init__(self, saga: Saga[Any], values: Values, ask: Callable[[Callable[[], Any]], Any]) -> None:
        """`ask` calls a function on the thread that has the connection."""
        done = {record.path for record in values.facts.records if record.output_text is not None}
        self._paths = {step.provides: step.name for step in saga.steps if step.name in done}
        self._values, self._ask = values, ask

    def __getitem__(self, name: str) -> Any:
        path = self._paths[name]
        return self._ask(lambda: self._values.output(path))

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
