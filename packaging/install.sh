#!/bin/sh
# Installs Heirloom from an archive, without superuser rights.
#
# The archive and SHA256SUMS are read from the folder of this script, or from HEIRLOOM_BASE_URL. The archive is
# unpacked only if its checksum is in SHA256SUMS and it contains nothing but plain files below one folder.
set -eu
# Same meaning of ranges and of sort in every locale.
LC_ALL=C
export LC_ALL
umask 022

VERSION='@VERSION@'

usage() {
    cat <<'END'
usage: sh install.sh [--prefix DIR] [--archive FILE] [--uninstall]

  --prefix DIR    install below DIR (default: ~/.local): bin, share/man, completions
  --archive FILE  this archive; SHA256SUMS is read from its folder
  --uninstall     remove what this script installed below the prefix; memory stays

HEIRLOOM_BASE_URL is a folder of the web with the archive and SHA256SUMS; without it, both are
in the folder of this script.
END
}

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Prints the name of the compiler's target for this machine.
target() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "no archive for the processor $machine" ;;
    esac
    case $system in
    Linux) printf '%s-unknown-linux-musl\n' "$machine" ;;
    Darwin) printf '%s-apple-darwin\n' "$machine" ;;
    *) fail "no archive for the system $system" ;;
    esac
}

# Prints the SHA-256 digest of a file.
digest() {
    if has sha256sum; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif has shasum; then
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    elif has openssl; then
        openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
    else
        fail 'no program for checksums: install sha256sum, shasum or openssl'
    fi
}

# Downloads a file: URL, path.
download() {
    case $1 in
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]* | file://*) ;;
    *) fail "HEIRLOOM_BASE_URL has to begin with https://" ;;
    esac
    if has curl; then
        curl --fail --silent --show-error --location --output "$2" "$1" || fail "cannot download $1"
    elif has wget; then
        wget -q -O "$2" "$1" || fail "cannot download $1"
    else
        fail 'no program for downloads: install curl or wget'
    fi
}

# Fails unless the checksum of the archive is in the list: archive, list, name of the archive.
verify() {
    # The name is compared as a text; `*` marks binary mode.
    expected=$(while read -r sum file; do
        if [ "${file#\*}" = "$3" ]; then printf '%s\n' "$sum"; fi
    done <"$2")
    [ -n "$expected" ] || fail "SHA256SUMS has no checksum of $3"
    actual=$(digest "$1")
    [ "$expected" = "$actual" ] ||
        fail "the checksum of $3 is $actual, SHA256SUMS has $expected: the file is damaged or was changed"
}

