"""Arrays in unnamed files are arrays like others, and need their place on the disk."""

import copy
import errno
import os
import pickle
import tempfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skcrf_sdca._utils import mapped_arrays
from skcrf_sdca._utils.memory import n_bytes_of


@pytest.mark.parametrize("shape", [(3, 4), (5,), (2, 0), (0,)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_an_array_is_of_zeros_and_can_be_written(shape, dtype):
    found = mapped_arrays.zeros(shape, dtype)
    assert (found.shape, found.dtype) == (shape, dtype)
    assert_array_equal(found, np.zeros(shape))
    found += 1
    for other in copy.deepcopy(found), pickle.loads(pickle.dumps(found)):
        other *= 2
        assert_array_equal(found, np.ones(shape))
        assert_array_equal(other, np.full(shape, 2.0))


def test_files_have_no_name_and_their_place_is_taken(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = mapped_arrays.zeros((1000, 100))
    assert mapped_arrays.folder() == str(tmp_path)
    assert not list(tmp_path.iterdir())
    assert found.sum() == 0.0


@pytest.mark.parametrize("has_fallocate", [True, False])
def test_a_full_disk_is_an_error_that_names_the_folder(monkeypatch, has_fallocate):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if has_fallocate:
        monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    else:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
        monkeypatch.setattr(mapped_arrays, "_write", full)
    with pytest.raises(OSError, match="No space") as caught:
        mapped_arrays.zeros((10,))
    assert caught.value.filename == mapped_arrays.folder()


def test_systems_without_reservation_write_the_place(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(mapped_arrays, "BLOCK", 7)
    assert_array_equal(mapped_arrays.zeros((3, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2GB", 2e9), ("2 GiB", 2**31), ("500 MiB", 500 * 2**20), ("0.5kB", 500), (7, 7)],
)
def test_sizes_are_numbers_or_texts(text, expected):
    assert n_bytes_of(text) == expected


@pytest.mark.parametrize("text", ["2 gigabytes", "GB", "", "1.2.3 GB", "-1 GB"])
def test_a_text_that_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r'memory=.* is no size; give .*"2GB"'):
        n_bytes_of(text)
