// SPDX-License-Identifier: Apache-2.0
/// @file
/// Identifies the BLAS, and keeps it to one thread.
///
/// The alternatives mechanism of the system may put another library under a program than it was linked with. So the
/// loader is asked at run time for the file that contains zgemm, and for the functions by which the vendors' libraries
/// identify themselves and take a number of threads. A library with none of these functions is identified by its file
/// name; only the OpenMP settings can control its threads.

#include "halocline/tddft/ground_state/blas.hpp"

#include <dlfcn.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace halocline::tddft::blas {
namespace {

/// The library's description, and the functions to query and set its threads.
struct Found {
  Library library;
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;      ///< for the process
  int (*set_threads_here)(int) = nullptr;  ///< for the calling thread; returns the number before
};

/// The file whose zgemm_ this program calls.
std::string file_of_zgemm() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&zgemm_), &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

template <class Function>
void look_up(Function*& function, void* handle, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
}

/// The vendor according to the file name, with links followed: "/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.4".
std::string name_from(const std::string& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(file, error);
  std::string text = error ? file : real.string();
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::array<std::array<std::string_view, 2>, 10> known{{{"openblas", "OpenBLAS"},
                                                                          {"mkl", "Intel MKL"},
                                                                          {"blis", "BLIS"},
                                                                          {"atlas", "ATLAS"},
                                                                          {"armpl", "Arm Performance Libraries"},
                                                                          {"nvpl", "NVPL"},
                                                                          {"flexiblas", "FlexiBLAS"},
                                                                          {"essl", "ESSL"},
                                                                          {"libsci", "LibSci"},
                                                                          {"ssl2", "SSL II"}}};
  for (const auto& [word, name] : known)
    if (text.find(word) != std::string::npos) return std::string(name);
  const std::string base = std::filesystem::path(text).filename().string();
  if (base.starts_with("libblas.") || base.starts_with("librefblas.")) return "reference BLAS";
  return "a BLAS of unknown make";
}

Found examine() {
  Found found;
  Library& library = found.library;
  library.file = file_of_zgemm();
  library.name = name_from(library.file);
  // dlsym() with a handle searches the file and its dependencies: zgemm_ may be in a wrapper around the library.
  void* const opened = library.file.empty() ? nullptr : dlopen(library.file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void* const handle = opened != nullptr ? opened : RTLD_DEFAULT;

  int (*openblas_parallel)() = nullptr;
  char* (*openblas_config)() = nullptr;
  look_up(openblas_parallel, handle, "openblas_get_parallel");
  look_up(openblas_config, handle, "openblas_get_config");
  int (*blis_openmp)() = nullptr;
  look_up(blis_openmp, handle, "bli_info_get_enable_openmp");
  look_up(found.set_threads_here, handle, "MKL_Set_Num_Threads_Local");

  if (openblas_parallel != nullptr) {
    if (openblas_config != nullptr) library.name = openblas_config();
    const int parallel = openblas_parallel();
    library.threads = parallel == 2 ? ThreadModel::openmp : parallel == 1 ? ThreadModel::own : ThreadModel::none;
    library.reentrant = parallel != 0;  // the serial library has no locks around its buffers
    if (parallel == 1) {
      look_up(found.threads, handle, "openblas_get_num_threads");
      look_up(found.set_threads, handle, "openblas_set_num_threads");
    }
  } else if (found.set_threads_here != nullptr) {
    library.name = "Intel MKL";
    library.threads = ThreadModel::openmp;
  } else if (blis_openmp != nullptr) {
    library.name = "BLIS";
    library.threads = blis_openmp() != 0 ? ThreadModel::openmp : ThreadModel::none;
  } else {
    look_up(found.set_threads_here, handle, "nvpl_blas_set_num_threads_local");
    if (found.set_threads_here != nullptr) library.threads = ThreadModel::openmp;
    const bool needs_openmp = library.file.find("openmp") != std::string::npos;
    std::error_code error;
    const std::string real = std::filesystem::canonical(library.file, error).string();
    if (needs_openmp || real.find("openmp") != std::string::npos) library.threads = ThreadModel::openmp;
    if (real.find("pthread") != std::string::npos) library.threads = ThreadModel::own;
  }
  library.reference = library.name == "reference BLAS";
  return found;
}

/// Found once for the process, because the loader binds zgemm_ only once, too.
const Found& found() {
  static const Found one = examine();
  return one;
}

}  // namespace

const Library& library() { return found().library; }

OneThread::OneThread() : omp_threads_(omp_get_max_threads()), omp_levels_(omp_get_max_active_levels()) {
  // OpenBLAS uses the number of threads; libraries that set a number themselves obey the number of levels. Both are
  // settings of the calling thread.
  omp_set_num_threads(1);
  if (!omp_in_parallel()) omp_set_max_active_levels(0);
  const Found& blas = found();
  if (blas.set_threads_here != nullptr) {
    own_threads_ = blas.set_threads_here(1);
  } else if (blas.set_threads != nullptr && !omp_in_parallel()) {
    own_threads_ = blas.threads();
    if (own_threads_ != 1) blas.set_threads(1);
  }
}

OneThread::~OneThread() {
  const Found& blas = found();
  if (blas.set_threads_here != nullptr)
    blas.set_threads_here(own_threads_);
  else if (own_threads_ > 1)
    blas.set_threads(own_threads_);
  if (!omp_in_parallel()) omp_set_max_active_levels(omp_levels_);
  omp_set_num_threads(omp_threads_);
}

OwnThreadsAsleep::OwnThreadsAsleep() {
  const Found& blas = found();
  if (blas.set_threads == nullptr || omp_in_parallel()) return;
  before_ = blas.threads();
  if (before_ != 1) blas.set_threads(1);
}

OwnThreadsAsleep::~OwnThreadsAsleep() {
  if (before_ > 1) found().set_threads(before_);
}

void product(int m, int n, int k, View a, Op op_a, View b, Op op_b, double beta, std::complex<double>* c, int leading) {
  const OneThread one_thread;
  const std::complex<double> one = 1.0, keep = beta;
  const char first = static_cast<char>(op_a), second = static_cast<char>(op_b);
  zgemm_(&first, &second, &m, &n, &k, &one, a.data, &a.leading, b.data, &b.leading, &keep, c, &leading, 1, 1);
}

void product_in_parts(int m, int n, int k, View a, Op op_a, View b, Op op_b, double beta, std::complex<double>* c,
                      int leading) {
  constexpr int columns = 32;
  constexpr double least_flops = 4e6;  // a millisecond with the slowest BLAS, much longer than waking a thread
  if (n <= columns || 8.0 * m * n * k < least_flops) return product(m, n, k, a, op_a, b, op_b, beta, c, leading);
  const std::int64_t step_b = op_b == Op::none ? b.leading : 1;
  for_parts((n + columns - 1) / columns, [&](std::int64_t part, int) {
    const std::int64_t first = part * columns;
    product(m, std::min<int>(columns, n - static_cast<int>(first)), k, a, op_a, {b.data + first * step_b, b.leading},
            op_b, beta, c + first * leading, leading);
  });
}

void solve_lower(char side, const std::complex<double>* l, Op op, int m, int n, std::complex<double>* b) {
  const OneThread one_thread;
  const std::complex<double> one = 1.0;
  const char operation = static_cast<char>(op);
  const int order = side == 'L' ? m : n;
  ztrsm_(&side, "L", &operation, "N", &m, &n, &one, l, &order, b, &m, 1, 1, 1, 1);
}

}  // namespace halocline::tddft::blas
