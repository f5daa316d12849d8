"""Says where in a value something is: `deep[0].x`."""

from __future__ import annotations

MAX_KEY = 40
MAX_PATH = 200


class Where:
    """A place in a value. Costs little to make; the text is put together when somebody asks for it."""

    __slots__ = ("depth", "outer", "step")

    def __init__(self, step: object, outer: Where | None = None, *, depth: int = 0) -> None:
        self.step, self.outer, self.depth = step, outer, depth

    def at(self, step: object) -> Where:
        """The place one step further in: an index or a key."""
        return Where(step, self, depth=self.depth + 1)

    def __str__(self) -> str:
        steps: list[object] = []
        here = self
        while here.outer is not None:
            steps.append(here.step)
            here = here.outer
        text = str(here.step) + "".join(_shown(step) for step in reversed(steps))
        text = text.removeprefix(".")
        return text if len(text) <= MAX_PATH else f"{text[: MAX_PATH // 2]}…{text[-MAX_PATH // 2 :]}"


def _shown(step: object) -> str:
    if type(step) is str:
        return f".{step}" if step.isidentifier() and len(step) <= MAX_KEY else f"[{_quoted(step)}]"
    # The text of any other key is the user's code, or long.
    return f"[{step}]" if type(step) is int and step.bit_length() <= MAX_KEY else f"[{type(step).__name__}]"


def _quoted(key: str) -> str:
    return ascii(key if len(key) <= MAX_KEY else f"{key[:MAX_KEY]}…")
