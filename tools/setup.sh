# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What ./quickstart and ./check share: system packages, .venv, the release build. Sourced, from the top folder.
#
# Every function looks first and acts only where something is missing, so a second run does nothing but say so. The
# release tree build/release is configured by the preset of the same name and then handed to pip as its build folder:
# one tree, compiled once, whoever asks first.

jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # which counts what OpenMP may use, else
export jobs
venv=$PWD/.venv
tool=${tool:-setup}

say() { printf '%s: %s\n' "$tool" "$*"; }

stop() { # status sentence...
  local status=$1
  shift
  printf '%s: %s\n' "$tool" "$*" >&2
  exit "$status"
}

# Root, or sudo that asks nothing: prints the prefix for apt-get; fails where neither is there.
apt_prefix() {
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" -eq 0 ]; then
    echo env
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    echo "sudo -n env"
  else
    return 1
  fi
}

apt_install() { # packages...
  local prefix log=build/log/apt.log
  prefix=$(apt_prefix) || return 1
  mkdir -p build/log
  say "installing from the system's packages: $*"
  {
    $prefix DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -q update &&
      $prefix DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -q install -y \
        --no-install-recommends "$@"
  } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    return 1
  }
}

has_header() { # header [flags...]
  local header=$1
  shift
  command -v g++ >/dev/null && echo "#include <$header>" | g++ -std=c++20 -E -x c++ "$@" - >/dev/null 2>&1
}

# A Python of 3.11 or later, by path; $PYTHON when set.
find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return 0
    fi
  done
  return 1
}

setup_system() {
  local missing=() python
  command -v g++ >/dev/null || missing+=(g++)
  { command -v mpicxx && command -v mpiexec; } >/dev/null || missing+=(libopenmpi-dev openmpi-bin)
  has_header fmt/core.h || missing+=(libfmt-dev)
  has_header Eigen/Core -I/usr/include/eigen3 || missing+=(libeigen3-dev)
  has_header nlohmann/json.hpp || missing+=(nlohmann-json3-dev)
  has_header doctest/doctest.h || missing+=(doctest-dev)
  has_header fftw3.h || missing+=(libfftw3-dev)
  has_header cblas.h || missing+=(libopenblas-openmp-dev)
  has_header xc.h || missing+=(libxc-dev)
  has_header pugixml.hpp || missing+=(libpugixml-dev)
  if python=$(find_python); then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || missing+=(python3-dev)
  else
    missing+=(python3 python3-venv python3-dev)
  fi
  if [ ${#missing[@]} -eq 0 ]; then
    say "system packages: all there"
    return
  fi
  if ! apt_prefix >/dev/null; then
    say "missing: ${missing[*]}. Install them as root, then run ./$tool again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    exit 2
  fi
  apt_install "${missing[@]}" || stop 2 "apt could not install: ${missing[*]} (build/log/apt.log)"
  find_python >/dev/null || stop 2 "Python 3.11 or later is needed and the system's packages have none; set PYTHON"
}

setup_venv() {
  local stamp=$venv/halocline-requirements log=build/log/pip.log
  mkdir -p build/log
  if [ ! -x "$venv/bin/python" ]; then
    say "making the virtual environment .venv"
    "$(find_python)" -m venv "$venv" || stop 2 "no virtual environment could be made in $venv"
  fi
  export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv"
  if cmp -s tools/requirements.txt "$stamp"; then
    say "Python packages: all there"
    return
  fi
  say "installing into .venv: $(grep -v '^#' tools/requirements.txt | tr '\n' ' ')"
  "$venv/bin/python" -m pip install --disable-pip-version-check -r tools/requirements.txt >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    stop 2 "pip could not install tools/requirements.txt; is the package index within reach?"
  }
  cp tools/requirements.txt "$stamp"
}

# Warnings are errors with the compiler that they were cleaned for; elsewhere a new warning must not stop a user.
configure_release() {
  local werror=OFF
  [ "$(g++ -dumpversion | cut -d. -f1)" = 12 ] && werror=ON
  cmake --preset release -DPython_EXECUTABLE="$venv/bin/python" -DHALOCLINE_WERROR=$werror
}

install_package() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps --editable . \
    --config-settings=build-dir=build/release --config-settings=cmake.define.HALOCLINE_TESTS=ON
}

# Open MPI as root, more ranks than cores, and without ptrace.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
