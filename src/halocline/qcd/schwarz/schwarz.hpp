// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The multiplicative Schwarz preconditioner of the Wilson-clover operator, in single precision.
///
/// Everything here acts on the system of unit diagonal, D' x = A^-1 b with D' = A^-1 D = 1 - B hop, B = A^-1 / 2, where
/// A is the clover term and hop the hopping term of wilson/hopping.hpp. The lattice is cut into domains of two colours
/// (lattice/domain_layout.hpp). D' = D_in + D_out: D_in couples sites of one domain, without the links across its faces
/// (Dirichlet cut on every axis, also where an axis has one process), D_out is all the rest.
///
/// The preconditioner K consists of nsap + 1 sweeps over the two colours, in residual form:
///
///   r = b, x = 0
///   nsap + 1 times:  for colour c = 0, 1:   z = J r on the domains of colour c;  x += z;  r -= D' z
///
/// and K b = x. The update r -= D' z changes r on the domains of colour c by D_in z, and on the domains of the other
/// colour by D_out z. Across an axis with an odd number of domains a neighbour may have the same colour. Then r on the
/// domains of colour c also changes by what crosses their common faces. J approximates the inverse of D_in: `steps` of
/// Jacobi, x_0 = r, x_{k+1} = x_k + (r - D_in x_k) = r + (1 - D_in) x_k, or of minimal residual, or even-odd
/// ("even-odd"): a step of Jacobi on the odd sites of the domain, then one on the even sites, which takes the new odd
/// ones. Parity counts from the domain's first site. `steps` of these make the same x on even sites as 2 `steps` of
/// Jacobi, with half the work, and r - D_in x = 0 there, so that the next residual takes half the work too.
///
/// With S = 1 - D' K_1 for one sweep K_1, this is K = K_1 (1 + S + ... + S^nsap): nsap counts the powers, as in the
/// solver of Fugaku (papers: arXiv 2109.10687; qws), so that nsap = 4 makes five sweeps and ten exchanges.
/// Where K is linear, apply_preconditioned() takes D' K b = b - r from the sweeps, without an application of D' and
/// without x.
///
/// How it runs: r of a domain is updated only when the turn of its colour comes. By then its own z and the z of its
/// neighbours are known, so the update is one pass with one clover multiplication. The half spinors of the faces travel
/// while the domains of the other colour are computed (docs/design/0007-schwarz.md).

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::comm {
class HaloExchange;
}
namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::schwarz {

/// Names that Parameters take, the default first: the inverse inside a domain, storage, and arithmetic.
std::span<const char* const> inverses() noexcept;
std::span<const char* const> storages() noexcept;
std::span<const char* const> arithmetics() noexcept;

struct Parameters {
  int nsap = 4;                                ///< highest power of the iteration: nsap + 1 sweeps
  std::string inner = "jacobi";                ///< "jacobi", "even-odd" or "minres"
  int steps = 2;                               ///< nm: D_in is applied so many times in one approximate inverse
  lattice::Coordinates<4> blocks{2, 1, 1, 1};  ///< domains along each axis of a process; all 0: automatic
  std::string storage = "float";               ///< of K: "float", or "half" (fp16 in memory)
  std::string arithmetic = "auto";             ///< of K in half: "float", "half" (fp16), or "auto"
  int link_reals = 18;                         ///< 18, or 12: the third row is computed
  int lanes = 0;                               ///< upper limit on the lanes of the layout; 0: lanes of a register
  int prefetch = -1;  ///< tiles ahead that a pass requests what it reads; 0: none; -1: tried when K is made
  /// Pieces along y and z in which the passes go through a domain that outgrows the second-level cache; 0: tried too.
  std::array<int, 2> pieces{0, 0};

  /// nsap = 4, two Jacobi steps, two halves along x, float: the solver of the Fugaku benchmark.
  static Parameters fugaku() { return {}; }
  /// @throws InvalidArgument  for an unknown name (the known ones are listed) or an impossible number
  void validate() const;
};

class Matrix;

class Schwarz {
public:
  using Field = lattice::DomainField<float>;

  /// @param gauge    links in double with ghosts filled; read here and not kept
  /// @param columns  of the fields: right-hand sides that share the reading of links and clover blocks
  /// @param transport  how the faces travel, by name (comm/exchange/transport.hpp), or "auto"; empty for the default
  /// @throws InvalidArgument  for impossible parameters or a box that cannot be cut into these domains, on every rank
  /// @throws Error            where the clover term cannot be inverted
  /// Collective: yes.  Cost: 72 + 72 floats a site (links, clover inverse), 3 work fields; 4 with minres. With storage
  /// in half, the same once more in 16 bits, and two 16-bit fields for input and output. Where links and clover inverse
  /// outgrow the second-level cache, up to 0.2 s to try out `prefetch` and `pieces`, twice with half.
  Schwarz(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters, int columns = 1,
          const std::string& transport = "");
  /// Uses the links and blocks of `matrix`, which other preconditioners may share (matrix.hpp). Owns its work fields
  /// only.
  /// @throws InvalidArgument  for less than one column, or an unknown transport. Collective: yes.
  Schwarz(const Matrix& matrix, int columns, const std::string& transport = "");
  ~Schwarz();
  Schwarz(Schwarz&&) noexcept;

  const Parameters& parameters() const noexcept;
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept;
  /// The arithmetic of K, "float" or "half": if the parameters leave it open, the one that was chosen.
  std::string_view arithmetic() const noexcept;
  int columns() const noexcept;
  /// The exchange of the faces of K; nullptr where no axis is split. To ask how its messages travel.
  const comm::HaloExchange* exchange() const noexcept;
  /// How many tiles ahead K requests what it reads, and in how many pieces along y and z it goes through a domain that
  /// outgrows the second-level cache, on this process. Neither ever changes a result.
  int prefetch() const noexcept;
  std::array<int, 2> pieces() const noexcept;
  /// A zero spinor field, [colour][spin][re, im] like SpinorField.
  Field create() const;

  /// True if K is a fixed linear operator to rounding in float: Jacobi, stored in float. A solver may then iterate on
  /// D' K y = A^-1 b and take x = K y in the end. Otherwise it must sum up x as it goes.
  bool linear() const noexcept;

  /// out = D' in; not the same field. Collective: yes.  Cost: 1344 + 504 flops a site.
  void apply(Field& out, const Field& in);
  /// out = K in; not the same field. Collective: yes.
  void precondition(Field& out, const Field& in);
  /// out = D' K in; not the same field. Collective: yes.
  void apply_preconditioned(Field& out, const Field& in);
  /// out = D_in in on the domains of one colour; the others are left alone. Collective: no.
  void apply_inside(Field& out, const Field& in, int colour);
  /// out = J in on the domains of one colour. Collective: no.
  void invert_inside(Field& out, const Field& in, int colour);
  /// v = A^-1 v. Collective: no.
  void multiply_inverse_clover(Field& v);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Fills one column from the local box in canonical order, shape [t][z][y][x][spin 4][colour 3], and back.
/// @throws InvalidArgument  for a wrong length or column. Collective: no.
void from_canonical(lattice::DomainField<float>& field, int column, std::span<const std::complex<double>> canonical);
void to_canonical(std::span<std::complex<double>> canonical, const lattice::DomainField<float>& field, int column);

}  // namespace halocline::qcd::schwarz
