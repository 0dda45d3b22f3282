# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What ./quickstart and ./check share: system packages, .venv, the release build. Sourced, from the top folder.
#
# Every function looks first and acts only where something is missing, so a second run does nothing but say so.
#
# What the build needs is known to CMake alone (cmake/Dependencies.cmake). setup_machine installs what CMake itself stands
# on, a C++ compiler and Python with .venv; configure_release then asks CMake, installs the packages that it names as
# missing, and asks again. The release tree build/release is configured by the preset of the same name and then handed to
# pip as its build folder: one tree, compiled once by whichever script asks first.

jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # which counts what OpenMP may use, else
export jobs
venv=$PWD/.venv
tool=${tool:-setup}
setup_files=$(dirname "${BASH_SOURCE[0]}")

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
  } >>"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    return 1
  }
}

# The packages of needs, from the list that CMake reads too; of all required ones when none is named.
packages_of() { # needs...
  awk -v needs="$*" 'BEGIN { all = needs == ""; split(needs, list, " "); for (i in list) wanted[list[i]] = 1 }
    /^#/ || NF < 2 || (all && $1 ~ /^[?]/) { next }
    all || ($1 in wanted) || (substr($1, 2) in wanted) { for (i = 2; i <= NF; ++i) if (!seen[$i]++) printf "%s ", $i }' \
    cmake/packages.txt
}

# The packages go in, or the user is told the one line that installs them. It says all that may be needed, and apt leaves
# alone what is there: where CMake cannot run yet, nobody knows which of the packages are missing.
install_or_tell() { # packages...
  apt_prefix >/dev/null || {
    say "missing: $*. Install as root what Halocline needs, then run ./$tool again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${telling:-$*}"
    exit 2
  }
  apt_install "$@" || stop 2 "apt could not install: $* (build/log/apt.log)"
}

# The C++ compiler that CMake will take.
find_compiler() {
  local name
  for name in ${CXX:-} c++ g++ clang++; do
    command -v "$name" && return 0
  done
  return 1
}

# A Python of 3.11 or later, by path; $PYTHON when set.
find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return 0
    fi
  done
  return 1
}

can_make_venv() { # python
  "$1" -c 'import ensurepip, venv' 2>/dev/null
}

