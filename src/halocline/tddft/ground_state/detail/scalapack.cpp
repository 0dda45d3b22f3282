// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ground_state/detail/scalapack.hpp"

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/tddft/base/index.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace halocline::tddft::detail {

#if HALOCLINE_HAVE_MPI

namespace {

template <class Function>
void find(void* library, const char* name, Function& function, std::vector<std::string>& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) missing.emplace_back(name);
}

using LibraryVersion = int (*)(char*, int*);

std::string text_of(LibraryVersion version) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  version(text.data(), &length);
  return {text.data(), size(std::max(0, length))};
}

/// Names of the library beside this MPI, the newest first.
std::vector<std::string> names_of(const std::string& mpi) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& stem) {
    for (const char* version : {".2.3", ".2.2", ".2.1", ""}) names.push_back("lib" + stem + ".so" + version);
  };
  if (mpi.find("Open MPI") != std::string::npos) add("scalapack-openmpi");
  if (mpi.find("MPICH") != std::string::npos) add("scalapack-mpich");
  add("scalapack");
  return names;
}

LoadedScalapack load() {
  LoadedScalapack loaded;
  const std::string mpi = text_of(MPI_Get_library_version);
  const std::vector<std::string> names = names_of(mpi);
  static Scalapack found;
  void* library = nullptr;
  for (const std::string& name : names) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) continue;
    found.file = name;
    break;
  }
  if (library == nullptr) {
    loaded.problem = fmt::format("finds no ScaLAPACK (looked for {})", fmt::join(names, ", "));
    return loaded;
  }
  std::vector<std::string> missing;
  LibraryVersion version = nullptr;
  find(library, "Csys2blacs_handle", found.handle_of, missing);
  find(library, "Cfree_blacs_system_handle", found.free_handle, missing);
  find(library, "Cblacs_gridinit", found.gridinit, missing);
  find(library, "Cblacs_gridinfo", found.gridinfo, missing);
  find(library, "Cblacs_gridexit", found.gridexit, missing);
  find(library, "pzpotrf_", found.pzpotrf, missing);
  find(library, "pztrsm_", found.pztrsm, missing);
  find(library, "pzheevd_", found.pzheevd, missing);
  find(library, "MPI_Get_library_version", version, missing);
  if (!missing.empty())
    loaded.problem = fmt::format("finds a ScaLAPACK, {}, without {}", found.file, fmt::join(missing, ", "));
  else if (text_of(version) != mpi)
    loaded.problem = fmt::format("finds a ScaLAPACK, {}, that stands on another MPI", found.file);
  else
    loaded.library = &found;
  return loaded;
}

/// Rows or columns of a matrix that a process has, in blocks that go round `parts` of them.
std::vector<int> numbers_in_part(int n, int block, int part, int parts) {
  std::vector<int> numbers;
  for (int i = 0; i < n; ++i)
    if (i / block % parts == part) numbers.push_back(i);
  return numbers;
}

std::vector<int> places_in(const std::vector<int>& numbers, int n) {
  std::vector<int> places(size(n), -1);
  for (std::size_t i = 0; i < numbers.size(); ++i) places[size(numbers[i])] = static_cast<int>(i);
  return places;
}

}  // namespace

const LoadedScalapack& scalapack() {
  static const LoadedScalapack loaded = load();
  return loaded;
}

BlockCyclic::BlockCyclic(const Scalapack& library, const comm::Communicator& group, int n, int block)
    : library_(library) {
  // No more processes than have two blocks along each axis: smaller parts cost more messages than arithmetic.
  const int along = std::max(1, n / (2 * block));
  const auto processes = static_cast<int>(std::min<std::int64_t>(group.size(), std::int64_t{along} * along));
  shape_[0] = std::max(1, static_cast<int>(std::sqrt(static_cast<double>(processes))));
  shape_[1] = processes / shape_[0];
  handle_ = reinterpret_cast<int (*)(MPI_Comm)>(library.handle_of)(comm::mpi_comm(group));
  int context = handle_;
  library.gridinit(&context, "R", shape_[0], shape_[1]);
  int row = -1, column = -1;
  if (context >= 0) {
    int rows = 0, columns = 0;
    library.gridinfo(context, &rows, &columns, &row, &column);
  }
  if (row >= 0) {
    context_ = context;
    row_ = numbers_in_part(n, block, row, shape_[0]);
    column_ = numbers_in_part(n, block, column, shape_[1]);
  }
  local_row_ = places_in(row_, n);
  local_column_ = places_in(column_, n);
  descriptor_ = {1, context_, n, n, block, block, 0, 0, std::max(1, rows())};
}

BlockCyclic::~BlockCyclic() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  if (inside()) library_.gridexit(context_);
  library_.free_handle(handle_);
}

#else

const LoadedScalapack& scalapack() {
  static const LoadedScalapack loaded{nullptr, "is without MPI"};
  return loaded;
}

BlockCyclic::BlockCyclic(const Scalapack& library, const comm::Communicator&, int, int) : library_(library) {}
BlockCyclic::~BlockCyclic() = default;

#endif

}  // namespace halocline::tddft::detail