# Fails unless every member of the archive is a plain file or a folder below the given folder.
check_members() {
    members=$(tar -tzf "$1") || fail 'the archive cannot be read'
    printf '%s\n' "$members" | while IFS= read -r member; do
        case $member in
        /* | .. | ../* | */.. | */../*) fail "the archive has the path $member, which leaves its folder" ;;
        *[!A-Za-z0-9._/@-]*) fail "the archive has the unusual path $member" ;;
        "$2"/*) ;;
        *) fail "the archive has the unexpected path $member" ;;
        esac
    done || exit 1
    # The first character is the type: links and devices are refused.
    others=$(tar -tvzf "$1" | cut -c 1 | grep -v '[-d]' || true)
    # Some programs list hard links as plain files, with their target.
    links=$(tar -tvzf "$1" | grep -e ' -> ' -e ' link to ' || true)
    [ -z "$others$links" ] || fail 'the archive contains links or devices'
}

# Removes the files of an earlier installation: prefix.
remove_installed() {
    list="$1/share/doc/heirloom/installed-files"
    [ -f "$list" ] || return 1
    while IFS= read -r file; do
        case $file in
        '' | /* | .. | ../* | */.. | */../*) fail "$list has the unexpected path $file" ;;
        esac
        rm -f -- "$1/$file"
    done <"$list"
    folders=$({ cat "$list" && printf 'share/doc/heirloom/installed-files\n'; } | while IFS= read -r file; do
        while folder=$(dirname -- "$file") && [ "$folder" != . ]; do
            printf '%s\n' "$folder"
            file=$folder
        done
    done | sort -ru)
    rm -f -- "$list"
    # Folders of other programs are not empty and stay.
    printf '%s\n' "$folders" | while IFS= read -r folder; do
        rmdir -- "$1/$folder" 2>/dev/null || true
    done
}

uninstall() {
    if grep -qs 'heirloom hook' "$HOME/.claude/settings.json" "$HOME/.codex/hooks.json" "$HOME/.gemini/settings.json"; then
        printf 'hooks of an agent program still call heirloom: "heirloom uninstall AGENT" removes them\n' >&2
    fi
    remove_installed "$1" || fail "nothing was installed by this script below $1"
    printf 'removed heirloom from %s; memory in .heirloom folders and in ~/.local/share/heirloom stays\n' "$1"
}

# Copies the unpacked files and writes their list: unpacked folder, prefix.
copy_files() {
    remove_installed "$2" || true
    list="$2/share/doc/heirloom/installed-files"
    mkdir -p -- "$2/share/doc/heirloom"
    (cd "$1" && find . -type f | sed 's|^\./||' | sort) >"$list.new"
    while IFS= read -r file; do
        mkdir -p -- "$2/$(dirname -- "$file")"
        # A new file, renamed: a running process keeps the old one.
        cp -- "$1/$file" "$2/$file.new"
        mv -f -- "$2/$file.new" "$2/$file"
    done <"$list.new"
    chmod 755 "$2/bin/heirloom"
    mv -f -- "$list.new" "$list"
}

prefix=
archive=
action=install
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --archive)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
        --prefix) prefix=$2 ;;
        --archive) archive=$2 ;;
        esac
        shift 2
        ;;
    --uninstall)
        action=uninstall
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail 'HOME is not set: use --prefix'
    prefix=$HOME/.local
fi
HOME=${HOME:-/nonexistent}

if [ "$action" = uninstall ]; then
    uninstall "$prefix"
    exit 0
fi

name=heirloom-$VERSION-$(target)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ -n "${HEIRLOOM_BASE_URL:-}" ]; then
    archive=$work/$name.tar.gz
    sums=$work/SHA256SUMS
    download "${HEIRLOOM_BASE_URL%/}/$name.tar.gz" "$archive"
    download "${HEIRLOOM_BASE_URL%/}/SHA256SUMS" "$sums"
else
    [ -n "$archive" ] || archive=$(dirname -- "$0")/$name.tar.gz
    sums=$(dirname -- "$archive")/SHA256SUMS
fi
[ -f "$archive" ] || fail "there is no $archive: download it, or set HEIRLOOM_BASE_URL"
[ -f "$sums" ] || fail "there is no $sums, with which the archive is verified"
# A private copy, so that nobody changes the archive after it was verified.
cp -- "$archive" "$work/archive" 2>/dev/null || fail "cannot read $archive"
verify "$work/archive" "$sums" "$(basename -- "$archive")"
folder=$(basename -- "$archive" .tar.gz)
check_members "$work/archive" "$folder"
mkdir "$work/unpacked"
tar -xzf "$work/archive" -C "$work/unpacked" || fail 'the archive cannot be unpacked'
[ -f "$work/unpacked/$folder/bin/heirloom" ] || fail 'the archive contains no bin/heirloom'
mkdir -p -- "$prefix"
prefix=$(cd "$prefix" && pwd)
copy_files "$work/unpacked/$folder" "$prefix"
"$prefix/bin/heirloom" --version >/dev/null || fail "$prefix/bin/heirloom does not run on this machine"
printf 'installed %s in %s/bin\n' "$("$prefix/bin/heirloom" --version)" "$prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) printf 'add %s/bin to PATH\n' "$prefix" ;;
esac