# What CMake stands on.
setup_machine() {
  local needs=() python
  mkdir -p build/log
  find_compiler >/dev/null || needs+=(compiler)
  { python=$(find_python) && { [ -x "$venv/bin/python" ] || can_make_venv "$python"; }; } || needs+=(python)
  [ ${#needs[@]} -gt 0 ] || return 0
  # shellcheck disable=SC2046 # names of packages, split on purpose
  telling=$(packages_of) install_or_tell $(packages_of "${needs[@]}")
  find_compiler >/dev/null || stop 2 "no C++ compiler was found, although one was installed; set CXX"
  python=$(find_python) || stop 2 "Python 3.11 or later is needed and the system's packages have none; set PYTHON"
  can_make_venv "$python" || stop 2 "$python has no ensurepip or venv module, so .venv cannot be made; set PYTHON to another"
}

# Python packages of one list into .venv, which is made where it is not there.
setup_venv() { # list, requirements when none is given
  local list=${1:-requirements} log=build/log/pip.log
  local file=$setup_files/$list.txt stamp=$venv/halocline-$list
  mkdir -p build/log
  if [ ! -x "$venv/bin/python" ]; then
    say "making the virtual environment .venv"
    "$(find_python)" -m venv "$venv" || stop 2 "no virtual environment could be made in $venv"
  fi
  export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv"
  if cmp -s "$file" "$stamp"; then
    say "Python packages of $list.txt: all there"
    return
  fi
  say "installing into .venv: $(grep -v '^#' "$file" | tr '\n' ' ')"
  # Bytecode is left to the first import: half of the time, and most of these modules are never imported.
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-compile -r "$file" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    stop 2 "pip could not install $file; is the package index within reach?"
  }
  cp "$file" "$stamp"
}

# Warnings are errors with the compiler that they were cleaned for; elsewhere a new warning must not stop a user.
warnings_as_errors() {
  local compiler
  compiler=$(find_compiler)
  if "$compiler" --version | grep -qi 'free software foundation' && [ "$("$compiler" -dumpversion | cut -d. -f1)" = 12 ]; then
    echo ON
  else
    echo OFF
  fi
}

# CMake is asked what is missing, that is installed, and CMake is asked again, until it is content or repeats itself.
configure_release() { # options of CMake...
  local log=build/log/configure.log missing=build/release/missing_packages.txt before='' now
  while :; do
    rm -f "$missing"
    cmake --preset release -DPython_EXECUTABLE="$venv/bin/python" -DHALOCLINE_WERROR="$(warnings_as_errors)" "$@" >"$log" 2>&1 &&
      return
    now=$(tr '\n' ' ' <"$missing" 2>/dev/null)
    if [ -z "${now// /}" ] || [ "$now" = "$before" ]; then
      tail -n 40 "$log" >&2
      [ -z "${now// /}" ] || stop 2 "CMake does not find what was installed for it: $now(whole log: $log)"
      stop 1 "CMake could not configure the build (whole log: $log)"
    fi
    # shellcheck disable=SC2086 # names of packages, split on purpose
    install_or_tell $now
    before=$now
    # What CMake looked for in vain it would not look for again.
    rm -rf build/release/CMakeCache.txt build/release/CMakeFiles/CMakeScratch
  done
}

# What CMake found missing for tests alone: installed where that is possible, else left to the test that skips itself.
install_optional() { # needs; all when none is named
  local list=build/release/optional_packages.txt packages
  packages=$(awk -v needs=" $* " 'needs ~ /^ *$/ || index(needs, " " $1 " ") { $1 = ""; printf "%s", $0 }' "$list" 2>/dev/null)
  [ -z "${packages// /}" ] && return
  # shellcheck disable=SC2086 # names of packages, split on purpose
  apt_install $packages || say "not installed, and what stands on it is left out:$packages"
}

# ninja's "[12/345] ..." lines, made one line of progress: on a terminal rewritten in place, in a log a line every tenth.
show_progress() {
  local line begun=$SECONDS done_ total left last=-1 tenth
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done_=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    [ "$done_" -gt 0 ] || continue # "[0/2] Re-checking globbed directories..."
    left=$(((SECONDS - begun) * (total - done_) / done_))
    if [ "$left" -ge 60 ]; then left="about $(((left + 59) / 60)) min left"; else left="less than a minute left"; fi
    if [ $((SECONDS - begun)) -lt 5 ]; then left=''; fi
    if [ -t 1 ]; then
      printf '\r%s: compiling [%d/%d] %-30s' "$tool" "$done_" "$total" "$left"
    else
      tenth=$((10 * done_ / total))
      [ "$tenth" = "$last" ] || printf '%s: compiling [%d/%d] %s\n' "$tool" "$done_" "$total" "$left"
      last=$tenth
    fi
  done
  [ ! -t 1 ] || printf '\n'
}

# Builds a target of the release; what the compilers say goes into the log.
build_release() { # target
  local log=build/log/build.log
  set -o pipefail
  cmake --build --preset release --parallel "$jobs" --target "$1" 2>&1 | tee "$log" | show_progress
  local status=$?
  set +o pipefail
  [ $status -eq 0 ] && return
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 40 >&2
  stop 1 "the build failed (whole log: $log)"
}

# mpi4py comes compiled, for Open MPI and for MPICH, whose library it asks for as libmpi.so.12. Debian's MPICH is the same
# library by the name libmpich.so.12: there a library of the other name, which holds nothing, leads to it.
match_mpi4py() {
  local wanted=libmpi.so.12 there=libmpich.so.12 log=build/log/mpi4py.log
  "$venv/bin/python" -c 'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI' >"$log" 2>&1 && return
  grep -q "$wanted" "$log" || return 0 # halocline doctor tells the rest
  "$(find_compiler)" -shared -fPIC -x c++ /dev/null -Wl,--no-as-needed -Wl,-soname,"$wanted" -l:"$there" \
    -o "$venv/lib/$wanted" >>"$log" 2>&1 || say "mpi4py does not load with this MPI (build/log/mpi4py.log)"
}

install_package() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps --editable . \
    --config-settings=build-dir=build/release --config-settings=cmake.define.HALOCLINE_TESTS=ON
}

# Open MPI as root, more ranks than cores, and without ptrace.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # for Open MPI 5
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
