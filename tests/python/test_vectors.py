"""Vector files of NIST, of Wycheproof and of one's own, and `sealift check --vectors`."""

import json
import os
from importlib import import_module
from pathlib import Path

import pytest

import run_report
from command import invoke, process
from conftest import skip
from sealift import Engine
from sealift.cli import lab
from sealift.exit_code import ExitCode
from sealift.operations import Done, Outcome, batches, run_all, totals, why_not
from sealift.vectors import Planned, read_vectors
from test_cli import without

# The first operation of document 003's log, one of NIST's that opens, and one that must not.
ENCRYPT = """\
# GCM Encrypt with keysize 128 test information

[Keylen = 128]
[IVlen = 96]
[PTlen = 128]
[AADlen = 0]
[Taglen = 128]

Count = 0
Key = 7fddb57453c241d03efbed3ac44e371c
IV = ee283a3fc75575e33efd4887
PT = d5de42b461646c255c87bd2962d3b9a2
AAD =
CT = 2ccda4a5415cb91e135c2a0f78c9b2fd
Tag = b36d1df9b9d5e596f83e8b7f52971cb3
"""
DECRYPT = """\
# GCM Decrypt with keysize 128 test information

[Keylen = 128]
[IVlen = 96]
[PTlen = 0]
[AADlen = 0]
[Taglen = 128]

Count = 0
Key = cf063a34d4a9a76c2c86787d3f96db71
IV = 113b9785971864c83b01c787
CT =
AAD =
Tag = 72ac8493e3a5228b5d130a69d2510e42
PT =

Count = 1
Key = a49a5e26a2f8cb63d05546c2a62f5343
IV = 907763b19b9b4ab6bd4f0281
CT =
AAD =
Tag = a2be08210d8c470a8df6e8fbd79ec5cf
FAIL
"""
KEY, NONCE = "5b9604fe14eadba931b0ccf34843dab9", "921d2507fa8007b7bd067d34"
AAD, TEXT = "00112233445566778899aabbccddeeff", "001d0c231287c1182784554ca3a21908"
CIPHERTEXT, TAG = "49d8b9783e911913d87094d1f63cc765", "1e348ba07cca2cf04c618cb4d43a5b92"
VALID = {"tcId": 2, "key": KEY, "iv": NONCE, "aad": AAD, "msg": TEXT, "ct": CIPHERTEXT}
VALID |= {"tag": TAG, "result": "valid"}
TESTS = [
    VALID,
    VALID | {"tcId": 3, "tag": f"ff{TAG[2:]}", "result": "invalid"},
    VALID | {"tcId": 4, "iv": "", "result": "invalid"},
    VALID | {"tcId": 5, "result": "acceptable"},
]
CSV = f"""\
# of one's own
Key, nonce, aad, plaintext, ciphertext, tag, result, operation, note
{KEY}, {NONCE}, {AAD}, {TEXT}, {CIPHERTEXT}, {TAG}, , , sealed and opened
{KEY}, {NONCE}, {AAD}, {TEXT}, {CIPHERTEXT}, {TAG}, valid, seal, sealed

{KEY}, {NONCE}, {AAD}, , {CIPHERTEXT}, {TAG[:-2]}00, invalid, , refused
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of each kind."""
    (tmp_path / "encrypt.rsp").write_text(ENCRYPT)
    (tmp_path / "decrypt.rsp").write_text(DECRYPT)
    groups = [{"keySize": 128, "tests": TESTS}]
    whole = {"algorithm": "AES-GCM", "testGroups": groups}
    (tmp_path / "wycheproof.json").write_text(json.dumps(whole, indent=2))
    (tmp_path / "own.csv").write_text(CSV)
    return tmp_path


