"""What models of segments say of themselves."""

from numpy.testing import assert_allclose

from skcrf_sdca import SegmentCRF


def is_long(sequence, begin, end):
    return {"long": end - begin > 1}


def test_an_explanation_names_the_segments_and_transitions_of_both_paths():
    X, y = [[["a"], ["b"], ["c"]]] * 9, [["B-X", "I-X", "O"]] * 9
    crf = SegmentCRF(segment_features=is_long, solver="lbfgs").fit(X, y)
    found = crf.explain(X[0], 1)
    assert found.paths == {"I-X": ["B-X", "I-X", "O"], "O": ["B-X", "O", "O"]}
    length, transition, long = crf.length_, crf.transition_, crf.segment_coef_[0, 0]
    x, o = crf.types_.tolist().index("X"), crf.types_.tolist().index("O")
    expected = {
        "<segment 0-1>": length[x, 1],
        "<segment 0-1> long": long,
        "<segment 0-0>": -length[x, 0],
        "<segment 1-1>": -length[o, 0],
        "<transition 0-1>": -transition[x, o],
        "<transition 1-2>": transition[x, o] - transition[o, o],
    }
    terms = dict(zip(found.features, found.contributions[:, 0], strict=True))
    assert {name for name in terms if " " in name} == {*expected}
    for name, value in expected.items():
        assert_allclose(terms[name], value, rtol=1e-12, err_msg=name)
    values = dict(zip(found.features, found.values, strict=True))
    assert {values[name] for name in expected} == {1.0}
