"""`skcrf-sdca info` shows what a model file says of itself."""

from skcrf_sdca.persistence import model_info

from ._streams import write

HELP = "show what a model file says of itself, without reading its weights"


def add_options(parser):
    """Add the options of `info`."""
    parser.add_argument("model", metavar="MODEL", help="a file of train or save_model")


def run(options):
    """Print the table."""
    write([f"{model_info(options.model)}\n"])
