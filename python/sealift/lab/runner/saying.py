"""What is said of arms that are left out, each thing once."""

from collections.abc import Callable

from sealift.lab.store import Plan


class Saying:
    """What was said of arms up to now, though each stands in many groups and restarts."""

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        """Has said nothing.

        Args:
            plan: Of the run.
            say: Is given each sentence.
        """
        self._plan = plan
        self._say = say
        self._told: set[str] = set()

    def named(self, name: str, group: int, arm: int) -> str:
        """An arm by its experiment and what is compared there."""
        planned = self._plan.experiment(name)
        return f"{name}, {planned.groups[group][arm][planned.compare]}"

    def left_out(self, named: str, why: str) -> None:
        """Says once why an arm is not measured."""
        text = f"{named}: {why}"
        if why and text not in self._told:
            self._told.add(text)
            self._say(text)

    def failed(self, named: str, error: str) -> None:
        """Says that an arm raised something; shortly where another arm did the same."""
        said = [text for text in self._told if text.endswith(error)]
        if not any(named in text for text in said):
            self.left_out(named, "failed in the same way" if said else error)
