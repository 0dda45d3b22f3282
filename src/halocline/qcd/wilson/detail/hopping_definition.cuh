// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Definition of Hopping. One file for each storage instantiates it: cuda_double.cu, cuda_float.cu, cuda_fixed16.cu,
/// cuda_fixed8.cu.

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/wilson/cuda.cuh"
#include "halocline/qcd/wilson/detail/halo_apply.cuh"
#include "halocline/qcd/wilson/detail/hop_exterior.cuh"
#include "halocline/qcd/wilson/detail/hop_fifth.cuh"
#include "halocline/qcd/wilson/detail/hop_launch.cuh"
#include "halocline/qcd/wilson/detail/hop_several.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"
#include "halocline/qcd/wilson/detail/hop_sites.cuh"
#include "halocline/qcd/wilson/detail/hop_split.cuh"

namespace halocline::qcd::device {
namespace detail_of_hopping {

/// The largest number of columns that a thread may take. The sums of four columns do not fit the registers; in
/// double, nor do those of two. Links of 8 reals pay only for few columns, because with many columns most memory
/// traffic is spinors. fixed8 is for preconditioners.
template <class S, int reals>
inline constexpr int most_columns = std::is_same_v<S, double> || std::is_same_v<S, Fixed8> || reals == 8 ? 1 : 2;

inline bool holds(lattice::Subset subset, int parity) {
  return subset == lattice::Subset::full || static_cast<int>(subset) == parity;
}

template <class S>
void check_fields(int columns, const DeviceSpinor<S>& out, const DeviceSpinor<S>& in, int parity,
                  const HopTerms<S>& terms) {
  const auto fits = [&](const DeviceSpinor<S>& field, int held, const char* name) {
    if (!holds(field.subset(), held))
      throw_hop_fields(std::string("a field (") + name + ") that does not hold the parity it needs");
    if (field.columns() != columns)
      throw_hop_fields(std::string("a field (") + name + ") of " + std::to_string(field.columns()) + " columns for " +
                       std::to_string(columns));
  };
  if (&out == &in) throw_hop_fields("one field as input and output");
  fits(out, parity, "out");
  fits(in, 1 - parity, "in");
  if (terms.add != nullptr) fits(*terms.add, parity, "add");
  if (terms.with != nullptr) fits(*terms.with, parity, "with");
}

}  // namespace detail_of_hopping

/// The arguments of one application.
template <class S>
struct HopCall {
  DeviceSpinor<S>& out;
  const DeviceSpinor<S>& in;
  int parity;
  bool dagger;
  const HopTerms<S>& terms;
};

/// The state of an operator between applications.
template <class S>
struct Hopping<S>::Work {
  using Real = RealOf<S>;
  std::unique_ptr<HopSites> sites;  ///< null if no axis is split
  std::map<HopVariant, gpu::TuneParameters> chosen;
  gpu::DeviceArray<Real> partial;  ///< the sums of PartialSums, empty if exterior sites are computed whole

  static HopOutput<S> output(const HopCall<S>& call, DeviceSpinor<S>& out, const gpu::TuneParameters& p = {}) {
    HopOutput<S> output{};
    output.out = out.writer(call.parity);
    if (call.terms.add != nullptr) output.add = call.terms.add->reader(call.parity);
    output.upper_scale = static_cast<Real>(call.terms.hop_scale);
    output.lower_scale = call.dagger ? -output.upper_scale : output.upper_scale;
    output.add_scale = static_cast<Real>(call.terms.add_scale);
    output.streams = p.streaming_stores != 0;
    output.hop_blocks = AnyBlocks<S>::of(call.terms.hop_blocks, call.parity);
    output.add_blocks = AnyBlocks<S>::of(call.terms.add_blocks, call.parity);
    return output;
  }

