"""What scikit-learn's tags say of an X of sequences of dicts or strings."""


def of_sequences(tags):
    """Mark the tags of an estimator that takes sequences and no table; return them."""
    tags.input_tags.two_d_array = False
    tags.input_tags.dict = tags.input_tags.string = True
    return tags
