// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes at all are read as a gauge or propagator file, or refused with a FileError.
//
//   clang++ with -fsanitize=fuzzer,address,undefined; run on a folder of small sound files of each format.
//
// Files live in memory (memfd_create), so a run does not touch the disk.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "halocline/qcd/io/propagator_file.hpp"

namespace {

using namespace halocline;

/// Reads what the bytes claim to be; extents that Geometry refuses are the caller's mistake, not the file's.
void read_everything(const std::string& path) {
  const auto geometry_of = [](const lattice::Coordinates<4>& extents) {
    return std::make_shared<const lattice::Geometry4>(extents,
                                                      comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
  };
  try {
    const auto info = qcd::io::inspect_gauge(path);
    static_cast<void>(qcd::io::read_gauge(path, geometry_of(info.extents)));
  } catch (const core::FileError&) {
  } catch (const core::InvalidArgument&) {
  }
  try {
    const auto info = qcd::io::inspect_propagator(path);
    static_cast<void>(qcd::io::read_propagator(path, *geometry_of(info.extents)));
  } catch (const core::FileError&) {
  } catch (const core::InvalidArgument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("fuzzed", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (::write(file, data, size) == static_cast<ssize_t>(size)) read_everything("/proc/self/fd/" + std::to_string(file));
  ::close(file);
  return 0;
}
