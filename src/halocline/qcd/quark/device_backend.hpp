// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The interface of the quark solver on a device. It contains no GPU types, so any file of the library can include it.
///
/// QuarkSolver opens a Backend if SolverParameters::device names a device. Links, clover blocks and the vectors of the
/// solves stay in device memory as long as the Backend lives.

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/quark/detail/batch_engine.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::device {

/// Options of a backend. Storages, devices and policies have the names that SolverParameters use.
struct BackendOptions {
  std::string device = "cuda";  ///< name for gpu::Device::open
  std::string inner =
      "fixed16";       ///< storage of the iteration: "double" (no mixed precision), "float", "fixed16", "fixed8"
  int link_reals = 0;  ///< of an inner link: 18, 12, 8; 0: 12 if unitary, else 18; 18 in double
  bool even_odd = true;
  bool symmetric = true;  ///< form of the Schur complement
  int restart_length = 20;
  std::string halo{};     ///< policy of gpu::FaceExchange; empty: its default; "auto": chosen by timing
  unsigned emulated = 0;  ///< bit `axis`: treat this axis as split although one process holds it
  bool graphs = true;     ///< replay the operator and iterations from graphs on small boxes
};

/// Solutions in the memory of a device: complex128 in canonical order.
struct DeviceSolutions {
  std::shared_ptr<void> owner{};  ///< the memory lives as long as a copy of this pointer
  void* data = nullptr;
  bool on_gpu = false;  ///< false: memory of the host executor, which is host memory
  int ordinal = 0;      ///< number of the GPU, as CUDA counts in this process
  std::int64_t bytes = 0;
  /// [column][t][z][y][x][spin 4][colour 3] of this process's box, or [column][t][z][y][x][colour 3] of staggered
  /// quarks
  std::vector<std::int64_t> shape{};
};

/// A batch that can hand out its solutions in device memory.
class DeviceBatch : public BatchEngine {
public:
  /// Copies 2^exponents[c] x of columns c = 0, 1, ... to a new array, which is complete on return.
  /// @throws core::Error  if memory does not suffice
  virtual DeviceSolutions solutions(std::span<const int> exponents) = 0;
  /// The quark in the middle of the fifth dimension, of column `column` of x.
  /// @throws InvalidArgument  without a fifth dimension
  virtual void unload_midpoint(std::span<std::complex<double>> quark, int column) = 0;
};

/// Whether this build contains the kernels, compiled by nvcc or, for the host executor, for the CPU
/// (HALOCLINE_HOST_EXECUTOR).
bool has_kernels() noexcept;

/// @param device  name for gpu::Device::open, for the message
/// @throws InvalidArgument  if this build does not contain the kernels; the message says what to do
void require_kernels(const std::string& device);

class Backend {
public:
  virtual ~Backend() = default;

  /// "cuda:0 (NVIDIA H200)" or "host executor"
  virtual std::string device() const = 0;
  /// The storage of the iteration and the reals of its links: "fixed16, 12 reals a link".
  virtual std::string storage() const = 0;
  /// Bytes on the device for solves of `columns` right-hand sides at once by these methods: links, clover blocks,
  /// matrices of a fifth dimension, vectors and transfer buffers.
  virtual std::int64_t predicted_bytes(int columns, std::span<const std::string> methods) const = 0;
  /// Bytes of memory as gpu::MemoryUse counts them: free and total of the device (of the machine, for the host
  /// executor), allocated for this backend now, and at most so far. `allocations` counts the allocations so far.
  struct Memory {
    std::int64_t free = 0, total = 0, ours = 0, most_ours = 0, allocations = 0;
  };
  virtual Memory memory() const = 0;
  /// Returns and clears the sentences for the log: files of the tuner that could not be used, and once how much memory
  /// of the GPU other processes hold.
  virtual std::vector<std::string> take_notes() = 0;
  /// The largest divisor of `wanted`, at most 32, for which the vectors fit into nine tenths of the free memory; 1 if
  /// none fits. The same on every rank. Collective: yes.
  virtual int fitting_columns(int wanted, std::span<const std::string> methods) const = 0;

  /// The batch of `columns` right-hand sides. It is kept for later calls, until a call for another number replaces it.
  /// @param methods  the methods that it will run
  /// @throws InvalidArgument  for less than 1 or more than 32 columns
  /// @throws core::Error      if the predicted memory exceeds the free memory, before the new batch is allocated
  /// Collective: yes.
  virtual DeviceBatch& batch(int columns, std::span<const std::string> methods) = 0;
  /// out = D in, or D^dagger in, in double. @param out, in  local boxes in canonical order. Collective: yes.
  virtual void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) = 0;
  /// Solves (S^dagger S + shifts[i]) x[i] = b for every shift by multi-shift CG in double. S is the Schur complement on
  /// the even sites; without even-odd preconditioning S is D on all sites. Domain walls: as
  /// QuarkSolver::solve_shifted().
  /// @param x  shape (shifts,) of local boxes; only the sites on which S acts are written
  /// @param b  local box, with a fifth dimension one for each point; only the same sites are read
  /// Collective: yes.
  virtual std::vector<solve::SolveResult> multishift(std::span<const std::span<std::complex<double>>> x,
                                                     std::span<const double> shifts,
                                                     std::span<const std::complex<double>> b,
                                                     const solve::SolveOptions& options) = 0;
};

/// Opens a device and uploads links and clover blocks.
/// @param gauge  ghosts filled; read here and not kept
/// @throws InvalidArgument  for an unknown device, a GPU that cannot be used (the message says why), impossible
///                          options, links that are not unitary with 12 or 8 reals or fixed point, or staggered quarks
///                          on several processes or in fixed point; on every rank
/// @throws core::Error      for a clover term that cannot be inverted, or too little free memory for links and blocks
/// Collective: yes.
std::unique_ptr<Backend> open_backend(const GaugeField& gauge, const Action& action, const BackendOptions& options);

}  // namespace halocline::qcd::device
