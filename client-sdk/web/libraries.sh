#!/usr/bin/env bash
# Builds for WebAssembly what viewer and client link, from Debian's own source packages, with Debian's patches:
# libraries.sh DIR: protobuf-c, zstd's decoder and libsodium, into DIR/include and DIR/objects;
# libraries.sh DIR enet: ENet without its sockets, which are the client's own (client/native/socket.c).
# Needs the network once.
set -euo pipefail

packages=(protobuf-c libzstd libsodium)
[ "${2:-}" != enet ] || packages=(enet)
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
log=$out/log${2:-}
get() {
    apt-get "${apt[@]}" update && (cd "$out/source" && apt-get "${apt[@]}" source "$@")
}
# A mirror may lack ENet's package of this release: then the original files of the next one, without Debian's changes
# (tests/README.md: check-enet plays by both versions).
get_next() {
    find "$out/apt" -maxdepth 1 -type f -exec sed -i 's/\bbookworm/trixie/g' {} +
    get --tar-only --download-only "$@" && tar -xf "$out"/source/"$1"_*.orig.tar.* -C "$out/source"
}
if ! { get "${packages[@]}" || { [ "${packages[*]}" = enet ] && get_next enet; }; } >"$log" 2>&1; then
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

if [ "${packages[*]}" = enet ]; then
    enet=$(echo "$out"/source/enet-*/)
    build enet "-I${enet}include" -- "$enet"{callbacks,compress,host,list,packet,peer,protocol}.c
    rm -rf "$out/enet" && mkdir -p "$out/enet"
    mv "$out"/objects/enet_* "$out/enet/"
    cp -r "${enet}include/enet" "$out/include/"
    echo "${packages[*]}" >"$out/done-enet"
    exit 0
fi

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
