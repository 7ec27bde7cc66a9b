"""Reads what nvdisasm and ptxas print: kernels, their instructions by class, and their loops."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: With its modifiers, such as LOP3.LUT.
        operands: As printed.
        guarded: Whether a predicate decides if it is done.
        place: File and line of the source it is of; "" and 0 where that is not known.
    """

    opcode: str
    operands: str
    guarded: bool
    place: tuple[str, int]

    @property
    def name(self) -> str:
        """Its opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def kind(self) -> str:
        """The unit that works it.

        Raises:
            ValueError: If it is not known.
        """
        if self.opcode.startswith("IMAD.WIDE"):
            return "wide"
        if self.name in KINDS:
            return KINDS[self.name]
        if self.name.startswith("U"):
            return "uniform"
        raise ValueError(f"{self.opcode} is of no known unit; add it to UNITS of {__name__}")

    @property
    def words(self) -> int:
        """How many words of four bytes a lane loads or stores with it."""
        return max((WIDTHS[part] for part in self.opcode.split(".") if part in WIDTHS), default=1)


@dataclass(frozen=True)
class Kernel:
    """The code of a kernel.

    Attributes:
        name: Of its entry.
        code: In the order of addresses.
        labels: Which instruction each stands before.
    """

    name: str
    code: Sequence[Instruction]
    labels: Mapping[str, int]

    @functools.cached_property
    def loops(self) -> list["Loop"]:
        """The loops in the order of addresses, outer ones before those inside."""
        bodies = self._flow.loops()
        return [_loop(self, head, bodies) for head in sorted(bodies)]

    @property
    def outside(self) -> list[Instruction]:
        """What is done in no loop; padding behind the end is not done."""
        inside = frozenset[int]().union(*(loop.body for loop in self.loops))
        return [self.code[place] for place in sorted(self._flow.after.keys() - inside)]

    @property
    def functions(self) -> dict[str, list[Instruction]]:
        """What it calls, by name."""
        starts = {label: place for label, place in self.labels.items() if label.startswith("$")}
        return {
            _plain(label): [self.code[each] for each in sorted(Flow.of(self, place).after)]
            for label, place in starts.items()
        }

    def successors(self, place: int) -> list[int]:
        """Where it goes on behind an instruction."""
        instruction = self.code[place]
        following = [place + 1] if place + 1 < len(self.code) else []
        if instruction.name in ENDS:
            return following if instruction.guarded else []
        if instruction.name == "BSYNC":
            return [self._meeting(place)]
        if instruction.name in INDIRECT:
            raise ValueError(f"{self.name} has {instruction.opcode}, whose target is not known")
        target = LABEL.search(instruction.operands) if instruction.name in JUMPS else None
        if target is None:
            return following
        always = not instruction.guarded and not CONDITION.match(instruction.operands)
        return [self.labels[target[1]], *(() if always else following)]

    @functools.cached_property
    def _flow(self) -> "Flow":
        return Flow.of(self)

    def _meeting(self, place: int) -> int:
        """Where lanes go on that waited for each other."""
        barrier = self.code[place].operands.split(",")[0].strip()
        for before in range(place, -1, -1):
            instruction = self.code[before]
            if instruction.name == "BSSY" and instruction.operands.startswith(f"{barrier},"):
                target = LABEL.search(instruction.operands)
                if target is not None:
                    return self.labels[target[1]]
        raise ValueError(f"{self.name} waits at {barrier}, which nothing sets")


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a kernel.

    Attributes:
        head: Its first instruction.
        body: All of them, inner loops too.
        own: Those that are in no inner loop.
        depth: How many loops it is in.
        place: Where it stands in the source.
    """

    head: int
    body: frozenset[int]
    own: frozenset[int]
    depth: int
    place: tuple[str, int]


