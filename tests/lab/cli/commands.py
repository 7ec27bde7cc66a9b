"""Calls of the command line, in this process."""

from typer.testing import CliRunner, Result

from sealift.cli.root import app


def invoke(*words: object) -> Result:
    """Calls a command; what it raises is raised here, unless it ends the program."""
    done = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False, prog_name="sealift")
    assert "Traceback" not in done.output
    return done


def refused(*words: object) -> str:
    """What a command says when it ends with code 2 and prints nothing."""
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return " ".join(done.stderr.split())