def test_each_kind_of_file_has_its_operations(folder: Path) -> None:
    found = {path.name: read_vectors(path) for path in folder.iterdir()}
    kinds = {name: [str(each.planned) for each in file.records] for name, file in found.items()}
    assert kinds == {
        "encrypt.rsp": ["seal"],
        "decrypt.rsp": ["open", "refuse"],
        "wycheproof.json": ["seal", "open", "refuse", "refuse"],
        "own.csv": ["seal", "open", "seal", "refuse"],
    }
    places = [found[name].records[-1].place for name in sorted(found)]
    assert places[:3] == ["line 17, record 2", "line 9, record 1", "line 6, record 3"]
    assert places[3].endswith(", tcId 4")
    assert found["wycheproof.json"].left_out == {"may succeed or fail": 1}
    (record,) = found["encrypt.rsp"].records
    assert (record.text_len, record.tag_len, len(record.expected or b"")) == (16, 16, 32)
    assert found["encrypt.rsp"].size_bytes == len(ENCRYPT)


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("encrypt.rsp", "Key = 7f", "Key = 7g", "line 10: Key '7gddb5"),
        ("encrypt.rsp", "Key = 7f", "Key = 7", "line 10: Key '7ddb5"),
        ("encrypt.rsp", "Key = 7fdd", "Key = dd", "line 10: Key of 120 bits, and [Keylen = 128]"),
        ("encrypt.rsp", "PT = ", "QT = ", "line 12: 'QT = d5de"),
        ("encrypt.rsp", "IVlen = 96", f"IVlen = {'9' * 5_000}", "line 4: '[IVlen = 999"),
        ("encrypt.rsp", "IV = ", "Count = ", "line 9: a record has PT or"),
        ("encrypt.rsp", "AAD =\n", "", "line 9: the record has no AAD"),
        ("encrypt.rsp", "Encrypt", "Encript", ""),
        ("decrypt.rsp", "FAIL", "PT =", ""),
        ("decrypt.rsp", "FAIL", "FAIM", "line 23: 'FAIM' is not a line of a record"),
        ("decrypt.rsp", "Count = 1\n", "", "line 17: Key stands at a wrong place or twice"),
        ("decrypt.rsp", "FAIL\n", "", "line 17: a record has PT or, where it is opened, FAIL"),
        ("wycheproof.json", "AES-GCM", "AES-CCM", "line 1: its algorithm is 'AES-CCM'"),
        ("wycheproof.json", '"tag"', '"tug"', ": 'tag' is missing; Wycheproof's files have it"),
        ("wycheproof.json", f'"{KEY}', f'"\\t{KEY}', r"key '\t5b9604"),
        ("wycheproof.json", "acceptable", "p" * 99, f"result '{'p' * 40}...'; right would be"),
        ("wycheproof.json", "acceptable", "perhaps", ": result 'perhaps'; right would be valid"),
        ("wycheproof.json", "}", "", ": Expecting"),
        ("own.csv", "nonce", "iv", "line 2: the header has no column nonce"),
        (
            "own.csv",
            " seal,",
            " sael,",
            "line 4: operation 'sael'; right would be seal, open, both",
        ),
        ("own.csv", ", sealed\n", "\n", "line 4: 8 cells, and the header has 9"),
        ("own.csv", f" {TEXT},", f" {TEXT[2:]},", "line 3: a plaintext of 15 bytes, and a cipher"),
        ("own.csv", f"{KEY},", f"{KEY[2:]},", "line 3: a key of 15 bytes; right would be 16, 24"),
        ("own.csv", f", {TEXT}, {CIPHERTEXT}, {TAG}, ,", f", , , {TAG}, invalid,", ""),
        ("own.csv", "valid, seal", "invalid, seal", "line 4: what is invalid is opened"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(
    folder: Path, file: str, old: str, new: str, told: str
) -> None:
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    if not told:
        assert read_vectors(path).records
        return
    with pytest.raises(ValueError, match=r"line \d+") as error:
        read_vectors(path)
    assert str(error.value).startswith(f"{path}, ")
    assert told in str(error.value)


def test_what_is_no_vector_file_is_told(folder: Path) -> None:
    for name, content, told in (
        ("x.txt", b"", "x.txt: its name ends in none of .rsp, .json, .csv"),
        ("empty.csv", b"", "empty.csv: it has no record"),
        ("latin.csv", b"key\n\xe4", "latin.csv, line 2: byte 0xe4 is not UTF-8"),
        ("deep.json", b"[" * 200_000, "deep.json, line 1: brackets are nested too deeply"),
        ("plain.rsp", b"Count = 0\n", "plain.rsp, line 1: neither heading nor name has"),
    ):
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=r"\w") as error:
            read_vectors(folder / name)
        assert told in str(error.value)
    with pytest.raises(ValueError, match=r"gone\.rsp: No such file"):
        read_vectors(folder / "gone.rsp")


def test_batches_are_of_one_kind_and_as_long_as_may_be(folder: Path) -> None:
    records = read_vectors(folder / "own.csv").records
    made = [*batches(dict(enumerate([*records, *records], start=1)), 3)]
    assert [batch.numbers for batch in made] == [(1, 3, 5), (2, 4, 6), (7,), (8,)]


def test_operations_are_worked_in_order_and_counted(folder: Path) -> None:
    library = Engine(["library"])
    records = [each for path in sorted(folder.iterdir()) for each in read_vectors(path).records]
    device, told = library.devices[0], list[int]()
    reasons = [why_not(device, each) for each in records]
    assert [each for each in reasons if each] == ["have a nonce of 0 bytes"]
    taken = [each for each, why in zip(records, reasons, strict=True) if not why]
    done = run_all(library, taken, told.append)
    assert [each.record for each in done] == taken
    assert {each.outcome for each in done} == {Outcome.AS_PLANNED}
    assert (told[0], told[-1]) == (0, len(taken))
    assert totals(done) == {
        "operations": 10,
        "seals": 4,
        "opens": 3,
        "planned_failures": 3,
        "planned_failures_that_opened": 0,
        "unplanned_failures": 0,
        "operations_aes_128": 10,
        "operations_aes_192": 0,
        "operations_aes_256": 0,
        "text_bytes": 8 * 16,
    }