@dataclass(frozen=True, slots=True, order=True)
class Resources:
    """What ptxas says that a kernel takes.

    Attributes:
        registers: Of each thread.
        frame_bytes: Of local memory, each thread.
        spilled_bytes: Stored there for want of registers, and loaded.
        shared_bytes: Of a block, without the dynamic part.
    """

    registers: int
    frame_bytes: int
    spilled_bytes: int
    shared_bytes: int


def kernels(listing: str) -> Iterator[Kernel]:
    """The kernels of a disassembly."""
    name, code, labels, place = "", list[Instruction](), dict[str, int](), ("", 0)
    for line in listing.splitlines():
        if match := SECTION.match(line):
            if code:
                yield Kernel(name, code, labels)
            name, code, labels, place = match[1], [], {}, ("", 0)
        elif match := LABEL_LINE.match(line):
            labels[match[1]] = len(code)
        elif match := LINE.match(line):
            place = (PurePath(match[1]).name, int(match[2]))
        elif match := INSTRUCTION.match(line):
            code.append(Instruction(match[2], match[3], match[1] is not None, place))
    if code:
        yield Kernel(name, code, labels)


def resources(log: str) -> dict[str, Resources]:
    """What each kernel takes.

    Raises:
        ValueError: If ptxas said nothing of the kind.
    """
    found = {}
    for part in re.split(r"Compiling entry function ", log)[1:]:
        name = re.match(r"'(\w+)'", part)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes", part)
        registers = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        if not (name and frame and registers):
            raise ValueError(f"ptxas tells no registers and no frame: {part.strip()}")
        spilled = int(frame[2]) + int(frame[3])
        static = int(shared[1]) if shared else 0
        found[name[1]] = Resources(int(registers[1]), int(frame[1]), spilled, static)
    return found


def counts(code: Iterable[Instruction]) -> dict[str, int]:
    """How many instructions of each kind; of shared and global memory, words of a lane."""
    found: Counter[str] = Counter()
    for instruction in code:
        kind = instruction.kind
        found["issued"] += 1
        if kind in COUNTED:
            found[kind] += instruction.words if kind in MEMORIES else 1
    return {kind: found[kind] for kind in ("issued", *COUNTED)}


def _loop(kernel: Kernel, head: int, bodies: Mapping[int, set[int]]) -> Loop:
    body = bodies[head]
    inner = [other for start, other in bodies.items() if start != head and start in body]
    outer = sum(head in other for start, other in bodies.items() if start != head)
    place = kernel.code[max(body)].place
    return Loop(head, frozenset(body), frozenset(body.difference(*inner)), outer, place)


@dataclass(frozen=True)
class Flow:
    """Which instruction may follow which.

    Attributes:
        after: The successors of each that is reached.
        before: Their predecessors.
        order: Each behind its predecessors, those over back edges apart.
    """

    after: Mapping[int, Sequence[int]]
    before: Mapping[int, Sequence[int]]
    order: Mapping[int, int]

    @classmethod
    def of(cls, kernel: Kernel, start: int = 0) -> "Flow":
        """That of a kernel, or of a function from its first instruction on."""
        after: dict[int, list[int]] = {}
        before: dict[int, list[int]] = {}
        done: list[int] = []
        waiting = [(start, False)]
        while waiting:
            place, is_left = waiting.pop()
            if is_left:
                done.append(place)
            elif place not in after:
                after[place] = kernel.successors(place)
                waiting += [(place, True), *((next_, False) for next_ in after[place])]
                for next_ in after[place]:
                    before.setdefault(next_, []).append(place)
        return cls(after, before, {place: number for number, place in enumerate(reversed(done))})

    def loops(self) -> dict[int, set[int]]:
        """What each loop consists of, by its first instruction."""
        found: dict[int, set[int]] = {}
        for latch, head in self._back_edges():
            found.setdefault(head, {head}).update(self._body(head, latch))
        return found

    def _back_edges(self) -> Iterator[tuple[int, int]]:
        """Each jump to an instruction that every way to the jump passes."""
        above = self._dominators()
        for place, following in self.after.items():
            for head in following:
                if self.order[head] <= self.order[place] and _passes(place, head, above):
                    yield place, head

    def _body(self, head: int, latch: int) -> set[int]:
        body, waiting = {head}, [latch]
        while waiting:
            place = waiting.pop()
            if place not in body:
                body.add(place)
                waiting += self.before[place]
        return body

    def _dominators(self) -> dict[int, int]:
        """The nearest instruction that every way to one passes; K. Cooper's simple algorithm."""
        above = {0: 0}
        changed = True
        while changed:
            changed = False
            for place in sorted(self.order, key=self.order.__getitem__)[1:]:
                known = [one for one in self.before[place] if one in above]
                nearest = functools.reduce(lambda a, b: self._common(a, b, above), known)
                if above.get(place) != nearest:
                    above[place] = nearest
                    changed = True
        return above

    def _common(self, one: int, other: int, above: Mapping[int, int]) -> int:
        while one != other:
            if self.order[one] > self.order[other]:
                one = above[one]
            else:
                other = above[other]
        return one


