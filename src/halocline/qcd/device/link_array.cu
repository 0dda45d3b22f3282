// SPDX-License-Identifier: Apache-2.0
/// @file
/// Upload of links: doubles are copied to the device, and a kernel converts them to their storage.

#include "halocline/qcd/device/link_array.cuh"

#include <cstring>

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/staging.cuh"

namespace halocline::qcd::device {
namespace {

constexpr std::int64_t matrix_bytes = 18 * sizeof(double);

/// Converts one piece of the matrices [parity][direction][site], which begins at matrix number `begin`. x counts the
/// matrices of the piece.
template <class S, int reals>
struct ImportLinks {
  typename Storage<S>::Word* out;
  const double* from;
  std::int64_t begin;
  int sites, stride;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const std::int64_t number = begin + p.x;
    const int face = static_cast<int>(number / sites);
    const int site = static_cast<int>(number - std::int64_t{face} * sites);
    const double* entry = from + 18 * p.x;
    Su3<double> u;
    HALOCLINE_UNROLL
    for (int i = 0; i < 9; ++i) u.e[i / 3][i % 3] = {entry[2 * i], entry[2 * i + 1]};
    detail::store_record(out + std::int64_t{stride} * (reals * face), stride, site, detail::encode_link<S, reals>(u));
  }
};

template <class S, int reals>
void import_links(Context& context, std::byte* memory, std::span<const double> matrices) {
  ImportLinks<S, reals> work{reinterpret_cast<typename Storage<S>::Word*>(memory), nullptr, 0, context.box.sites,
                             padded(context.box.sites)};
  detail::upload_pieces(
      context, static_cast<std::int64_t>(matrices.size()) / 18, matrix_bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        std::memcpy(to, matrices.data() + 18 * begin, static_cast<std::size_t>(count * matrix_bytes));
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        work.from = from;
        work.begin = begin;
        gpu::launch(context.stream, "import_links", {count, 1, 1}, {128, 1, 1}, work);
      });
}

template <class Real>
LinkFactors<Real> factors_of(const HostLinks& links) {
  LinkFactors<Real> factors{};
  for (int axis = 0; axis < 4; ++axis) {
    factors.coefficient[axis] = static_cast<Real>(links.coefficient[axis]);
    factors.unit[axis] = links.coefficient[axis] == 1;
  }
  for (int d = 0; d < 8; ++d) {
    const std::complex<double> edge = links.coefficient[d % 4] * links.edge[d];
    factors.edge[d] = {static_cast<Real>(edge.real()), static_cast<Real>(edge.imag())};
    factors.trivial_edge[d] = links.edge[d] == 1.0;
  }
  return factors;
}

}  // namespace

template <class S>
void upload_links(Context& context, std::byte* memory, std::span<const double> matrices, int reals) {
  if (reals == 18)
    import_links<S, 18>(context, memory, matrices);
  else if (reals == 12)
    import_links<S, 12>(context, memory, matrices);
  else
    import_links<S, 8>(context, memory, matrices);
}

template <class S>
DeviceLinks<S>::DeviceLinks(ContextPtr context, const HostLinks& links, int reals)
    : context_(std::move(context)), reals_(reals), factors_(factors_of<Real>(links)) {
  detail::require_links(reals, links.unitarity_violation, sizeof(Real) == 8 ? 1e-12 : 1e-5, Storage<S>::scaled);
  detail::require_box(links.box, context_->box, "links");
  detail::require_length(links.matrices.size(), std::size_t{16} * 18 * static_cast<std::size_t>(context_->box.sites),
                         "an array of links", "the shape [parity 2][direction 8][site][3][3][2]");
  memory_ = gpu::DeviceArray<std::byte>(context_->device, bytes(context_->box, reals));
  upload_links<S>(*context_, memory_.data(), links.matrices, reals);
}

template <class S>
std::int64_t DeviceLinks<S>::bytes(const Box& box, int reals) {
  return std::int64_t{16} * reals * static_cast<int>(sizeof(typename Storage<S>::Word)) * padded(box.sites);
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class DeviceLinks<S>;                                                                                       \
  template void upload_links<S>(Context&, std::byte*, std::span<const double>, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device
