"""What scikit-learn's tags say of an X of sequences of dicts or strings."""


class TakesLabels:
    """Mixin of meta-estimators whose `fit` takes sequences and their labels."""

    def __sklearn_tags__(self):
        """Return the tags: sequences, and no table; y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return of_sequences(tags)


def of_sequences(tags):
    """Mark the tags of an estimator that takes sequences and no table; return them."""
    tags.input_tags.two_d_array = False
    tags.input_tags.dict = tags.input_tags.string = True
    return tags
