"""The words and sentences people read, by the code they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = Mapping[str, StrPromise]

STATUS: Words = {
    "pending": _("pending"),
    "running": _("running"),
    "waiting": _("waiting"),
    "suspended": _("suspended"),
    "compensating": _("compensating"),
    "stuck": _("stuck"),
    "completed": _("completed"),
    "failed": _("failed"),
    "cancelled": _("cancelled"),
}

ROLLBACK: Words = {
    "not_applicable": _("nothing to roll back"),
    "completed": _("rolled back"),
    "rested": _("rolled back to a milestone"),
    "stuck": _("rollback stuck"),
    "abandoned": _("rollback abandoned"),
}

STEP: Words = {
    "running": _("running"),
    "waiting": _("waiting"),
    "queued": _("in a queue"),
    "completed": _("completed"),
    "failed": _("failed"),
    "skipped": _("skipped"),
}

COMPENSATION: Words = {
    "running": _("compensating"),
    "waiting": _("waiting to compensate again"),
    "compensated": _("compensated"),
    "failed": _("compensation failed"),
    "abandoned": _("compensation abandoned"),
    "resolved": _("resolved by hand"),
}

STANDING: Words = {  # of a node in a picture
    **STEP,
    **{word: COMPENSATION[word] for word in ("compensated", "abandoned", "resolved")},
    "compensating": _("compensating"),
    "compensation_failed": _("compensation failed"),
    "passed": _("passed"),
    "": _("not reached"),
}

REASON: Words = {
    "compensation_failed": _("a compensation failed"),
    "child_stuck": _("a child cannot be undone"),
    "failed_past_pivot": _("a step failed past the pivot"),
    "step_failed": _("a step failed"),
    "outcome_unknown": _("nobody knows whether a step had its effect"),
    "worker_lost": _("its workers died again and again"),
    "definition_missing": _("no worker knows its saga"),
    "definition_changed": _("its saga was changed and no longer fits what has run"),
    "undecodable": _("a stored value cannot be read back"),
}

CURE: Words = {
    "compensation_failed": _(
        "Read the error of the compensation and mend its cause, then resume: it is tried again with more attempts. "
        "If you undid the effect by hand, resolve the step and say how. Abandon only if the effect is to stay."
    ),
    "child_stuck": _(
        "Act on the child: once it is undone, this one goes on by itself. If its effect was undone by hand, resolve "
        "the step and say how."
    ),
    "failed_past_pivot": _(
        "Past the pivot it can only go forward. Mend the cause and resume. If you did the step by hand, or it is not "
        "needed, skip it. Abandon if it shall end here: nothing will be undone."
    ),
    "step_failed": _(
        "Mend the cause and resume: the step is tried again with more attempts. If you did it by hand, or it is not "
        "needed, skip it. Unwind to undo what was done so far."
    ),
    "outcome_unknown": _(
        "Look in the system that the step calls, by the idempotency key shown with the step. Then say what you found: "
        "skip (going forward) or resolve (going back). Resume tries again with the same key. So that it need not ask: "
        "give the step a reconcile, name what does nothing in rejected_on=, or let its compensation take result=None."
    ),
    "worker_lost": _(
        "Worker after worker died on it. Look in their logs for the cause (memory, a crash in native code, a kill), "
        "mend it, then resume."
    ),
    "definition_missing": _(
        "Deploy the code that defines this saga and revision, then resume. Or move it to a revision that what ran fits."
    ),
    "definition_changed": _(
        "Deploy the code that it ran with, then resume. Or move it to a revision that what ran fits. If there is none, "
        "undo by hand what is still undone and abandon."
    ),
    "undecodable": _(
        "Bring back what the value needs (a class that was moved, a row that was deleted), then resume. If you undid "
        "the effect by hand, resolve the step and say how."
    ),
}

VERB: Words = {
    "start": pgettext_lazy("verb", "start"),
    "resume": pgettext_lazy("verb", "resume"),
    "abandon": pgettext_lazy("verb", "abandon"),
    "cancel": pgettext_lazy("verb", "cancel"),
    "suspend": pgettext_lazy("verb", "suspend"),
    "unwind": pgettext_lazy("verb", "unwind"),
    "skip": pgettext_lazy("verb", "skip"),
    "resolve": pgettext_lazy("verb", "resolve"),
    "rerun": pgettext_lazy("verb", "rerun"),
    "fork": pgettext_lazy("verb", "fork"),
    "move": pgettext_lazy("verb", "move"),
    "signal": pgettext_lazy("verb", "signal"),
    "approve": pgettext_lazy("verb", "approve"),
    "reject": pgettext_lazy("verb", "reject"),
}

REFUSAL: Words = {
    "terminal": _("It has ended: nothing about it changes any more. Rerun starts a new one with the same input."),
    "not_stuck": _("It is not stuck."),
    "not_terminal": _("It has not ended yet: wait for its end, or cancel it first."),
    "not_waiting": _("There is nothing to resume: it is neither stuck nor suspended, and no step waits to try again."),
    "past_pivot": _("It is past its pivot: from here it only goes forward."),
    "unwinding": _("It is already going back."),
    "not_unwinding": _("It is going forward: no compensation is due."),
    "cancel_requested": _("A cancel was already accepted; it is honoured at the next boundary between steps."),
    "suspend_requested": _("A suspend was already accepted; it is honoured at the next boundary between steps."),
    "suspended": _("It is suspended already. Resume lets it go on."),
    "stuck": _("It is stuck: it does nothing until an operator acts."),
    "version_changed": _(
        "It has changed since you looked (version %(seen)s then, %(now)s now), so nothing was done. Look at it as it "
        "is now, and decide again."
    ),
    "reason_required": _("Say why: the reason is kept in the history."),
    "no_such_step": _("It has no step record “%(path)s”."),
    "step_not_stuck": _("That is not a step it is stuck on."),
    "nothing_to_resolve": _("No compensation waits for an operator."),
    "unknown_saga": _("This process knows no such saga and revision: deploy the code that defines it."),
    "definition_not_at_fault": _(
        "It is not stuck because of its definition, so another one would not help: resume it."
    ),
    "unknown_revision": _("This process knows no revision %(revision)s of %(saga)s. It knows: %(known)s."),
    "does_not_fit": _("What ran does not fit revision %(revision)s as it is defined here."),
    "taken": _("“%(path)s” was taken over by an earlier fork, %(by)s: fork that one."),
    "undone": _("“%(path)s” was undone, or given up: it cannot be taken over. Fork from it, or from an earlier step."),
    "child_undone": _("The child of “%(path)s” does not stand any more: fork from it, or from an earlier step."),
    "is_child": _("It is a child: its parent answers for undoing it. Fork the parent, or rerun this one."),
    "no_such_gate": _("Its saga has no gate that “%(gate)s” could open."),
    "ambiguous_gate": _("“%(gate)s” is waited for by each item of a loop. Say which one is meant: %(paths)s."),
    "is_approval": _("“%(gate)s” is an approval: approve it or reject it."),
    "not_an_approval": _("“%(gate)s” waits for a signal, not for a decision: send the signal."),
    "not_open": _("“%(gate)s” is not open: it was not reached yet, or is over."),
    "too_late": _("“%(gate)s” was open until %(until)s: it is too late to decide there."),
    "decided": _("“%(gate)s” is decided already: %(verdict)s."),
    "not_permitted": _("You may not decide at “%(gate)s”."),
    "four_eyes": _("You started this, so somebody else has to decide at “%(gate)s”."),
    "input_invalid": _("What was filled in does not fit. %(problems)s"),
    "too_many_signals": _("%(count)s signals wait to be read, and more are not kept: send it again when some were."),
    "output_invalid": _("This output cannot be stored. %(path)s: %(reason)s"),
}

FIRST = _(
    "%(by)s was first: %(verb)s, %(ago)s ago. Nothing was done for you. Look at it as it is now, and decide again."
)
NEAREST = _("Did you mean “%(nearest)s”?")

EVENT: Words = {
    **VERB,
    "started": _("started"),
    "completed": _("completed"),
    "failed": _("failed"),
    "cancelled": _("cancelled"),
    "suspended": _("suspended"),
    "stuck": _("stuck"),
    "unwinding": _("going back"),
    "pivoted": _("passed the pivot"),
    "late_result": _("late result"),
    "lifted": _("goes on, since its child does"),
}

ACTION: Words = {
    "compensate": _("compensate"),
    "undo_child": _("let the child unwind"),
    "reconcile": _("ask what happened"),
    "done": _("has its outcome"),
    "nothing": _("nothing to do"),
    "halt": _("stops here for an operator"),
    "blocked": _("waits behind the stop"),
}

OUTCOME: Words = {
    "returned": _("returned"),
    "raised": _("raised"),
    "rejected": _("rejected: nothing happened"),
    "timed_out": _("timed out: outcome unknown"),
    "unstorable": _("returned what cannot be stored"),
    "not_called": _("not called: its arguments could not be made"),
    "rolled_back": _("its transaction was rolled back"),
    "happened": _("it happened"),
    "not_happened": _("it did not happen"),
    "unknown": _("nobody knows"),
    "lost": _("its worker was lost"),
}

DIRECTION: Words = {"forward": _("forward"), "compensate": _("back"), "reconcile": _("asked")}

PLAN_REASON: Words = {
    **COMPENSATION,
    **REASON,
    "skipped": _("it was skipped"),
    "did_not_happen": _("it did not happen"),
    "no_compensation": _("it has no compensation"),
    "taken": _("a fork has taken it over"),
    "milestone": _("it is before the milestone"),
}

KIND: Words = {
    "compute": _("choice"),
    "milestone": _("milestone"),
    "wait": _("signal"),
    "approval": _("approval"),
    "sleep": _("sleep"),
    "child": _("child"),
}

CHOICE: Words = {
    "true": _("yes"),
    "false": _("no"),
    "approved": _("approved"),
    "rejected": _("rejected"),
    "timeout": _("its time was up"),
    "(cut)": _("cut short"),
}

WAIT: Words = {  # of a stretch of time in which nobody worked
    "worker": _("waits for a worker"),
    "queue": _("waits in a queue"),
    "backoff": _("waits for its next attempt"),
    "outcome": _("waits until its outcome is known"),
    "operator": _("waits for an operator"),
    "wait": _("waits for a signal"),
    "approval": _("waits for a decision"),
    "sleep": _("sleeps"),
    "child": _("waits for its child"),
}