  static constexpr Real largest_integer() {
    if constexpr (Storage<S>::scaled) return Storage<S>::largest;
    return 1;
  }
  template <int reals, bool with_halo>
  static HopInput<S, reals, with_halo> input(const DeviceLinks<S>& links, const HopCall<S>& call) {
    HopInput<S, reals, with_halo> input{};
    input.lattice = HopLattice::of(links.context()->box);
    input.target_parity = call.parity;
    input.links = links.template reader<reals>(call.parity);
    input.in = call.in.reader(1 - call.parity);
    input.lower = call.dagger ? Real(-1) : Real(1);
    const LinkFactors<Real>& factors = links.factors();
    const Real unit = integer_links<S, reals> ? 1 / largest_integer() : Real(1);
    for (int mu = 0; mu < 4; ++mu) input.inside[mu] = unit * factors.coefficient[mu];
    for (int d = 0; d < 8; ++d) {
      const bool real = factors.edge[d].im == 0;
      input.across[d] = unit * (real ? factors.edge[d].re : Real(1));
      input.phase[d] = factors.edge[d];
      if (!real) input.turned |= 1u << d;
    }
    return input;
  }

  /// The block of a launch. The links are what a hop reads once.
  template <int reals, bool with_halo>
  static gpu::Block block_of(const gpu::TuneParameters& p, const HopInput<S, reals, with_halo>& input) {
    gpu::Block block{p.block_x, p.block_y, 1, p.carveout};
    if (p.evict_first != 0)
      block.read_once = {input.links.data,
                         static_cast<std::size_t>(input.links.stride) * (8 * reals * sizeof(*input.links.data))};
    return block;
  }

  /// Launches HopSite over a part of the sites, with the parameters of the tuner. The first call of a variant tunes.
  /// @param awaited  if not null, each block of the exterior kernel first waits for these signals
  template <int reals, bool with_halo, bool with_blocks, int most>
  void run(Hopping& hopping, const HopCall<S>& call, HopPart part, const HopInput<S, reals, with_halo>& input,
           const gpu::FaceSignals* awaited = nullptr);
  template <int reals, bool with_halo, bool with_blocks, int columns>
  static void launch(Context& context, const HopInput<S, reals, with_halo>& input, const HopOutput<S>& output,
                     const SiteList* list, const gpu::TuneParameters& p, const gpu::FaceSignals* awaited);

  /// A part of a hop with split sites: Functor is HopBefore or HopAfter. As run().
  template <int reals, class Functor>
  void run_split(Hopping& hopping, const HopCall<S>& call, HopPart part, Functor functor);

  /// The hop with its sums, without a halo. As run().
  template <int reals, int most>
  void run_with_sums(Hopping& hopping, const HopCall<S>& call, const HopInput<S, reals, false>& input,
                     const SpinorReader<S>& with);
  /// The hop and a matrix of the fifth dimension. As run().
  template <int reals, int most>
  void run_with_fifth(Hopping& hopping, const HopCall<S>& call, const HopInput<S, reals, false>& input);
  template <int reals, class Enqueue>
  gpu::TuneParameters tune(Hopping& hopping, const HopCall<S>& call, const HopVariant& variant, std::int64_t site_count,
                           const std::vector<gpu::TuneParameters>& candidates, const Enqueue& enqueue);

  static HopVariant variant_of(HopPart part, const HopTerms<S>& terms) {
    return {.part = part,
            .hop_blocks = terms.hop_blocks != nullptr ? terms.hop_blocks->reals() : 0,
            .add_blocks = terms.add_blocks != nullptr ? terms.add_blocks->reals() : 0,
            .adds = terms.add != nullptr};
  }