def _plain(label: str) -> str:
    """The name of a function as the source has it, of its mangled one."""
    names, rest = list[str](), re.sub(r"^.*\$_ZN?", "", label)
    while match := re.match(r"\d+", rest):
        end = match.end() + int(match[0])
        names.append(rest[match.end() : end])
        rest = rest[end:]
    return next((name for name in names if not name.startswith("_INTERNAL")), label)


def _passes(place: int, head: int, above: Mapping[int, int]) -> bool:
    while place not in (head, 0):
        place = above[place]
    return place == head


ENDS = {"EXIT", "KILL", "RET"}
# For Turing some jumps are calls that never return. Calls of functions name no place of the kernel.
JUMPS = {"BRA", "CALL"}
INDIRECT = {"BRX", "BRXU", "JMP", "JMX", "JMXU"}
# What a jump asks beside its predicate.
CONDITION = re.compile(r"!?U?P\d")
WIDTHS = {"64": 2, "128": 4}
MEMORIES = ("shared", "global")
# What is counted apart; all of it and the rest is issued.
COUNTED = ("alu", "fma", "wide", "shared", "global", "local", "tensor", "slow", "double")
UNITS = {
    "alu": "BMSK FMNMX FSEL FSET FSETP I2FP IABS IADD IADD3 IMNMX ISETP LEA LOP3 MOV P2R PLOP3 "
    "PRMT R2P SEL SGXT SHF SHL SHR VABSDIFF VIADD VIADDMNMX VIMNMX VIMNMX3",
    "fma": "CS2R FADD FFMA FMUL HADD2 HFMA2 HMUL2 IMAD",
    "double": "DADD DFMA DMUL",
    "slow": "BREV F2F F2I FLO I2F I2I MUFU POPC",
    "shared": "ATOMS LDS LDSM SHFL STS STSM",
    "global": "ATOM ATOMG LD LDG RED REDG ST STG",
    "local": "LDL STL",
    "tensor": "BMMA HMMA IMMA",
    "moved": "LDC R2UR S2R S2UR VOTE VOTEU",
    "control": "ACQBULK BAR BMOV BPT BRA BREAK BSSY BSYNC CALL CCTL DEPBAR ELECT ERRBAR EXIT FENCE "
    "KILL LEPC MEMBAR NANOSLEEP NOP RET WARPSYNC YIELD",
}
KINDS = {name: unit for unit, names in UNITS.items() for name in names.split()}
SECTION = re.compile(r"^\s*\.section\s+\.text\.(\w+)")
LABEL_LINE = re.compile(r"^\s*(\.L_\w+|\$[\w$]+):")
LABEL = re.compile(r"`\((\.L_\w+)\)")
LINE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)(?! inlined)')
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?)\s*;")
