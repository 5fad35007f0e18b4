"""Ray: datasets there and back on two workers."""

import os

import pytest
import ray

from aescomb.columns import ray as columns
from conftest import SPEC, people


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def rows(dataset):
    return sorted(dataset.take_all(), key=lambda row: row["id"])


def test_datasets(wrapped):
    given = ray.data.from_arrow([people(500), people(500)]).repartition(8)
    encrypted, header = columns.encrypt(given, SPEC, wrapped)
    opened = columns.decrypt(encrypted, header, wrapped)
    assert rows(opened) == rows(given)
    assert all(row["name"] is None or row["name"][0] == 1 for row in rows(encrypted))


def test_a_worker_is_killed(wrapped, tmp_path):
    marker = str(tmp_path / "killed")

    def killed_once(batch):
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return batch
        os._exit(1)

    given = ray.data.from_arrow([people(500)]).repartition(8)
    encrypted, header = columns.encrypt(given, SPEC, wrapped)
    survived = encrypted.map_batches(killed_once, batch_format="pyarrow")
    assert rows(columns.decrypt(survived, header, wrapped)) == rows(given)
    assert os.path.exists(marker)
