// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Schwarz iteration on the domains of a process, for one way of storing its fields.
///
/// Each half-step belongs to a colour c. It updates r on the domains of this colour (`residual`), computes z = J r, and
/// packs the edges of z for the neighbours. A neighbour in this process finds the edges in its inbox. A neighbour in
/// another process gets a message; the next half-step waits for it after the tiles without a face to another process
/// are done. All threads of the team go through these passes together. A barrier separates passes that read each
/// other's results. Only the first thread waits for messages. It also posts them, unless the settings of the group say
/// that all threads post and the transport allows it; then each thread posts its share of the faces.
///
/// When a domain of colour c is updated, a face to the other colour holds the neighbour's z of the half-step before. A
/// face to the same colour holds the z that the neighbour computed together with this domain's last z. In the first
/// sweep no such z exists: the domains of colour 0 take r = b, and those of colour 1 read the faces to colour 0 only.
/// In the last update, the domains of colour 1 have already taken in the last z of colour 0. They read only their own z
/// and the faces to the same colour.
///
/// An even-odd inverse passes over the odd tiles of a domain and then over the even ones, in place. Its z obeys D_in z
/// = r on even tiles, so the update of r reads only the faces there.
///
/// A message that the same colour will read is copied into the inbox as soon as it arrives, because its buffer is
/// reused before the turn of that colour.
///
/// If a process has several domains of a colour, each thread takes whole domains from the residual to the packed edges.
/// A domain that fits the second-level cache then comes from memory once for all its passes. If a domain is larger than
/// that cache, residual and Jacobi steps run through it as a wavefront, each a slice of t behind the one before, and
/// piece by piece where slices are large (walk_order.hpp), for the same purpose. All ways give the same bits.

#include <array>
#include <complex>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/cpu.hpp"
#include "halocline/core/machine.hpp"
#include "halocline/core/team_barrier.hpp"
#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/schwarz/detail/coefficients.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes.hpp"
#include "halocline/qcd/schwarz/detail/walk_order.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::schwarz {

/// The part of `count` that a thread gets.
struct Share {
  std::int32_t begin, end;
};
inline Share share(int thread, int threads, std::int32_t count) {
  const auto at = [&](int i) { return static_cast<std::int32_t>(std::int64_t{count} * i / threads); };
  return {at(thread), at(thread + 1)};
}

template <class S>
class Sweeps {
public:
  using Field = lattice::DomainField<S>;

  /// @param layout  of fields, and of the coefficients
  /// Collective: yes.
  Sweeps(ArithmeticChoice layout, std::shared_ptr<const Coefficients<S>> coefficients, const WilsonCloverAction& action,
         const Parameters& parameters, int columns, const std::string& transport);

  Field create() const { return Field(layout_, 24, columns_); }
  /// nullptr where no axis is split.
  const comm::HaloExchange* exchange() const noexcept { return halo_.get(); }

  /// Runs the sweeps on `in`. The caller gives either `x`, which becomes K in, or `remainder`, which becomes in - r =
  /// D' K in.
  /// Collective: yes.
  void sweep(const Field& in, Field* x, Field* remainder);
  /// out = D' in. Collective: yes.
  void full(Field& out, const Field& in);
  /// out = D_in in, or J in, on the domains of one colour.
  void inside(Field& out, const Field& in, int colour);
  void invert(Field& out, const Field& in, int colour);
  /// v = A^-1 v
  void multiply_inverse(Field& v);

  /// How many tiles ahead a pass requests what it reads; 0: not at all.
  int prefetch() const noexcept { return prefetch_; }
  /// Into how many pieces along y and z a domain is cut for its passes.
  Pieces pieces() const noexcept { return sliced_->pieces(); }

private:
  /// The work of one thread of a team.
  struct Member {
    int thread, threads;
  };
  /// How r of one colour is updated: the terms and fields that are read, and the field that receives r.
  struct Update {
    bool none = false;  ///< r = b: nothing to do
    Pass pass = Pass::residual;
    bool other_colour = true, same_colour = true;
    const Field* add = nullptr;
    const Field* original = nullptr;
    Field* out = nullptr;
  };

