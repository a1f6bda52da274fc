#!/usr/bin/env bash
# Installs the Debian packages that are missing, each only what it needs: deps.sh [--missing] PART …
# Says what it installs, asks nothing, does nothing where all is there, nor where DEPS=no. --missing names
# what is not there, and installs nothing.
set -euo pipefail

packages_run=(gcc libc6-dev pkg-config libenet-dev libsqlite3-dev libprotobuf-c-dev protobuf-c-compiler
  libsodium-dev libjansson-dev libzstd-dev liblzma-dev libmicrohttpd-dev)
packages_test=(libcriterion-dev clang clang-format libclang-rt-14-dev git python3-minimal python3-nacl)
# The cross compilers only recommend their C libraries.
packages_matrix=(gcc-i686-linux-gnu gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf
  gcc-riscv64-linux-gnu gcc-s390x-linux-gnu libc6-dev-i386-cross libc6-dev-arm64-cross
  libc6-dev-armhf-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross qemu-user wasi-libc libclang-rt-14-dev-wasm32 lld nodejs)
packages_web=(clang lld wasi-libc libclang-rt-14-dev-wasm32 nodejs npm)
packages_browser=(chromium)
packages_firefox=(firefox-esr)
packages_libraries=(dpkg-dev)
packages_check=(valgrind)
packages_node=(nodejs)
packages_lint=(shellcheck pyflakes3)
packages_peers=(g++ libbullet-dev libode-dev)

mode=install
if [ "${1:-}" = --missing ]; then
    mode=missing
    shift
fi
wanted=()
for part in "$@"; do
    case "$part" in
    run) wanted+=("${packages_run[@]}") ;;
    test) wanted+=("${packages_test[@]}") ;;
    matrix) wanted+=("${packages_matrix[@]}") ;;
    web) wanted+=("${packages_web[@]}") ;;
    browser) wanted+=("${packages_browser[@]}") ;;
    firefox) wanted+=("${packages_firefox[@]}") ;;
    libraries) wanted+=("${packages_libraries[@]}") ;;
    check) wanted+=("${packages_check[@]}") ;;
    node) wanted+=("${packages_node[@]}") ;;
    lint) wanted+=("${packages_lint[@]}") ;;
    peers) wanted+=("${packages_peers[@]}") ;;
    *) echo "deps.sh: unknown part '$part', expected run, test, matrix, web, browser, firefox, libraries, check, node, lint or peers" >&2; exit 2 ;;
    esac
done

# A compiler or tool that came from elsewhere counts too: only dpkg's word is not enough.
have() {
    case "$1" in
    gcc) command -v "${CC:-gcc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 ;;
    shellcheck | pkg-config | git | clang | clang-format | g++ | valgrind) command -v "$1" >/dev/null 2>&1 ;;
    npm) command -v npm >/dev/null 2>&1 ;;
    nodejs) command -v node >/dev/null 2>&1 ;;
    python3-minimal) command -v python3 >/dev/null 2>&1 ;;
    protobuf-c-compiler) command -v protoc-c >/dev/null 2>&1 ;;
    *) grep -qx "$1 install ok installed" <<<"$known" ;;
    esac
}

known=$(dpkg-query -W -f '${Package} ${Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
    have "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi
if [ "$mode" = missing ]; then
    echo "${missing[*]}"
    exit 0
fi
if [ "${DEPS:-}" = no ]; then
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "deps.sh: missing: ${missing[*]} (Debian package names); install them and try again" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Another apt may be at work, as after a machine's start. The option makes apt wait for dpkg's lock;
# for that of its lists it does not wait by itself.
wait_s=600
patient=(-o DPkg::Lock::Timeout=$wait_s)
update() {
    for ((i = 0; i < wait_s; i += 5)); do
        "${as_root[@]}" apt-get "${patient[@]}" update >"$log" 2>&1 && return 0
        grep -q 'Could not get lock' "$log" || return 1
        [ "$i" -gt 0 ] || echo "waiting for another apt"
        sleep 5
    done
    return 1
}
if ! update || ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${patient[@]}" \
    install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "deps.sh: apt-get failed" >&2
    exit 1
fi
