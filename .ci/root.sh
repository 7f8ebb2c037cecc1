# Sourced by .ci/aarch64 and .ci/wheel, which try the package in a Debian of their own.
# Needs root, and Debian's package debootstrap.

# make_root FOLDER ARCHITECTURE PACKAGES: a small Debian with Python 3.11 in FOLDER,
# unless it is there already.
make_root() {
    [ -e "$1/made" ] && return
    rm -rf "$1"
    mkdir -p "$1"
    debootstrap --variant=minbase --arch="$2" --include="$3" bookworm "$1" \
        >"$1.log" 2>&1 || { tail -20 "$1.log"; exit 1; }
    touch "$1/made"
}

# in_root FOLDER COMMAND...: run the command there. What is mounted for it goes with it.
in_root() {
    unshare --mount --fork bash -c '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" env -i HOME=/root LANG=C.UTF-8 PATH=/venv/bin:/usr/bin:/bin "$@"' \
        "$@"
}

# make_venv FOLDER ARCHITECTURE REQUIREMENT...: a fresh environment /venv there, of wheels
# that are kept there for the next run.
make_venv() {
    local root=$1 architecture=$2
    shift 2
    python3 -m pip download --quiet --dest "$root/wheels" --only-binary :all: \
        --implementation cp --python-version 3.11 \
        --platform "manylinux_2_28_$architecture" --platform "manylinux_2_27_$architecture" \
        --platform "manylinux_2_17_$architecture" --platform "manylinux2014_$architecture" \
        "$@"
    in_root "$root" /usr/bin/python3 -m venv --clear /venv
    in_root "$root" pip install --quiet --no-index --find-links /wheels "$@"
}

# The dependencies of the package, one a line.
dependencies() {
    python3 -c '
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print(*project["dependencies"], sep="\n")'
}
