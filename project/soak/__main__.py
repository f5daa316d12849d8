"""`python -m project.soak`: the soak on one database after the other, each in an empty folder and an empty database.

`--orders DIR` names a folder with products.csv, orders.csv and order-details.csv; without it a small sample is taken.
DATABASE_URL names a PostgreSQL server to use; without it the one of the dev extra runs for the time of the soak. The
exit code is 1 when any book differs from any other.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from project.processes import interrupt_once
from tests import postgres

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "tests" / "shop" / "orders_sample"
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "project.settings",
    "DEBUG": "0",
    "SAGA_LEASE": "3",  # what a dead worker held is taken over soon
    "SAGA_HARD_STOP_GRACE": "1",
    "OUTSIDE_LATENCY": "0.1",  # bodies last long enough to be killed in
    "SHOP_DAY": "1",  # what is never decided, delivered or sent back is given up within half a minute
}


def main(arguments: list[str]) -> int:
    """Run every soak that was asked for; 0 when all of them balance."""
    parser = argparse.ArgumentParser(prog="python -m project.soak", description=__doc__)
    parser.add_argument("--orders", type=Path, default=SAMPLE, help="folder of the three CSV files")
    parser.add_argument("--database", choices=["postgres", "sqlite", "both"], default="both")
    options = parser.parse_args(arguments)
    databases = ["postgres", "sqlite"] if options.database == "both" else [options.database]
    codes = [soak(database, options.orders.resolve()) for database in databases]
    return max(codes)


def soak(database: str, orders: Path) -> int:
    """One soak in an empty folder, which is kept when it fails."""
    folder = Path(tempfile.mkdtemp(prefix=f"saga-soak-{database}-"))
    code = 0
    try:
        code = soak_in(folder, database, orders)
    finally:
        if code:
            sys.stderr.write(f"{database}: databases and logs are kept in {folder}\n")
        else:
            shutil.rmtree(folder)
    return code


def soak_in(folder: Path, database: str, orders: Path) -> int:
    """One soak, with all that it writes in that folder."""
    with url(database, folder) as address:
        command = [sys.executable, "manage.py", "soak", "--orders", str(orders), "--title", database]
        environment = {**os.environ, **SETTINGS, "SHOP_DATA": str(folder), "DATABASE_URL": address}
        return run(command, environment)


def run(command: list[str], environment: dict[str, str]) -> int:
    """Run it to its end, in a process of its own; when we are interrupted, it may stop its cluster first."""
    with subprocess.Popen(command, cwd=ROOT, env=environment) as child:  # noqa: S603 - our own manage.py
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.terminate()
            child.wait()  # leaving the block would not: it takes an interrupted child to be ending by itself
            raise


@contextmanager
def url(database: str, folder: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if database == "sqlite":
        yield f"sqlite:///{folder / 'shop.sqlite3'}"
    elif os.environ.get("DATABASE_URL"):
        with empty(os.environ["DATABASE_URL"]) as address:
            yield address
    else:
        with postgres.server() as server, empty(server) as address:
            yield address


@contextmanager
def empty(server: str) -> Iterator[str]:
    """A database of our own on that server, gone afterwards."""
    name = f"saga_soak_{os.getpid()}"
    beside = psycopg.conninfo.make_conninfo(server, dbname="postgres")
    with psycopg.connect(beside, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            head, _, options = server.partition("?")
            yield f"{head.rpartition('/')[0]}/{name}?{options}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


if __name__ == "__main__":
    interrupt_once()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
