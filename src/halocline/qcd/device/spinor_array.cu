// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device spinor fields: their memory, and copies from and to the canonical order of the host.
///
/// A transfer packs doubles as `[parity held][site][spin][colour][re, im]`. The host leaves out the sites that the
/// field does not hold. The device converts order and storage.

#include "halocline/qcd/device/spinor_array.cuh"

#include <cstring>

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/staging.cuh"

namespace halocline::qcd::device {
namespace {

/// Parity and site of number `held` among the sites of a field whose first parity is `first`.
struct HeldSite {
  int parity, site;
};
HALOCLINE_INLINE HeldSite held_site(std::int64_t held, int first, int sites) {
  const bool second = held >= sites;
  return {first + (second ? 1 : 0), static_cast<int>(second ? held - sites : held)};
}

/// From double, as transferred, to the storage. x counts the sites of a piece, or groups of four with three components.
template <class S>
struct Import {
  SpinorWriter<S> out[2];
  const double* from;
  std::int64_t begin;
  int first, sites, column;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const HeldSite at = held_site(begin + p.x, first, sites);
    const double* reals = from + spinor_reals * p.x;
    Spinor<RealOf<S>> psi;
    // Spins, or sites of a group, have three colours each.
    HALOCLINE_UNROLL
    for (int k = 0; k < spinor_components; ++k)
      psi.at[k % 3][k / 3] = {static_cast<RealOf<S>>(reals[2 * k]), static_cast<RealOf<S>>(reals[2 * k + 1])};
    if (at.parity == 0)
      out[0].store(at.site, column, psi);
    else
      out[1].store(at.site, column, psi);
  }
};

/// From the storage to double, as transferred.
template <class S>
struct Export {
  SpinorReader<S> in[2];
  double* to;
  std::int64_t begin;
  int first, sites, column;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const HeldSite at = held_site(begin + p.x, first, sites);
    const Spinor<RealOf<S>> psi = at.parity == 0 ? in[0].load(at.site, column) : in[1].load(at.site, column);
    double* reals = to + spinor_reals * p.x;
    HALOCLINE_UNROLL
    for (int k = 0; k < spinor_components; ++k) {
      reals[2 * k] = static_cast<double>(psi.at[k % 3][k / 3].re);
      reals[2 * k + 1] = static_cast<double>(psi.at[k % 3][k / 3].im);
    }
  }
};

struct Held {
  int first, parities;
  bool holds(int parity) const { return parity >= first && parity < first + parities; }
};
Held held_by(lattice::Subset subset) {
  return subset == lattice::Subset::full ? Held{0, 2} : Held{static_cast<int>(subset), 1};
}

/// Calls visit(number of the site in the piece, number of the site in canonical order) for every site of a piece.
template <class Visit>
void for_held_sites(const Box& box, int first, std::int64_t begin, std::int64_t count, const Visit& visit) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const HeldSite at = held_site(begin + i, first, box.sites);
    visit(i, std::int64_t{2} * at.site + (box.coordinates(at.parity, at.site).x[0] & 1));
  }
}

template <class S>
void require_canonical(const DeviceSpinor<S>& field, int column, std::size_t given) {
  detail::require_column(column, field.columns());
  const bool staggered = field.components() != spinor_components;
  detail::require_length(given, std::size_t{24} * static_cast<std::size_t>(field.sites()),
                         staggered ? "a staggered array" : "a spinor array",
                         staggered ? "the shape [t][z][y][x][colour 3]" : "the shape [t][z][y][x][spin 4][colour 3]");
}

/// The parts of a transfer: `records` of each parity, of `group` sites.
struct Transfer {
  Held held;
  int group, components;
  std::int64_t records, bytes;

  template <class S>
  explicit Transfer(const DeviceSpinor<S>& field)
      : held(held_by(field.subset())),
        group(spinor_components / field.components()),
        components(field.components()),
        records(std::int64_t{held.parities} * field.sites()),
        bytes(static_cast<std::int64_t>(spinor_reals * sizeof(double))) {}
};

}  // namespace

template <class S>
DeviceSpinor<S>::DeviceSpinor(ContextPtr context, lattice::Subset subset, int columns, int components)
    : context_(std::move(context)), subset_(subset), columns_(columns), components_(components) {
  detail::require_columns(columns);
  detail::require_components(components, context_->box);
  memory_ = gpu::DeviceArray<std::byte>(context_->vectors, bytes(context_->box, subset, columns, components));
}

