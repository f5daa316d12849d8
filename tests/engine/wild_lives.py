"""Tells the life of one wild saga: workers die, leases lapse, people use verbs at any moment, and then it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.contrib.auth import get_user_model

from saga_app import VerbRefused, engine, executor, testing
from saga_app.core.status import TERMINAL, Status
from saga_app.models import Execution, StepRecord
from saga_app.store.transactions import alias
from tests import ledger, promises
from tests.engine.telling import family, next_due
from tests.engine.wild_sagas import Wild
from tests.engine.wild_verdict import verdict
from tests.mortal import Life
from tests.reading import now, records
from tests.shared_clock import clock
from tests.site.models import Question

MOST_TURNS = 400
PATIENCE = 8  # acts of an operator on one execution, before it is abandoned
MOST_POINTS = 40  # a life that ends, ends at one of so many


@dataclass
class Story:
    """One life, as it is told.

    Attributes:
        seed: tells it again.
        said: what happened, for whoever reads of a failure.
        wrong: what is not as was promised.
    """

    seed: int
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([f"seed {self.seed}:", *self.wrong, "What happened:", *self.said[-60:]])


def tell(seed: int, teller: type[Teller] | None = None) -> Story:
    """The life of the saga of that seed, to its end."""
    story = Story(seed)
    ledger.clear()
    Question.objects.all().delete()
    clock.set(clock.now())
    with testing.isolate_sagas():
        (teller or Teller)(story, Random(seed)).tell()
    return story


class Teller:
    """Tells one life with workers in this process."""

    def __init__(self, story: Story, dice: Random) -> None:
        self.story, self.dice = story, dice
        self.saga = Wild(dice, dice.choice([1, 1, 2, 2, 3])).saga
        self.x = self.saga.start()
        self.lives = [Life(dice.randrange(MOST_POINTS)) for _ in range(dice.choice([0, 0, 1, 2, 4]))]
        self.tries: dict[Any, int] = {}
        self.boss = _boss()

    def tell(self) -> None:
        """Until its family has ended, or something is wrong."""
        for turn in range(MOST_TURNS):
            if self.dice.random() < 0.15:
                self.outsider()
            self.drive(turn)
            if self.story.wrong:
                return
            if next_due() is None or next_due() > clock.now():  # type: ignore[operator]
                self.judge_rest()
                if all(one.status in TERMINAL for one in self.members()):
                    self.story.wrong += verdict(self.members())
                    return
                self.go_on()
        self.wrong("never comes to an end")

    def members(self) -> list[Execution]:
        """The execution and those below, as they are now."""
        return family(now(self.x))

    def say(self, text: str) -> None:
        """Something has happened."""
        self.story.said.append(text)

    def wrong(self, text: str) -> None:
        """Something is not as was promised."""
        self.story.wrong.append(text)

    # workers

    def drive(self, turn: int) -> None:
        """A worker drives what is due, all of it or a few steps; perhaps it dies."""
        life = self.lives[0] if self.lives else Life()
        boundaries = iter(range(self.dice.choice([2, 4, 8, 1000])))
        with life.lived():
            executor.drive_next(holder=f"host:{turn}", go_on=lambda: next(boundaries, None) is not None)
        if life.dead:
            self.say(f"a worker dies at {life.points[-1]} after {len(life.points)} points")
            self.lives.pop(0)

    def judge_rest(self) -> None:
        """Nothing is due: each that has not ended has a reason that can be seen."""
        for one in self.members():
            for text in promises._reasons(one, records(one)):
                self.wrong(f"P6 {one.saga}: {text}")

    # time and people

    def go_on(self) -> None:
        """Time passes, an operator acts on what has stopped, or somebody knocks at a gate."""
        ways: list[Any] = []
        due = next_due()
        if due is not None:
            ways += [lambda: self.wait(due)] * 3
        ways += [lambda one=one: self.operator(one) for one in self.members() if one.status in ("stuck", "suspended")]
        ways += [lambda gate=gate: self.knock(gate) for gate in self.gates()]
        if not ways:
            self.wrong(f"waits for nothing: {[(one.saga, one.status) for one in self.members()]}")
            return
        self.dice.choice(ways)()

    def wait(self, until: Any) -> None:
        """Time passes."""
        self.say(f"time passes: {until - clock.now()}")
        clock.set(max(until, clock.now()))

    def outsider(self) -> None:
        """Somebody uses a verb at any moment."""
        one = self.dice.choice(self.members())
        gates = list(self.gates())
        verb = self.dice.choice(["cancel", "suspend", "resume", "knock", "knock", "knock"])
        if verb == "knock":
            if gates:
                self.knock(self.dice.choice(gates))
            return
        if self.dice.random() < 0.5:
            self.use(one, verb)

    def gates(self) -> Iterator[StepRecord]:
        """Where somebody can knock."""
        kinds, ids = ("wait", "approval"), [one.pk for one in self.members() if one.status not in TERMINAL]
        yield from StepRecord.objects.using(alias()).filter(execution_id__in=ids, kind__in=kinds, status="waiting")

    def knock(self, gate: StepRecord) -> None:
        """Somebody opens a gate, or says no."""
        verb = "signal" if gate.kind == "wait" else self.dice.choice(["approve", "reject"])
        options: dict[str, Any] = {} if verb == "signal" else {"actor": self.boss}
        self.use(gate.execution, verb, gate.path, **options)

    def operator(self, x: Execution) -> None:
        """Whoever looks after what has stopped."""
        self.tries[x.pk] = self.tries.get(x.pk, 0) + 1
        if self.tries[x.pk] > PATIENCE and x.status == Status.STUCK:
            self.use(x, "abandon")
            return
        verb = self.dice.choice(["resume", "resume", "resume", "unwind", "cancel", "skip", "resolve", "abandon"])
        if verb == "skip":
            self.skip(x)
        elif verb == "resolve":
            self.resolve(x)
        else:
            self.use(x, verb)

    def skip(self, x: Execution) -> None:
        """He looks whether it is there, and says so."""
        record = x.steps.filter(path=x.failing_path).first()
        if record is None or record.kind == "compute":
            return
        there = bool(ledger.notes("event = 'landed' AND key = %s", record.idempotency_key))
        self.use(x, "skip", x.failing_path, happened=there, **({"output": x.failing_path} if there else {}))

    def resolve(self, x: Execution) -> None:
        """He undoes it by hand."""
        record = x.steps.filter(path=x.failing_path).first()
        if record is not None and self.use(x, "resolve", x.failing_path) and record.kind != "child":
            ledger.note("undone", record.name, record.path, record.idempotency_key, x.pk, 1, {})
            Question.objects.filter(title=f"{record.path} {x.pk}").delete()

    def use(self, x: Execution, verb: str, *args: Any, **options: Any) -> bool:
        """Whether that verb was accepted."""
        reason = {} if verb == "resume" else {"reason": "dice say so"}
        try:
            getattr(engine, verb)(x.pk, *args, **reason, **options)
        except VerbRefused as refused:
            self.say(f"{verb} {x.saga} {args}: refused, {refused.code}")
            return False
        self.say(f"{verb} {x.saga} {args} {options}")
        return True


def _boss() -> Any:
    users = get_user_model()._default_manager.db_manager(alias())
    with suppress(Exception):
        return users.get(username="boss")
    return users.create_superuser(username="boss")