  template <int reals>
  void apply(Hopping& hopping, const HopCall<S>& call);
};

template <class S>
template <int reals, bool with_halo, bool with_blocks, int columns>
void Hopping<S>::Work::launch(Context& context, const HopInput<S, reals, with_halo>& input, const HopOutput<S>& output,
                              const SiteList* list, const gpu::TuneParameters& p,
                              [[maybe_unused]] const gpu::FaceSignals* awaited) {
  const std::int32_t* numbers = list != nullptr ? list->sites.data() : nullptr;
  const HopSite<S, reals, with_halo, with_blocks, columns> site{input, output, numbers};
  const int sites = list != nullptr ? list->count : context.box.sites;
  const int groups = (output.out.columns + columns - 1) / columns;
  const gpu::Block block = block_of(p, input);
  if constexpr (common_storage<S, reals> && !with_halo && !with_blocks && columns == 1) {
    if (p.sites_per_thread > 1) {
      const SiteLoop loop = SiteLoop::of(sites, p.sites_per_thread, p.prefetch != 0);
      const HopSeveral<S, reals> several{site, loop};
      return gpu::launch(context.stream, "wilson_hop", gpu::Extent{loop.threads, groups, 1}, block, several);
    }
  }
  if constexpr (common_storage<S, reals> && !with_halo && columns == 1) {
    if (p.no_allocate != 0) {
      const HopSite<S, reals, false, with_blocks, 1, detail::Read::once> past{input, output, numbers};
      return gpu::launch(context.stream, "wilson_hop", gpu::Extent{sites, groups, 1}, block, past);
    }
  }
  if constexpr (with_halo) {
    HopExterior<S, reals> exterior{site, {}, awaited != nullptr};
    if (awaited != nullptr) exterior.signals = *awaited;
    gpu::launch(context.stream, "wilson_hop_exterior", gpu::Extent{sites, groups, 1}, block, exterior);
  } else {
    gpu::launch(context.stream, "wilson_hop", gpu::Extent{sites, groups, 1}, block, site);
  }
}

template <class S>
template <int reals, bool with_halo, bool with_blocks, int most>
void Hopping<S>::Work::run(Hopping& hopping, const HopCall<S>& call, HopPart part,
                           const HopInput<S, reals, with_halo>& input, const gpu::FaceSignals* awaited) {
  Context& context = *hopping.context();
  const SiteList* list = nullptr;
  if (part == HopPart::interior) list = &sites->interior[static_cast<std::size_t>(call.parity)];
  if (part == HopPart::exterior) list = &sites->exterior[static_cast<std::size_t>(call.parity)];
  if (list != nullptr && list->count == 0) return;
  const auto enqueue = [&](const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    const HopOutput<S> output = Work::output(call, out, p);
    if constexpr (most >= 2)
      if (p.columns_per_thread == 2)
        return launch<reals, with_halo, with_blocks, 2>(context, input, output, list, p, awaited);
    launch<reals, with_halo, with_blocks, 1>(context, input, output, list, p, awaited);
  };
  const HopVariant variant = variant_of(part, call.terms);
  const auto known = chosen.find(variant);
  if (known != chosen.end()) return enqueue(known->second, call.out);

  const std::int64_t count = list != nullptr ? list->count : context.box.sites;
  constexpr HopChoices choices{.loops = common_storage<S, reals> && !with_halo && !with_blocks,
                               .past_cache = common_storage<S, reals> && !with_halo};
  const auto candidates = hop_candidates(hopping.columns(), most, 256, choices);
  enqueue(tune<reals>(hopping, call, variant, count, candidates, enqueue), call.out);
}

template <class S>
template <int reals, class Functor>
void Hopping<S>::Work::run_split(Hopping& hopping, const HopCall<S>& call, HopPart part, Functor functor) {
  Context& context = *hopping.context();
  const auto parity = static_cast<std::size_t>(call.parity);
  const SiteList& inner = sites->interior[parity];
  const SiteList& outer = sites->exterior[parity];
  const int count = outer.count + (part == HopPart::before ? inner.count : 0);
  if (count == 0) return;
  functor.partial = PartialSums<S>{partial.data(), nullptr, sites->most_exterior(), hopping.columns()};
  functor.exterior = outer.sites.data();
  if constexpr (requires { functor.interior; }) {
    functor.interior = inner.sites.data();
    functor.interior_sites = inner.count;
  }
  const auto enqueue = [&](const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    functor.output = output(call, out, p);
    gpu::launch(context.stream, part == HopPart::before ? "wilson_hop_before" : "wilson_hop_after",
                gpu::Extent{count, hopping.columns(), 1}, block_of(p, functor.input), functor);
  };
  const HopVariant variant = variant_of(part, call.terms);
  const auto known = chosen.find(variant);
  if (known != chosen.end()) return enqueue(known->second, call.out);
  const auto candidates = hop_candidates(hopping.columns(), 1, Functor::max_threads, {});
  enqueue(tune<reals>(hopping, call, variant, count, candidates, enqueue), call.out);
}

template <class S>
template <int reals, int most>
void Hopping<S>::Work::run_with_sums(Hopping& hopping, const HopCall<S>& call, const HopInput<S, reals, false>& input,
                                     const SpinorReader<S>& with) {
  Context& context = *hopping.context();
  solve::RecursionStep step{};  // none in trial runs
  const auto launch_as = [&]<int columns, detail::Read read>(const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    gpu::launch_sum<3, columns>(
        context.stream, "wilson_hop_sum", context.box.sites, hopping.columns(), *call.terms.sums, call.terms.first_sum,
        HopSumSite<S, reals, columns, read>{input, output(call, out, p), with}, block_of(p, input), step);
  };
  const auto enqueue = [&](const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    using detail::Read;
    if constexpr (most >= 2)
      if (p.columns_per_thread == 2) return launch_as.template operator()<2, Read::constant>(p, out);
    if constexpr (common_storage<S, reals>)
      if (p.no_allocate != 0) return launch_as.template operator()<1, Read::once>(p, out);
    launch_as.template operator()<1, Read::constant>(p, out);
  };
  HopVariant variant = variant_of(HopPart::all, call.terms);
  variant.sums = true;
  variant.products = call.terms.with != nullptr;
  auto known = chosen.find(variant);
  if (known == chosen.end()) {
    const auto candidates =
        hop_sum_candidates(hopping.columns(), most, HopSumSite<S, reals, most>::max_threads, common_storage<S, reals>);
    const gpu::TuneParameters best = tune<reals>(hopping, call, variant, context.box.sites, candidates, enqueue);
    step = call.terms.step;
    return enqueue(best, call.out);
  }
  step = call.terms.step;
  enqueue(known->second, call.out);
}

template <class S>
template <int reals, int most>
void Hopping<S>::Work::run_with_fifth(Hopping& hopping, const HopCall<S>& call,
                                      const HopInput<S, reals, false>& input) {
  Context& context = *hopping.context();
  const DeviceFifth<S>*f = call.terms.hop_fifth, *g = call.terms.add_fifth;
  const int points = (f != nullptr ? f : g)->extent();
  const auto launch_as = [&]<int columns>(const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    using Site = HopFifthSite<S, reals, columns>;
    const int threads = Site::threads_of_site(points) * (hopping.columns() / points);
    gpu::launch_shared(context.stream, "wilson_hop_fifth", gpu::Extent{context.box.sites, threads, 1},
                       block_of(p, input),
                       Site{input, output(call, out, p), f != nullptr ? f->data() : nullptr,
                            g != nullptr ? g->data() : nullptr, f != nullptr ? f->chain() : FifthChain<RealOf<S>>{},
                            g != nullptr ? g->chain() : FifthChain<RealOf<S>>{}, points});
  };
  const auto enqueue = [&](const gpu::TuneParameters& p, DeviceSpinor<S>& out) {
    if constexpr (most >= 2)
      if (p.columns_per_thread == 2) return launch_as.template operator()<2>(p, out);
    launch_as.template operator()<1>(p, out);
  };
  HopVariant variant = variant_of(HopPart::all, call.terms);
  variant.points = points;
  variant.hop_fifth = f != nullptr;
  variant.add_fifth = g != nullptr;
  const auto known = chosen.find(variant);
  if (known != chosen.end()) return enqueue(known->second, call.out);
  const auto candidates = hop_fifth_candidates(points, most, HopFifthSite<S, reals, most>::max_threads);
  enqueue(tune<reals>(hopping, call, variant, context.box.sites, candidates, enqueue), call.out);
}

/// Finds the parameters of a launch, and keeps them. Measurements run the kernel many times. They overwrite `out`,
/// unless `out` is also read (added, or multiplied for a dot product); then they write a scratch field.
template <class S>
template <int reals, class Enqueue>
gpu::TuneParameters Hopping<S>::Work::tune(Hopping& hopping, const HopCall<S>& call, const HopVariant& variant,
                                           std::int64_t site_count, const std::vector<gpu::TuneParameters>& candidates,
                                           const Enqueue& enqueue) {
  Context& context = *hopping.context();
  const bool reads_out = call.terms.add == &call.out || call.terms.with == &call.out;
  std::unique_ptr<DeviceSpinor<S>> scratch;
  const auto measure = [&](const gpu::TuneParameters& p) {
    if (!reads_out) return enqueue(p, call.out);
    if (!scratch) scratch = std::make_unique<DeviceSpinor<S>>(hopping.context(), call.out.subset(), call.out.columns());
    enqueue(p, *scratch);
  };
  const gpu::TuneProblem problem{
      "wilson_hop", describe_hop(context.box, Storage<S>::name, reals, hopping.columns(), variant),
      static_cast<double>(site_count) * hop_bytes(Storage<S>::name, reals, hopping.columns(), variant),
      1320.0 * static_cast<double>(site_count) * hopping.columns()};
  const bool kept = !context.stream.capturing();
  const gpu::TuneParameters best = context.tuner.best(context.stream, problem, candidates, measure);
  if (kept) chosen.emplace(variant, best);
  return best;
}

template <class S>
template <int reals>
void Hopping<S>::Work::apply(Hopping& hopping, const HopCall<S>& call) {
  constexpr int most = detail_of_hopping::most_columns<S, reals>;
  Context& context = *hopping.context();
  const DeviceLinks<S>& links = *hopping.links_;
  const auto inner = input<reals, false>(links, call);
  const SpinorReader<S> with = call.terms.with != nullptr ? call.terms.with->reader(call.parity) : SpinorReader<S>{};
  if (call.terms.hop_fifth != nullptr || call.terms.add_fifth != nullptr) {
    if constexpr (common_storage<S, reals>) return run_with_fifth<reals, most>(hopping, call, inner);
  }
  if (call.terms.sums != nullptr && !hopping.halo_) return run_with_sums<reals, most>(hopping, call, inner, with);
  const auto run_inner = [&](HopPart part) {
    if (call.terms.hop_blocks != nullptr || call.terms.add_blocks != nullptr)
      run<reals, false, true, most>(hopping, call, part, inner);
    else
      run<reals, false, false, most>(hopping, call, part, inner);
  };
  if (!hopping.halo_) return run_inner(HopPart::all);
  const bool split = hopping.splits_sites();
  apply_with_halo(
      *hopping.halo_, *sites, call.in, call.dagger, input<reals, true>(links, call), output(call, call.out), !split,
      [&] {
        if constexpr (common_storage<S, reals>)
          if (split) return run_split<reals>(hopping, call, HopPart::before, HopBefore<S, reals>{.input = inner});
        run_inner(HopPart::interior);
      },
      [&](const auto& outer, const gpu::FaceSignals* awaited) {
        if constexpr (common_storage<S, reals>)
          if (split)
            return run_split<reals>(hopping, call, HopPart::after,
                                    HopAfter<S, reals>{.input = outer,
                                                       .signals = awaited != nullptr ? *awaited : gpu::FaceSignals{},
                                                       .waits = awaited != nullptr});
        run<reals, true, true, 1>(hopping, call, HopPart::exterior, outer, awaited);
      });
  if (call.terms.sums != nullptr)
    gpu::launch_sum<3>(context.stream, "wilson_hop_sum_after", context.box.sites, hopping.columns(), *call.terms.sums,
                       call.terms.first_sum, ResultSumSite<S>{std::as_const(call.out).reader(call.parity), with},
                       gpu::Block{gpu::sum_group, 1, 1}, call.terms.step);
}

template <class S>
Hopping<S>::Hopping(std::shared_ptr<const DeviceLinks<S>> links, int columns)
    : links_(std::move(links)), columns_(columns), work_(std::make_unique<Work>()) {
  if (columns < 1 || columns > detail::most_columns) throw_hop_columns(columns);
  if (context()->box.split == 0) return;
  work_->sites = std::make_unique<HopSites>(*context());
  if (splits_sites())
    work_->partial = gpu::DeviceArray<RealOf<S>>(context()->device,
                                                 std::int64_t{work_->sites->most_exterior()} * spinor_reals * columns);
  halo_ = std::make_unique<HopHalo<S>>(context(), columns, context()->halo.policy);
  if (context()->halo.policy == "auto") tune_halo();
}

template <class S>
Hopping<S>::Hopping(const Hopping& other, int columns) : Hopping(other.links_, columns) {}
template <class S>
Hopping<S>::~Hopping() = default;
template <class S>
Hopping<S>::Hopping(Hopping&&) noexcept = default;

template <class S>
void Hopping<S>::apply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, int target_parity, bool dagger,
                       const HopTerms<S>& terms) {
  detail_of_hopping::check_fields(columns_, out, in, target_parity, terms);
  const bool plain = terms.sums == nullptr && terms.hop_blocks == nullptr && terms.add_blocks == nullptr;
  const auto require = [&](const DeviceFifth<S>* fifth) {
    if (fifth != nullptr && !(plain && fuses(*fifth) && columns_ % fifth->extent() == 0))
      throw_hop_fields("a matrix of the fifth dimension that its kernel does not take");
  };
  require(terms.hop_fifth);
  require(terms.add_fifth);
  if (terms.add_fifth != nullptr && (terms.add == nullptr || terms.add == &out))
    throw_hop_fields("a matrix of the fifth dimension for a field that is not there, or that is written");
  if (terms.hop_fifth != nullptr && terms.add_fifth != nullptr &&
      terms.hop_fifth->extent() != terms.add_fifth->extent())
    throw_hop_fields("two matrices of different fifth dimensions");
  const HopCall<S> call{out, in, target_parity, dagger, terms};
  switch (links_->reals()) {
  case 18:
    return work_->template apply<18>(*this, call);
  case 12:
    return work_->template apply<12>(*this, call);
  default:
    return work_->template apply<8>(*this, call);
  }
}