def test_a_fault_says_what_was_expected_and_what_came(folder: Path) -> None:
    (record,) = read_vectors(folder / "encrypt.rsp").records
    right = record.expected or b""
    assert not Done(record, right).fault
    fault = Done(record, b"\0" + right[1:]).fault
    assert fault.startswith("line 9, record 1: byte 0 of ciphertext and tag differs: 2ccda4")
    assert fault.endswith(
        " expected, 00cda4a5415cb91e135c2a0f78c9b2fdb36d1df9b9d5e596f83e8b7f52971cb3 found"
    )
    must_open, must_fail = read_vectors(folder / "decrypt.rsp").records
    assert Done(must_open, None).fault.endswith("plaintext no bytes expected, and it was refused")
    opened = Done(must_fail, b"\1")
    assert opened.outcome is Outcome.OPENED
    assert opened.fault.endswith("record 2: it must be refused, and it opened to 01")
    long = type(record)(record.place, Planned.OPEN, b"", b"", b"", b"", bytes(500), 16)
    shown = Done(long, bytes(400) + b"\1" + bytes(99)).fault
    assert "byte 400 of plaintext differs: ...0000" in shown
    assert shown.count("..") == 4


def test_check_works_files_behind_the_option_and_logs_each_operation(folder: Path) -> None:
    log = folder / "log.txt"
    names = [str(folder / name) for name in ("encrypt.rsp", "decrypt.rsp", "wycheproof.json")]
    ran = without("sealift_lab", "check", "library", "--vectors", *names, "--log", str(log))
    assert ran.returncode == 0, ran.stderr
    titles, row = ran.stdout.splitlines()
    assert titles.split()[:5] == ["device", "verdict", "files", "operations", "refused"]
    cells = row.split(maxsplit=9)
    assert cells[:8] == ["library", "right", "3", "of", "3", "6", "2", "0"]
    assert cells[9] == "1 may succeed or fail, 1 have a nonce of 0 bytes"
    head, first, *others = log.read_text().strip().split("\n\n")
    fields = dict(line.split(" = ", 1) for line in head.splitlines())
    assert fields["Input"] == ", ".join(names)
    sizes = sum(Path(name).stat().st_size for name in names)
    assert fields["Size of the input, bytes"] == f"{sizes:,}"
    assert fields["Platform"].startswith("library: ")
    assert [fields[name] for name in ("Operations", "Encryptions", "Unplanned failures")] == [
        *"620",
    ]
    assert (fields["Verdict"], len(others)) == ("right", 5)
    assert first.splitlines() == [
        "Operation = 1, encryption",
        "Record = encrypt.rsp, line 9, record 1",
        "Key = 7fddb57453c241d03efbed3ac44e371c",
        "Nonce = ee283a3fc75575e33efd4887",
        "AAD = ",
        "Plaintext = d5de42b461646c255c87bd2962d3b9a2",
        "Reference = 2ccda4a5415cb91e135c2a0f78c9b2fd b36d1df9b9d5e596f83e8b7f52971cb3",
        "Calculated = 2ccda4a5415cb91e135c2a0f78c9b2fd b36d1df9b9d5e596f83e8b7f52971cb3",
        "Outcome = as planned",
    ]
    assert others[1].splitlines()[-3:] == [
        "Reference = FAIL",
        "Calculated = FAIL",
        "Outcome = as planned",
    ]


def test_a_flipped_byte_of_a_file_is_named_with_its_line(folder: Path) -> None:
    path = folder / "encrypt.rsp"
    path.write_text(ENCRYPT.replace("PT = d5", "PT = d4"))
    ran = invoke("check", "library", "cpu", "--vectors", str(path), "--json")
    assert ran.exit_code == ExitCode.WRONG_RESULT
    place = f"library: not so: every operation of {path} ends as planned: line 9, record 1: byte 0"
    assert place in ran.stderr
    devices = json.loads(ran.stdout)["devices"]
    assert [each["totals"]["unplanned_failures"] for each in devices] == [1, 1]


