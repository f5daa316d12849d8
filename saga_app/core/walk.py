"""What next, forwards, node by node: the first node of each block that is not over says what to do (design §8).

A block is walked in order, and every time from its beginning: what is over says so by its record. The branches of a
group are walked side by side. Nothing here knows how anything is carried out; the answer is one decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from saga_app.core.closing import closing, cuttable
from saga_app.core.decisions import (
    Arrange,
    Consume,
    Cut,
    EndChild,
    Exhaust,
    Open,
    PassMilestone,
    PassPivot,
    Spawn,
    Stick,
    TimeOut,
    TurnOver,
)
from saga_app.core.failures import ErrorInfo
from saga_app.core.opening import after_gate, begin, opened, opens
from saga_app.core.outcomes import CUT
from saga_app.core.results import DONE, Failed, Go, Halted, Idle, Result, Spot, first_of
from saga_app.core.status import TERMINAL, StepStatus

if TYPE_CHECKING:
    from saga_app.core.nodes import Node
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot
    from saga_app.core.steps import Step

OVER = (StepStatus.COMPLETED, StepStatus.SKIPPED)
MARKED_EVERY = 20  # items of a loop that are over before the loop's record says so: one write for so many


class Walk:
    """One walk through a saga over the facts of one execution.

    `visited` are the records it came by, in the order of the saga; `lost` says that one does not belong where it is;
    `doomed` are those of groups in which a branch has failed: nothing of them begins any more. `recovered` are those
    of what has failed and was caught.
    """

    def __init__(self, saga: Saga[Any], x: Snapshot, now: datetime, *, whole: bool = False) -> None:
        """`whole`: begin every loop at its first item, though those before its mark are known to be over."""
        self.saga, self.x, self.now, self.whole = saga, x, now, whole
        self.visited: list[Record] = []
        self.lost = False
        self.doomed: set[str] = set()
        self.recovered: set[str] = set()
        self.over = 0  # of the group walked last: branches that are over before the first that is not

    def all(self) -> Result:
        """The whole saga."""
        return self.block(self.saga.nodes, Spot())

    def block(self, nodes: Iterable[Node], spot: Spot) -> Result:
        """Nodes one after the other."""
        for node in nodes:
            result = self._kinds[node.kind](self, node, spot)
            if result is not DONE:
                return result
        return DONE

    def _record(self, path: str, kind: str) -> Record | None:
        record = self.x.record(path)
        if record is not None:
            self.visited.append(record)
            self.lost = self.lost or record.kind != kind
        return record

    # what is called

    def _step(self, step: Step[..., Any], spot: Spot) -> Result:
        return self._called(step, spot.prefix + step.name, queued=spot.grouped or step.queue is not None)

    def _compute(self, step: Step[..., Any], spot: Spot) -> Result:
        return self._called(step, spot.prefix + step.name, queued=False)

    def _called(self, step: Step[..., Any], path: str, *, queued: bool) -> Result:
        record = self._record(path, step.kind)
        if record is None:
            return Go(begin(self.x, step, path, queued=queued))
        if record.status in OVER or (record.status == StepStatus.FAILED and not step.required):
            return DONE
        if record.status == StepStatus.FAILED:
            return Failed((path,))
        if record.in_queue:
            return Idle(busy=True)
        if record.status == StepStatus.WAITING and record.due_at and record.due_at > self.now:
            return Idle(record.due_at)
        decision = opened(self.saga, self.x, step, record, queued=queued)
        return Halted(decision) if isinstance(decision, Stick) else Go(decision)

    # choices and loops

    def _branch(self, node: Any, spot: Spot) -> Result:
        result = self._called(node.chooser, spot.prefix + node.name, queued=False)
        if result is not DONE:
            return result
        if self.x.known(spot.prefix + node.name).status == StepStatus.SKIPPED:
            return DONE  # an operator said that it did not choose
        choice = self.x.known(spot.prefix + node.name).choice
        self.lost = self.lost or choice not in node.paths
        return self.block(node.paths.get(choice, ()), spot)

    def _while(self, node: Any, spot: Spot) -> Result:
        for turn in range(node.max_iterations + 1):
            path = f"{spot.prefix}{node.name}[{turn}]"
            result = self._called(node.condition, path, queued=False)
            if result is not DONE or self._chose(path) != "true":
                return result
            if turn == node.max_iterations:
                return Go(Exhaust(path, turn))
            result = self.block(node.body, spot.inside(f"{path}/"))
            if result is not DONE:
                return result
        return DONE

    def _repeat(self, node: Any, spot: Spot) -> Result:
        for turn in range(node.max_iterations):
            path = f"{spot.prefix}{node.name}[{turn}]"
            result = self.block(node.body, spot.inside(f"{path}/"))
            if result is DONE:
                result = self._called(node.condition, path, queued=False)
            if result is not DONE or self._chose(path) != "false":
                return result
        return Go(Exhaust(path, node.max_iterations))

    def _chose(self, path: str) -> str:
        return self.x.known(path).choice

    def _foreach(self, node: Any, spot: Spot) -> Result:
        path = spot.prefix + node.name
        result = self._called(node.items, path, queued=False)
        record = self.x.record(path)
        if result is not DONE or record is None or record.status == StepStatus.SKIPPED:
            return result
        self.lost = self.lost or not record.choice.isdecimal()
        items = range(0 if self.whole else record.turn, int(record.choice) if record.choice.isdecimal() else 0)
        if node.concurrency > 1:
            result = self._group(((f"{path}[{at}]/", node.body) for at in items), node.concurrency)
            return self._marked(record, record.turn + self.over, result)
        for at in items:
            result = self.block(node.body, spot.inside(f"{path}[{at}]/"))
            if result is not DONE:
                return self._marked(record, at, result)
        return DONE

    def _marked(self, record: Record, at: int, result: Result) -> Result:
        """What to do in a loop whose items before that one are over: say so first, now and then."""
        if result is DONE or self.whole or at - record.turn < MARKED_EVERY:
            return result
        return Go(TurnOver(record.path, at))

    # groups

    def _parallel(self, node: Any, spot: Spot) -> Result:
        return self._group([(spot.prefix, nodes) for nodes in node.branches.values()], len(node.branches))

    def _group(self, lanes: Iterable[tuple[str, Sequence[Node]]], most: int) -> Result:
        """Branches side by side, so many at a time. One that fails stops the others; what runs is waited for."""
        results: list[Result] = []
        first, over = len(self.visited), 0
        for prefix, nodes in lanes:
            known = len(self.visited)
            result = self.block(nodes, Spot(prefix, grouped=True))
            if result is DONE:
                over += not results
                continue
            if len(results) >= most and len(self.visited) == known:
                break  # it has not begun, and none after it has; earlier code may have begun with more than may now
            results.append(result)
        failed = tuple(path for result in results if isinstance(result, Failed) for path in result.paths)
        self.over = 0 if failed else over  # what is cut short then is not over: it may go on later
        return self._end_of_group(failed, self.visited[first:]) if failed else first_of(results)

    def _end_of_group(self, failed: tuple[str, ...], records: list[Record]) -> Result:
        """What waits is cut at once, what runs is let finish; then the group has failed."""
        self.doomed.update(record.path for record in records)
        cut = cuttable(self.saga, records)
        if cut:
            return Go(Cut(cut))
        waits, decision = closing(self.saga, self.x, records)
        if isinstance(decision, Stick):
            return Halted(decision)
        if isinstance(decision, EndChild):
            return Go(EndChild(decision.path, cut=True))
        if decision is not None:
            return Go(decision)
        return Idle(busy=True) if waits else Failed(self._causes(failed))

    def _causes(self, failed: tuple[str, ...]) -> tuple[str, ...]:
        """Those that are why the group has failed: not what was cut short while it waited to be tried again."""
        return tuple(path for path in failed if self.x.known(path).choice != CUT) or failed

    def _try(self, node: Any, spot: Spot) -> Result:
        first = len(self.visited)
        result = self.block(node.body, spot)
        if isinstance(result, Failed) and all(self._caught(node, path) for path in result.paths):
            self.recovered.update(record.path for record in self.visited[first:])
            return self.block(node.recover, spot)
        return result

    def _caught(self, node: Any, path: str) -> bool:
        text = self.x.known(path).error_text
        info = ErrorInfo.from_json(text) if text else ErrorInfo("")
        return info.is_a(node.catch)

    # gates

    def _gate(self, node: Any, spot: Spot) -> Result:
        path = spot.prefix + node.name
        record = self._record(path, node.kind)
        if record is None:
            return Go(Open(path))
        if record.status == StepStatus.FAILED:
            return Failed((path,))
        if record.status in OVER:
            return self.block(after_gate(node, record), spot)
        if record.kind == "sleep" and record.arguments_text is None:
            return self._when_due(record, Open(path))  # how long it takes could not be made
        signal = next((one for one in self.x.signals if opens(node, record, one, self.saga)), None)
        if signal is not None:
            return Go(Consume(path, signal.id))
        due = record.due_at
        return Go(TimeOut(path)) if due is not None and due <= self.now else Idle(due)

    def _child(self, node: Any, spot: Spot) -> Result:
        path = spot.prefix + node.name
        record = self._record(path, node.kind)
        if record is None:
            return Go(Spawn(path))
        if record.status == StepStatus.FAILED:
            return Failed((path,))
        if record.status in OVER:
            return DONE
        if record.child_id is None:
            return self._when_due(record, Spawn(path))
        return Go(EndChild(path)) if self.x.kids[record.child_id].status in TERMINAL else Idle()

    def _when_due(self, record: Record, decision: Arrange) -> Result:
        """It has not begun, and is tried again after a pause."""
        due = record.due_at
        return Idle(due) if due is not None and due > self.now else Go(decision)

    # marks

    def _milestone(self, node: Any, spot: Spot) -> Result:
        path = spot.prefix + node.name
        return DONE if self._record(path, node.kind) else Go(PassMilestone(path))

    def _pivot(self, node: Any, spot: Spot) -> Result:
        return DONE if self.x.pivoted_at is not None else Go(PassPivot())

    _kinds: ClassVar[dict[str, Callable[[Walk, Any, Spot], Result]]] = {
        "step": _step,
        "compute": _compute,
        "branch": _branch,
        "if": _branch,
        "while": _while,
        "repeat": _repeat,
        "foreach": _foreach,
        "parallel": _parallel,
        "try": _try,
        "wait": _gate,
        "approval": _gate,
        "sleep": _gate,
        "child": _child,
        "milestone": _milestone,
        "pivot": _pivot,
    }
