// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An OpenSHMEM library, loaded while the program runs.
///
/// So the build needs no such library, and a program also starts without one. The functions are those of the OpenSHMEM
/// 1.4 standard, and put-with-signal of 1.5 where the library has it and it works. The library is loaded once and
/// stays: it hooks into memory management and cannot be unloaded.
///
/// Open MPI's library has four undocumented traps:
///   - It takes all writable segments below the symbol `_end` for symmetric, and this must be the symbol of the
///     program. Where the program does not show it, the linker finds that of some library. Then ranks count different
///     numbers of segments, and start-up writes past its tables (open-mpi/ompi issue 13621). Programs that link
///     Halocline by CMake show the symbol, and so does Python.
///   - It ends at the program's exit, and fails there when MPI has ended before and unloaded its parts. Its end also
///     ends MPI, whether MPI is running or being ended. At the beginning of MPI_Finalize this makes MPI complain of a
///     second MPI_Finalize; at exit it waits for ranks that may have died. The flag of shmem_global_exit avoids both:
///     with it the library leaves MPI alone (`open_mpi_leaves_mpi`).
///   - Its start ends the job when something is missing (memory for the symmetric heap, room in /dev/shm, a driver of
///     the network), and does not return. So Halocline starts it only on request.
///   - It unloads a part of itself that MPI still calls when memory is freed. That part is pinned.

#include <cstddef>
#include <cstdint>
#include <string>

namespace halocline::comm::detail {

/// The functions in use. A process has one library, so all copies are the same.
struct OpenShmem {
  void (*init)() = nullptr;
  int (*init_thread)(int requested, int* provided) = nullptr;
  void (*finalize)() = nullptr;
  int (*my_pe)() = nullptr;
  int (*n_pes)() = nullptr;
  void* (*align)(std::size_t alignment, std::size_t bytes) = nullptr;  ///< collective, as init and finalize are
  void (*putmem)(void* there, const void* here, std::size_t bytes, int pe) = nullptr;
  void (*uint64_p)(std::uint64_t* there, std::uint64_t value, int pe) = nullptr;
  void (*fence)() = nullptr;
  void (*quiet)() = nullptr;
  int (*uint64_test)(volatile std::uint64_t* here, int comparison, std::uint64_t value) = nullptr;
  /// nullptr where the library has none that can be relied upon
  void (*putmem_signal)(void* there, const void* here, std::size_t bytes, std::uint64_t* signal_there,
                        std::uint64_t signal, int operation, int pe) = nullptr;
  bool* open_mpi_initialized = nullptr;  ///< Open MPI only: started, and will be ended at exit
  int* open_mpi_leaves_mpi = nullptr;    ///< Open MPI only: not 0 when its end must not end MPI; may be missing

  static constexpr int open_mpi_thread_serialized = 2;  ///< SHMEM_THREAD_SERIALIZED

  bool of_open_mpi() const noexcept { return open_mpi_initialized != nullptr; }
};

/// The library of this process, loaded by the first call. All members are nullptr where it cannot be used.
const OpenShmem& openshmem();

/// Why there is no library to use; empty where there is. Collective: no.
std::string openshmem_problem();

/// Keeps the loaded libraries in memory whose file names contain this text.
void pin_libraries(const char* text);

}  // namespace halocline::comm::detail