def test_a_wrong_device_is_found_and_its_log_says_so(folder: Path) -> None:
    log, names = folder / "log.txt", [str(folder / "encrypt.rsp")]
    ran = invoke("check", "fault:wrong=1(cpu)", "library", "--vectors", *names, "--log", str(log))
    assert ran.exit_code == ExitCode.WRONG_RESULT, ran.output
    assert [line.split()[1] for line in ran.stdout.splitlines()] == ["verdict", "WRONG", "right"]
    verdicts = [line for line in log.read_text().splitlines() if line.startswith("Verdict")]
    assert verdicts == ["Verdict = WRONG", "Verdict = right"]


def test_files_are_read_before_any_work_and_a_log_spoils_none(folder: Path) -> None:
    path, other = folder / "own.csv", folder / "gone" / "log.txt"
    broken = folder / "broken.csv"
    broken.write_text(f"{CSV}\nshort\n")
    for words, code, told in (
        (f"--vectors {path} {path}", ExitCode.USAGE, "--vectors: a file stands twice"),
        (f"--vectors {path} {broken}", ExitCode.USAGE, "broken.csv, line 8: 1 cells, and the hea"),
        (f"--vectors {path} --log {path}", ExitCode.USAGE, "is one of the files that are read"),
        (f"--log {path}", ExitCode.USAGE, "--log: it lists operations of files"),
        (f"--vectors {path} --log {other}", ExitCode.NOT_WRITTEN, "log.txt: No such file"),
    ):
        ran = invoke("check", "library", *words.split())
        assert (ran.exit_code, ran.stdout) == (code, "")
        assert told in ran.stderr
    assert path.read_text() == CSV


def test_a_name_that_is_no_line_of_text_is_one_line_of_the_log(folder: Path) -> None:
    path, log = folder / os.fsdecode(b"x\nVerdict = \xff.rsp"), folder / "log.txt"
    path.write_text(ENCRYPT)
    ran = process("check", "library", "--vectors", str(path), "--log", str(log))
    assert ran.returncode == 0, ran.stderr
    lines = log.read_text().splitlines()
    assert [line for line in lines if line.startswith("Verdict")] == ["Verdict = right"]
    assert r"Record = x\nVerdict = \udcff.rsp, line 9, record 1" in lines


def test_where_no_operation_is_taken_nothing_ran(folder: Path) -> None:
    path = folder / "own.csv"
    path.write_text(CSV.replace(f" {NONCE}", " "))
    ran = invoke("check", "library", "--vectors", str(path))
    assert ran.exit_code == ExitCode.NOTHING_RAN
    assert ran.stdout.splitlines()[1].split()[1] == "none"
    assert "4 have a nonce of 0 bytes" in ran.stdout


def test_a_device_that_crashes_is_wrong_and_its_log_says_how(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "crashing_devices.py").write_text(CRASHING_DEVICES)
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(lab, "extension", lambda: import_module("crashing_devices"))
    log, path = folder / "log.txt", folder / "encrypt.rsp"
    ran = invoke("check", "cpu", "--vectors", str(path), "--log", str(log))
    assert ran.exit_code == ExitCode.WRONG_RESULT, ran.output
    text = "its process was ended by signal 9 (Killed)"
    assert f"cpu: not so: every operation of {path} ends as planned: {text}" in ran.stderr
    assert log.read_text() == f"Platform = cpu\nVerdict = WRONG: {text}\n\n"


def test_every_record_of_nist_is_worked_on_this_processor(tmp_path: Path) -> None:
    try:
        import cryptography_vectors
    except ModuleNotFoundError:
        skip("vectors", "cryptography-vectors is not installed")
    run_report.ran("vectors")
    folder = Path(cryptography_vectors.__path__[0]) / "ciphers/AES/GCM"
    paths = [str(folder / f"gcm{kind}128.rsp") for kind in ("EncryptExtIV", "Decrypt")]
    log = tmp_path / "log.txt"
    ran = process("check", "cpu", "--vectors", *paths, "--log", str(log), "--json")
    assert ran.returncode == 0, ran.stderr
    (device,) = json.loads(ran.stdout)["devices"]
    counts = {"operations": 15_750, "seals": 7_875, "unplanned_failures": 0, "not_run": {}}
    assert counts.items() <= device["totals"].items()
    assert device["totals"]["planned_failures"] == sum(each["refused"] for each in device["checks"])
    assert log.read_text().count("\nOperation = ") == 15_750


CRASHING_DEVICES = """
import os
from types import SimpleNamespace
from sealift import drivers

class Engine:
    def __init__(self, specs):
        most = dict.fromkeys(("text_bytes_max", "aad_bytes_max", "messages_max"), 99)
        takes = {"nonce_lengths": [12], "tag_lengths": [16], "runs_on_calling_thread": True}
        what = {"name": specs[0], "role": "real", "detail": ""}
        self.devices = [SimpleNamespace(**what, **takes, **most)]

    def seal_batch(self, *_, **__):
        os.kill(os.getpid(), 9)
"""
