"""A load of one's own: which device should work it, how busy that makes it, would a card pay.

`Own` says what is measured, `Advice` what follows from the run, `answer` what to do; `csv` and
`json_text` have every figure. The rest are pure functions in between: services in batches of
several lengths, ranks, and what cards are worth.
"""

from sealift.lab.load.advice import Advice
from sealift.lab.load.answer import answer
from sealift.lab.load.own import Own, is_own
from sealift.lab.load.rehearsing import rehearsed
from sealift.lab.load.serving import Demand
from sealift.lab.load.shown import csv, json_text

__all__ = ["Advice", "Demand", "Own", "answer", "csv", "is_own", "json_text", "rehearsed"]