template <class S>
std::int64_t DeviceSpinor<S>::bytes(const Box& box, lattice::Subset subset, int columns, int components) {
  constexpr std::int64_t site = spinor_reals * sizeof(Word) + (Storage<S>::scaled ? sizeof(float) : 0);
  return site * padded(box.sites / (spinor_components / components)) * columns *
         (subset == lattice::Subset::full ? 2 : 1);
}

template <class S>
void from_canonical(DeviceSpinor<S>& field, int column, std::span<const std::complex<double>> canonical) {
  require_canonical(field, column, canonical.size());
  const Box& box = field.context()->box;
  const Transfer all(field);
  Import<S> work{};
  for (int parity = 0; parity < 2; ++parity)
    if (all.held.holds(parity)) work.out[parity] = field.writer(parity);
  work.first = all.held.first;
  work.sites = field.sites();
  work.column = column;
  const auto bytes = static_cast<std::size_t>(all.bytes / all.group);
  detail::upload_pieces(
      *field.context(), all.records, all.bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        for_held_sites(box, all.held.first, all.group * begin, all.group * count,
                       [&](std::int64_t i, std::int64_t site) {
                         std::memcpy(to + 2 * all.components * i, canonical.data() + all.components * site, bytes);
                       });
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        work.from = from;
        work.begin = begin;
        gpu::launch(field.context()->stream, "import_spinor", {count, 1, 1}, {128, 1, 1}, work);
      });
}

template <class S>
void to_canonical(std::span<std::complex<double>> canonical, const DeviceSpinor<S>& field, int column) {
  require_canonical(field, column, canonical.size());
  const Box& box = field.context()->box;
  const Transfer all(field);
  Export<S> out{};
  for (int parity = 0; parity < 2; ++parity)
    if (all.held.holds(parity)) out.in[parity] = field.reader(parity);
  out.first = all.held.first;
  out.sites = field.sites();
  out.column = column;
  const auto bytes = static_cast<std::size_t>(all.bytes / all.group);
  detail::download_pieces(
      *field.context(), all.records, all.bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        out.to = to;
        out.begin = begin;
        gpu::launch(field.context()->stream, "export_spinor", {count, 1, 1}, {128, 1, 1}, out);
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        for_held_sites(box, all.held.first, all.group * begin, all.group * count,
                       [&](std::int64_t i, std::int64_t site) {
                         std::memcpy(static_cast<void*>(canonical.data() + all.components * site),
                                     from + 2 * all.components * i, bytes);
                       });
      });
}

template <class S>
void copy_columns(DeviceSpinor<S>& out, int to, const DeviceSpinor<S>& in, int from, int count, int parity) {
  detail::require_one_context(out.context() == in.context());
  detail::require_alike(out.context()->box, 1, out.subset(), in.context()->box, 1, in.subset(), parity);
  detail::require_one_kind(out.components(), in.components());
  detail::require_column(to + count - 1, out.columns());
  detail::require_column(from + count - 1, in.columns());
  const auto target = out.writer(parity);
  const auto source = in.reader(parity);
  const auto rows = [&](int columns) { return std::int64_t{source.stride} * columns; };
  auto& stream = out.context()->stream;
  stream.copy_on_device(target.data + rows(spinor_reals * to), source.data + rows(spinor_reals * from),
                        static_cast<std::size_t>(rows(spinor_reals * count)) * sizeof(*target.data));
  if (source.scale != nullptr)
    stream.copy_on_device(target.scale + rows(to), source.scale + rows(from),
                          static_cast<std::size_t>(rows(count)) * sizeof(float));
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class DeviceSpinor<S>;                                                                                      \
  template void copy_columns(DeviceSpinor<S>&, int, const DeviceSpinor<S>&, int, int, int);                            \
  template void from_canonical(DeviceSpinor<S>&, int, std::span<const std::complex<double>>);                          \
  template void to_canonical(std::span<std::complex<double>>, const DeviceSpinor<S>&, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

detail::Staging& detail::staging_of(Context& context) {
  if (!context.staging) context.staging = std::make_shared<Staging>(context.device);
  return *context.staging;
}

}  // namespace halocline::qcd::device
