"""What readers, writers and features stand on: files, tokens, and texts with spans.

In reading order: `files` owns paths, compression, encodings and lines; `tokens` the
types of tokens; `column_names` the names that programs have for columns and fields;
`reading` what a reader took, guessed and left out;
`passages` how a text with spans becomes sequences.
"""
