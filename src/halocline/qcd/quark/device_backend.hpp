// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The quark solver on a device as the rest of the library sees it: an interface without a type of a GPU.
///
/// QuarkSolver opens one where SolverParameters::device names a device. Links, clover blocks and the vectors of the
/// solves stay in device memory as long as it lives.

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

/// What is asked of a device. The names are those of SolverParameters.
struct BackendOptions {
  std::string device = "cuda";  ///< as gpu::Device::open takes it
  std::string inner =
      "fixed16";       ///< storage inside the iteration: "double" (none inside), "float", "fixed16", "fixed8"
  int link_reals = 0;  ///< of the inner links: 18, 12, 8; 0: 12 where they are unitary, 18 in double
  bool even_odd = true;
  bool symmetric = true;  ///< form of the Schur complement
  int restart_length = 20;
  std::string halo{};     ///< policy of gpu::FaceExchange; empty for its default, "auto" to try them
  unsigned emulated = 0;  ///< bit `axis`: treat it as split though one process holds it
  bool graphs = true;     ///< replay the operator from a graph where that pays
};

/// Numbers that stay in the memory of a device: complex128 in canonical order.
struct DeviceSolutions {
  std::shared_ptr<void> owner{};  ///< the memory lives as long as a copy of this
  void* data = nullptr;
  bool on_gpu = false;  ///< false: memory of the host executor, which is host memory
  int ordinal = 0;      ///< of the GPU, as CUDA counts in this process
  std::int64_t bytes = 0;
  std::vector<std::int64_t> shape{};  ///< [column][t][z][y][x][spin 4][colour 3] of this process's box
};

/// A batch whose solutions can be handed out where they are.
class DeviceBatch : public BatchEngine {
public:
  /// 2^exponent[column] x of the first columns, in a new array; done when it returns.
  /// @throws core::Error  where memory does not suffice
  virtual DeviceSolutions solutions(std::span<const int> exponents) = 0;
};

/// The kernels are in this build: by nvcc, or on the CPU for the host executor (HALOCLINE_HOST_EXECUTOR).
bool has_kernels() noexcept;

/// @param device  as gpu::Device::open takes it
/// @throws InvalidArgument  the kernels are not in this build: what to do
void require_kernels(const std::string& device);

class Backend {
public:
  virtual ~Backend() = default;

  /// "cuda:0 (NVIDIA H200)" or "host executor"
  virtual std::string device() const = 0;
  /// The storage inside the iteration and the reals of its links: "fixed16, 12 reals a link".
  virtual std::string storage() const = 0;
  /// Bytes on the device when the methods have run on so many columns at once: links, clover blocks, and vectors.
  virtual std::int64_t predicted_bytes(int columns, std::span<const std::string> methods) const = 0;
  /// Free bytes of the device now, and all that it has; of the host executor 0 and 0.
  struct Memory {
    std::int64_t free = 0, total = 0, ours = 0, most_ours = 0;
  };
  virtual Memory memory() const = 0;
  /// Sentences for the log, each once: files of the tuner that could not be used.
  virtual std::vector<std::string> take_notes() = 0;
  /// The most right-hand sides, at most `wanted` and 32, whose vectors fit beside what is there; the same on every
  /// rank. Collective: yes.
  virtual int fitting_columns(int wanted, std::span<const std::string> methods) const = 0;

  /// The batch of so many columns: made at first, kept.
  /// @param methods  that it will be asked for
  /// @throws InvalidArgument  less than 1 or more than 32 columns
  /// @throws core::Error      the predicted memory is more than what is free: one sentence, before anything is
  /// allocated Collective: yes.
  virtual DeviceBatch& batch(int columns, std::span<const std::string> methods) = 0;
  /// out = D in, or D^dagger in, in double. @param out, in  local boxes. Collective: yes.
  virtual void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) = 0;
  /// Solves (S^dagger S + shifts[i]) x[i] = b on the even sites for every shift by multi-shift CG in double, S the
  /// Schur complement (D^dagger D on all sites without it).
  /// @param x  shape (shifts,) of local boxes, of which the sites of the system are written; @param b  the same sites
  ///           are read
  /// Collective: yes.
  virtual std::vector<solve::SolveResult> multishift(std::span<const std::span<std::complex<double>>> x,
                                                     std::span<const double> shifts,
                                                     std::span<const std::complex<double>> b,
                                                     const solve::SolveOptions& options) = 0;
};

/// @param gauge  ghosts filled; read here and not kept
/// @throws InvalidArgument  an unknown device, no GPU to be had (one sentence), impossible options, links that are not
///                          unitary with 12 or 8 reals; on every rank
/// @throws core::Error      a clover term that cannot be inverted; not enough free memory for links and clover blocks
/// Collective: yes.
std::unique_ptr<Backend> open_backend(const GaugeField& gauge, const Action& action, const BackendOptions& options);

}  // namespace halocline::qcd::device
