"""Windows of pixels, against loops over all pixels; pipelines of images."""

import pickle

import numpy as np
import pytest

from pairs import by_pairs
from skcrf_sdca import GraphCRF, make_tagger
from skcrf_sdca.datasets import image_graph
from skcrf_sdca.features import ImageWindow

RNG = np.random.default_rng(0)
GREY = RNG.normal(size=(5, 4))
COLOUR = RNG.normal(size=(3, 6, 2))


def pixel(image, i, j, padding):
    """Return a pixel, which may be beyond the edge."""
    height, width = image.shape[:2]
    inside = 0 <= i < height and 0 <= j < width
    found = image[min(max(i, 0), height - 1), min(max(j, 0), width - 1)]
    return np.atleast_1d(found if inside or padding == "nearest" else 0.0 * found)


def square(image, i, j, k):
    """Return the pixels of a square that are in the image."""
    return image[max(i - k, 0) : i + k + 1, max(j - k, 0) : j + k + 1].reshape(
        -1, *image.shape[2:]
    )


@by_pairs(
    {
        "size,span": [(0, None), (1, None), (2, 1), (0, 9)],
        "padding": ["nearest", "zero"],
        "image": [GREY, COLOUR, GREY[:1], GREY[:, :1]],
    }
)
def test_each_pixel_has_those_around_it(image, padding, size, span):
    window = ImageWindow(size, span=span, padding=padding)
    [(nodes, *edges)] = window.fit_transform([image])
    height, width = image.shape[:2]
    steps = range(-size, size + 1)
    for i in range(height):
        for j in range(width):
            own = [
                pixel(image, i + down, j + right, padding)
                for down in steps
                for right in steps
            ]
            if span is not None:
                part = square(image, i, j, span)
                own += map(np.atleast_1d, (part.mean(axis=0), part.std(axis=0)))
            np.testing.assert_allclose(nodes[i * width + j], np.hstack(own), atol=1e-7)
    for found, expected in zip(edges, image_graph(image)[1:], strict=True):
        np.testing.assert_array_equal(found, expected)
    assert nodes.shape[1] == window.n_features_out_


def test_names_say_which_pixel():
    window = ImageWindow(1, span=2).fit([COLOUR])
    names = window.get_feature_names_out(["red", "blue"]).tolist()
    assert len(names) == window.n_features_out_ == 22
    assert names[:3] == ["red[-1,-1]", "blue[-1,-1]", "red[-1,0]"]
    assert names[-2:] == ["std(red[-2:2,-2:2])", "std(blue[-2:2,-2:2])"]
    [(nodes, *_)] = window.transform([COLOUR])
    (column,) = (names.index(name) for name in ["blue[0,1]"])
    np.testing.assert_array_equal(nodes[0, column], COLOUR[0, 1, 1])
    with pytest.raises(ValueError, match="1 names, but fit had 2 channels"):
        window.get_feature_names_out(["red"])


def test_the_graph_is_that_of_its_parameters():
    window = ImageWindow(0, n_neighbours=8, contrast=True)
    [graph] = window.fit_transform(iter([COLOUR]))
    expected = image_graph(COLOUR, n_neighbours=8, contrast=True)
    for found, own in zip(graph, expected, strict=True):
        np.testing.assert_array_equal(found, own)
    assert window.transform([]) == []
    again = pickle.loads(pickle.dumps(window))
    np.testing.assert_array_equal(again.transform([COLOUR])[0][0], graph[0])


def test_the_pixels_around_a_pixel_tell_its_label():
    seen = [RNG.normal(size=(8, 8)) for _ in range(12)]
    # The label of a pixel is whether the one to its left is positive.
    y = [(np.roll(own, 1, axis=1) > 0).ravel().astype(int) for own in seen]
    scores = []
    for size in (0, 1):
        crf = GraphCRF(alpha=0.01, solver="lbfgs", inference="trw")
        tagger = make_tagger(ImageWindow(size), crf).fit(seen[:8], y[:8])
        scores.append(tagger.score(seen[8:], y[8:]))
    assert scores[0] < 0.65
    assert scores[1] > 0.85


@pytest.mark.parametrize(
    ("window", "images", "message"),
    [
        (ImageWindow(), [], "0 images"),
        (ImageWindow(), [GREY, np.ones(3)], r"X: image 1 is .* shape \(3,\)"),
        (ImageWindow(), [GREY, COLOUR], "image 1 has 2 channels, but image 0 has 1"),
        (ImageWindow(), GREY, r"one image: wrap it in a list, \[X\]"),
        (ImageWindow(n_neighbours=6), [GREY], "n_neighbours must be 4 or 8, got 6"),
        (ImageWindow(-1), [GREY], "size"),
        (ImageWindow(padding="wrap"), [GREY], "padding"),
    ],
)
def test_what_it_does_not_take_is_named(window, images, message):
    with pytest.raises(ValueError, match=message):
        window.fit(images)


def test_other_channels_than_in_the_fit_are_refused():
    with pytest.raises(ValueError, match="2 channels, .* expecting 1 channels"):
        ImageWindow().fit([GREY]).transform([COLOUR])


def test_squares_far_beyond_an_image():
    large, small = (ImageWindow(0, span=k).fit([GREY]) for k in (2**63, 5))
    np.testing.assert_array_equal(
        large.transform([GREY])[0][0], small.transform([GREY])[0][0]
    )
    with pytest.raises(MemoryError, match=r"of 20 pixels would take .* smaller size"):
        ImageWindow(10**6).fit([GREY]).transform([GREY])