template <class S>
bool Hopping<S>::fuses(const DeviceFifth<S>& fifth) const {
  return !fifth.complex() && context()->box.split == 0 && is_common_storage<S>(links_->reals());
}

template <class S>
void Hopping<S>::tune_halo() {
  if (!halo_) return;
  const auto take = [&](const std::string& policy) {
    if (halo_->exchange().policy() == policy) return;
    context()->stream.synchronize();
    halo_ = std::make_unique<HopHalo<S>>(context(), columns_, policy);
  };
  DeviceSpinor<S> out(context(), lattice::Subset::even, columns_), in(context(), lattice::Subset::odd, columns_);
  context()->stream.set_zero(in.memory().data(), in.memory().bytes());
  const HopVariant variant{};
  take(quickest_policy(*context(), describe_hop(context()->box, Storage<S>::name, links_->reals(), columns_, variant),
                       halo_->exchange().policy(), [&](const std::string& policy) {
                         take(policy);
                         apply(out, in, 0, false);
                       }));
}

template <class S>
bool Hopping<S>::splits_sites() const {
  return context()->halo.split_sites && context()->box.split != 0 && is_common_storage<S>(links_->reals());
}

template <class S>
const std::string& Hopping<S>::halo_policy() const {
  static const std::string none;
  return halo_ ? halo_->exchange().policy() : none;
}

}  // namespace halocline::qcd::device
