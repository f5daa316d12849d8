"""Which values no page and no download shows, told by the names that they stand under."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

HIDDEN = "[redacted]"  # shown instead; not translated, since downloads have it too
PAIR = 2
NAMING, VALUE = ("name", "key"), "value"


class Redaction:
    """Hides what stands under a name that contains one of these, in whatever case and with whatever between its words.

    `api_key` hides `X-Api-Key`, `apiKey` and `old api key` alike. What is hidden too often is asked for elsewhere; what
    is not hidden once has been read.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(filter(None, map(letters, names)))

    def hides(self, name: str) -> bool:
        """Whether what stands under that name is hidden."""
        squeezed = letters(name)
        return any(one in squeezed for one in self._names)

    def apply(self, data: Any) -> Any:
        """JSON values without what is hidden, at any depth. That there is nothing may be shown.

        A list of two whose first is a name is taken for a pair, and so is a mapping that has one as its name or key,
        and a value: headers are kept so.
        """
        try:
            return self._apply(data)
        except RecursionError:
            return HIDDEN

    def _apply(self, data: Any) -> Any:
        if isinstance(data, dict):
            told = self._told(data)
            return {name: self._under(told.get(name) or name, value) for name, value in data.items()}
        if not isinstance(data, list):
            return data
        if len(data) == PAIR and isinstance(data[0], str):
            return [data[0], self._under(data[0], data[1])]
        return [self._apply(one) for one in data]

    def _told(self, data: dict[str, Any]) -> dict[str, str]:
        """The name that the mapping itself says its value has: of `{"name": "Authorization", "value": …}`."""
        known = {letters(name): name for name in data}
        said = [data[known[word]] for word in NAMING if word in known]
        hiding = next((one for one in said if isinstance(one, str) and self.hides(one)), None)
        return {known[VALUE]: hiding} if hiding is not None and VALUE in known else {}

    def _under(self, name: str, value: Any) -> Any:
        return HIDDEN if value is not None and self.hides(name) else self._apply(value)


def letters(name: str) -> str:
    """The letters and digits of a name, in one case: what two ways to write it have in common."""
    return "".join(filter(str.isalnum, name.casefold()))
