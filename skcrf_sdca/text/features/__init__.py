"""Features of tokens: values, templates of these, and what transforms tokens by them.

`values` and `data_values` are of one token, `templates` say of which tokens, and
`token_features` is the transformer; `arc_features` is the one of dependency arcs.
"""
