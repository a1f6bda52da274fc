#!/usr/bin/env bash
# Builds for WebAssembly what the viewer links: protobuf-c, zstd's decoder and libsodium, from Debian's own source
# packages, with Debian's patches. libraries.sh DIR: DIR/include and DIR/objects. Needs the network once.
set -euo pipefail

packages=(protobuf-c libzstd libsodium)
out=$1
mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$out/source" "$out/objects" "$out/include"
out=$(cd "$out" && pwd)

# Sources come from where the machine's packages do; apt checks their signatures.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    case "$list" in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$out/apt/$(basename "$list")" ;;
    *) sed -n 's/^deb /deb-src /p' "$list" >"$out/apt/$(basename "$list")" ;;
    esac
done
apt=(-qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$out/apt" -o "Dir::State::lists=$out/apt/lists"
    -o "Dir::Cache=$out/apt/cache" -o "APT::Sandbox::User=root")
log=$out/log
if ! { apt-get "${apt[@]}" update && (cd "$out/source" && apt-get "${apt[@]}" source "${packages[@]}"); } >"$log" 2>&1; then
    tail -5 "$log" >&2
    echo "libraries.sh: no Debian sources of ${packages[*]}" >&2
    exit 1
fi

build() { # NAME FLAGS… -- FILES…
    local name=$1 flags=() file
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    for file in "$@"; do
        printf '%s\0%s\0' "$file" "$out/objects/${name}_$(tr / _ <<<"${file#"$out"/source/}").o"
    done | xargs -0 -n 2 -P "$(nproc)" sh -c 'clang --target=wasm32-wasi -O2 -msimd128 -w -DNDEBUG -ffunction-sections -fdata-sections '"${flags[*]}"' -c "$0" -o "$1"'
}

proto=$(echo "$out"/source/protobuf-c-*/)
build proto "-I$proto" -- "$proto"protobuf-c/protobuf-c.c
mkdir -p "$out/include/protobuf-c"
cp "$proto"protobuf-c/protobuf-c.h "$out/include/protobuf-c/"

zstd=$(echo "$out"/source/libzstd-*/lib/)
build zstd -DZSTD_DISABLE_ASM=1 -DZSTD_LEGACY_SUPPORT=0 -- "$zstd"common/*.c "$zstd"decompress/*.c
cp "$zstd"zstd.h "$zstd"zstd_errors.h "$out/include/"

# configure writes this one file of libsodium's that the portable sources need.
sodium=$(echo "$out"/source/libsodium-*/src/libsodium/)
version=$(basename "$(dirname "$(dirname "$sodium")")")
sed -e "s/@VERSION@/${version#libsodium-}/; s/@SODIUM_LIBRARY_VERSION_MAJOR@/10/; s/@SODIUM_LIBRARY_VERSION_MINOR@/3/" \
    -e '/@SODIUM_LIBRARY_MINIMAL_DEF@/d' "$sodium"include/sodium/version.h.in >"$sodium"include/sodium/version.h
mapfile -d '' files < <(find "$sodium" -name '*.c' -print0 | LC_ALL=C sort -z)
build sodium "-I${sodium}include" "-I${sodium}include/sodium" -D_GNU_SOURCE -DSODIUM_STATIC -D_WASI_EMULATED_SIGNAL -- "${files[@]}"
cp -r "$sodium"include/. "$out/include/"
echo "${packages[*]}" >"$out/done"
