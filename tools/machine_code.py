"""Reads what nvdisasm and ptxas print: kernels, their instructions by class, and their loops."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

Place = tuple[str, int]
"""File and line of the source."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: With its modifiers, such as LOP3.LUT.
        operands: As printed.
        guarded: Whether a predicate decides if it is done.
        place: What it is of; "" and 0 where that is not known.
    """

    opcode: str
    operands: str
    guarded: bool
    place: Place

    @property
    def name(self) -> str:
        """Its opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def kind(self) -> str:
        """The unit that executes it."""
        if self.opcode.startswith("IMAD.WIDE"):
            return "wide"
        kind = KINDS.get(self.name, "uniform" if self.name.startswith("U") else None)
        if kind is None:
            raise ValueError(f"{self.opcode} is of no known unit; add it to UNITS of {__name__}")
        return kind

    @property
    def words(self) -> int:
        """How many words of four bytes a lane loads or stores with it."""
        return max(WIDTHS.get(part, 1) for part in self.opcode.split("."))


@dataclass(frozen=True, slots=True)
class Part:
    """A loop without those inside, a function that is called, or what is in no loop.

    Attributes:
        code: Its instructions in the order of addresses.
        depth: How many loops a loop is in.
        place: Where the last instruction of a loop stands in the source.
        function: The name of a function.
    """

    code: Sequence[Instruction]
    depth: int = 0
    place: Place = ("", 0)
    function: str = ""


@dataclass(frozen=True)
class Kernel:
    """The code of a kernel in the order of addresses, and which instruction labels stand before."""

    name: str
    code: Sequence[Instruction]
    labels: Mapping[str, int]

    def parts(self) -> Iterator[Part]:
        """What is done in no loop; functions; loops, outer ones before those inside."""
        after = {place: self._successors(place) for place in _reachable(0, self._successors)}
        bodies = _loops(after)
        yield Part(self._instructions({*after}.difference(*bodies.values())))
        functions = {FUNCTION.sub(r"\1", label): label for label in self.labels if label[0] == "$"}
        for name, label in sorted(functions.items()):
            reached = _reachable(self.labels[label], self._successors)
            yield Part(self._instructions(reached), function=name)
        for head, body in sorted(bodies.items()):
            inner = [other for start, other in bodies.items() if start != head and start in body]
            depth = sum(head in other for other in bodies.values()) - 1
            code = self._instructions(body.difference(*inner))
            yield Part(code, depth, self.code[max(body)].place)

    def _instructions(self, places: Iterable[int]) -> list[Instruction]:
        return [self.code[place] for place in sorted(places)]

    def _successors(self, place: int) -> Sequence[int]:
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

    def _meeting(self, place: int) -> int:
        """Where lanes go on that waited for each other: as the last BSSY of that barrier says."""
        barrier = self.code[place].operands.split(",")[0].strip()
        starts = (each.operands for each in self.code[:place] if each.name == "BSSY")
        *_, last = (each for each in starts if each.startswith(f"{barrier},"))
        return self.labels[LABEL.findall(last)[0]]


def kernels(listing: str) -> Iterator[Kernel]:
    """The kernels of a disassembly."""
    for section in re.split(r"^(?=\s*\.section\s)", listing, flags=re.M):
        code, labels, place = list[Instruction](), dict[str, int](), ("", 0)
        for line in section.splitlines():
            if match := LABEL_LINE.match(line):
                labels[match[1]] = len(code)
            elif match := LINE.match(line):
                place = (PurePath(match[1]).name, int(match[2]))
            elif match := INSTRUCTION.match(line):
                code.append(Instruction(match[2], match[3], match[1] is not None, place))
        name = SECTION.match(section)
        if name and code:
            yield Kernel(name[1], code, labels)


def resources(log: str) -> dict[str, dict[str, int]]:
    """What ptxas says that each kernel takes: registers, and bytes of memory."""
    found = {}
    for part in log.split("Compiling entry function ")[1:]:
        taken = {what: sum(map(int, re.findall(each, part))) for what, each in RESOURCES.items()}
        if not taken["registers"]:
            raise ValueError(f"ptxas tells no registers: {part.strip()}")
        found[part.split("'")[1]] = taken
    return found


def counts(code: Iterable[Instruction]) -> dict[str, int]:
    """How many instructions of each kind; of shared and global memory, words of a lane."""
    found: Counter[str] = Counter()
    for instruction in code:
        kind = instruction.kind
        found["issued"] += 1
        found[kind] += instruction.words if kind in MEMORIES else 1
    return {kind: found[kind] for kind in COUNTED}


def _loops(after: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    """All of each loop by its first instruction, which every way into the loop passes."""
    before = defaultdict[int, list[int]](list)
    for place, following in after.items():
        for each in following:
            before[each].append(place)
    found = {}
    for head, latches in [*before.items()]:
        if back := {latch for latch in latches if latch >= head}:
            passing_by = _reachable(0, after.__getitem__, stop=head)
            own = [_reachable(e, before.__getitem__, stop=head) | {e} for e in back - passing_by]
            if own:
                found[head] = {head}.union(*own)
    return found


def _reachable(start: int, onward: Callable[[int], Iterable[int]], stop: int = -1) -> set[int]:
    """All places that are come to from one, itself included, without passing `stop`."""
    found, waiting = {stop}, [start]
    while waiting:
        if (place := waiting.pop()) not in found:
            found.add(place)
            waiting += onward(place)
    return found - {stop}


ENDS = {"EXIT", "KILL", "RET"}
# For Turing some jumps are calls that never return. Calls of functions name no place of the kernel.
JUMPS = {"BRA", "CALL"}
INDIRECT = {"BRX", "BRXU", "JMP", "JMX", "JMXU"}
# What a jump asks beside its predicate.
CONDITION = re.compile(r"!?U?P\d")
WIDTHS = {"64": 2, "128": 4}
MEMORIES = ("shared", "global")
# What is counted apart, behind all that is issued.
COUNTED = ("issued", "alu", "fma", "wide", "shared", "global", "local", "tensor", "slow", "double")
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
RESOURCES = {
    "registers": r"Used (\d+) registers",
    "frame_bytes": r"(\d+) bytes stack frame",
    "spilled_bytes": r"(\d+) bytes spill",
    "shared_bytes": r"(\d+) bytes smem",
}
KINDS = {name: unit for unit, names in UNITS.items() for name in names.split()}
SECTION = re.compile(r"^\s*\.section\s+\.text\.(\w+)")
LABEL_LINE = re.compile(r"^\s*(\.L_\w+|\$[\w$]+):")
LABEL = re.compile(r"`\((\.L_\w+)\)")
# The name of a function as the source has it, in its mangled one.
FUNCTION = re.compile(r"^\$.*\d([a-z_]+)E.*$")
LINE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)(?! inlined)')
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?)\s*;")