  template <class Body>
  void team(Body body);
  PassFields<S> fields_of(std::int32_t domain) const;
  PassFields<S> step_fields(std::int32_t domain, int k, const Field& right, Field& out, Field* sum);
  /// Tiles by parity; all of them in the first list where the inverse is not even-odd.
  using Tiles = std::array<std::vector<std::int32_t>, 2>;
  std::vector<std::int32_t>& list_of(Tiles& tiles, std::int32_t tile) const;
  void run(Member me, Pass pass, const PassFields<S>& fields, const std::vector<std::int32_t>& tiles) const;
  void residual(Member me, const Update& what, std::int32_t domain, const Tiles& tiles) const;
  void part_of(Member me, Pass pass, PassFields<S> fields, const WalkOrder& order, const WalkOrder::Stage& stage,
               int parity) const;
  int passes() const noexcept { return even_odd_ ? 2 * parameters_.steps : parameters_.steps; }
  void update(Member me, int colour, const Update& what);
  void solve(Member me, int colour, const Field& right, Field& out, Field* sum);
  void minimise(Member me, int colour, const Field& right, Field& out, Field* sum);
  void walk(Member me, std::int32_t domain, const Update& what, const Field& right, Field* sum);
  void wavefront(Member me, int colour, const Update& what, const Field& right, Field* sum);
  void by_domain(Member me, int colour, const Update& what, const Field& right, Field* sum, bool send);
  bool domains_to_threads(int threads) const;
  bool outgrows_cache(int threads) const;
  std::shared_ptr<const WalkOrder> walk_order(bool slices, Pieces pieces) const;
  Pieces fitting_pieces() const;
  void choose_walk();
  double seconds_of_walk(std::int32_t domains);
  void pack_domain(Member me, std::int32_t domain, const Field& z);
  void pack(Member me, int colour, const Field& z);
  PassFields<S> with_faces(std::int32_t domain, const Update& what) const;

  // Messages. open_buffers and receive: the first thread alone.
  void collect(Member me, int colour);
  void open_buffers(int colour);
  void post(Member me, int colour);
  void await_posts(Member me);
  void receive(bool keep = false);
  template <class Step>
  void guarded(Step step) noexcept;
  bool posts(int axis, int step, int colour) const;
  std::int64_t face_numbers(int axis) const;

  std::shared_ptr<const lattice::DomainLayout> layout_;
  Parameters parameters_;
  int columns_;
  std::shared_ptr<const Coefficients<S>> coefficients_;
  std::unique_ptr<TilePasses<S>> passes_;
  const core::Machine* machine_ = &core::this_machine();
  int prefetch_ = 0;                                 ///< tiles ahead
  std::shared_ptr<const WalkOrder> whole_, sliced_;  ///< of domains that fit the second-level cache, and of others
  std::int64_t cache_bytes_ = core::second_level_cache_bytes();
  Field r_, z_, work_, more_;
  core::AlignedArray<S> inbox_;
  std::vector<std::int64_t> inbox_place_;       ///< [domain][direction]
  std::vector<std::array<const S*, 8>> faces_;  ///< the face data that each domain reads
  std::vector<FaceTargets<S>> targets_;         ///< where each domain's edges go
  bool even_odd_;
  Tiles tiles_;                                                ///< of a domain
  std::vector<Tiles> interior_, boundary_;                     ///< tiles by domain; with messages only
  std::array<std::vector<std::int32_t>, 2> inland_, coastal_;  ///< domains by colour; coastal: facing other processes
  bool same_colour_neighbours_ = false;                        ///< among the domains of this process
  std::vector<double> sums_;                                   ///< [domain][tile][column][3], of minimal residual
  std::unique_ptr<comm::HaloExchange> halo_;                   ///< none where no axis is split
  bool all_post_ = false;                                      ///< every thread posts a share of the faces
  int in_flight_ = -1;                                         ///< colour whose messages are under way
  std::mutex failing_;
  std::exception_ptr failure_;  ///< written while holding failing_; read by others after a barrier
  core::TeamBarrier barrier_;
};

extern template class Sweeps<float>;
extern template class Sweeps<core::Half>;

}  // namespace halocline::qcd::schwarz
