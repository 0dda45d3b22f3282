// SPDX-License-Identifier: Apache-2.0
#include "bench/su3.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/complex.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/hold.hpp"
#include "halocline/core/pack.hpp"

namespace halocline::bench {
namespace {

constexpr int rows = 3;

/// A register of T.
template <class T>
struct Register {
  static constexpr int lanes = core::native_lanes<T>;
  using Real = core::Pack<T, lanes>;
};

/// Real and imaginary parts in registers of their own.
template <class T>
struct Apart {
  using Real = typename Register<T>::Real;
  using Number = core::Complex<Real>;
  static constexpr int sites = Register<T>::lanes;
  static constexpr int reals = 2 * sites;  ///< of one element of a tile

  static std::int64_t place(int site, int part) { return part * sites + site; }
  using Other = Number;
  static HALOCLINE_INLINE Number load(const T* at) { return {Real::load(at), Real::load(at + sites)}; }
  /// A factor that is used in every row. It stays in registers.
  static HALOCLINE_INLINE Other load_other(const T* at) {
    return {core::load_held<Real>(at), core::load_held<Real>(at + sites)};
  }
  template <bool past_caches>
  static HALOCLINE_INLINE void store(T* at, const Number& z) {
    if constexpr (past_caches) {
      core::stream(at, z.re);
      core::stream(at + sites, z.im);
    } else {
      z.re.store(at);
      z.im.store(at + sites);
    }
  }
  /// A factor that multiplies several numbers.
  static HALOCLINE_INLINE Number spread(const Number& z) { return z; }
  static HALOCLINE_INLINE Number product(const Number& a, const Number& b) { return a * b; }
  static HALOCLINE_INLINE void multiply_add(Number& sum, const Number& a, const Number& b) {
    core::multiply_add(sum, a, b);
  }
};

/// Real and imaginary parts side by side.
template <class T>
struct Interleaved {
  using Real = typename Register<T>::Real;
  using Number = Real;
  static constexpr int sites = Register<T>::lanes / 2;
  static constexpr int reals = 2 * sites;
  /// re re ..., and im im ...
  struct Spread {
    Real re, im;
  };
  /// re im ..., and -im re ...
  struct Other {
    Real number, turned;
  };

  static std::int64_t place(int site, int part) { return 2 * site + part; }
  static HALOCLINE_INLINE Number load(const T* at) { return Real::load(at); }
  static HALOCLINE_INLINE Other load_other(const T* at) {
    Real signs;
    for (int i = 0; i < Register<T>::lanes; ++i) signs.set(i, i % 2 == 0 ? T(-1) : T(1));
    Other out{core::load_held<Real>(at), signs};
    out.turned = signs * core::permute(out.number, table([](int i) { return i ^ 1; }));
    core::hold(out.turned);
    return out;
  }
  template <bool past_caches>
  static HALOCLINE_INLINE void store(T* at, const Number& z) {
    if constexpr (past_caches)
      core::stream(at, z);
    else
      z.store(at);
  }
  static HALOCLINE_INLINE Spread spread(const Number& z) {
    return {core::permute(z, table([](int i) { return i & ~1; })),
            core::permute(z, table([](int i) { return i | 1; }))};
  }
  static HALOCLINE_INLINE Number product(const Spread& a, const Other& b) {
    Number sum = a.re * b.number;
    sum += a.im * b.turned;
    return sum;
  }
  static HALOCLINE_INLINE void multiply_add(Number& sum, const Spread& a, const Other& b) {
    sum += a.re * b.number;
    sum += a.im * b.turned;
  }

private:
  template <class F>
  static HALOCLINE_INLINE typename Real::Mask table(const F& from) {
    typename Real::Mask lanes{};
    for (int i = 0; i < Register<T>::lanes; ++i) lanes[i] = from(i);
    return lanes;
  }
};

/// z = x y for matrices of three columns, or for two colour vectors.
template <class T, template <class> class Layout, int columns, bool past_caches>
void multiply(T* z, const T* x, const T* y, std::int64_t tiles) {
  using L = Layout<T>;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const T* a = x + tile * (rows * rows * L::reals);
      const T* b = y + tile * (rows * columns * L::reals);
      T* c = z + tile * (rows * columns * L::reals);
      // Loaded before the first store, which the compiler must take for a change of y.
      typename L::Other other[rows][columns];
      HALOCLINE_UNROLLED(3)
      for (int k = 0; k < rows; ++k) HALOCLINE_UNROLLED(3)
      for (int column = 0; column < columns; ++column)
        other[k][column] = L::load_other(b + (columns * k + column) * L::reals);
      HALOCLINE_UNROLLED(3)
      for (int row = 0; row < rows; ++row) {
        typename L::Number sum[columns];
        HALOCLINE_UNROLLED(3)
        for (int k = 0; k < rows; ++k) {
          const auto factor = L::spread(L::load(a + (rows * row + k) * L::reals));
          HALOCLINE_UNROLLED(3)
          for (int column = 0; column < columns; ++column) {
            if (k == 0)
              sum[column] = L::product(factor, other[k][column]);
            else
              L::multiply_add(sum[column], factor, other[k][column]);
          }
        }
        HALOCLINE_UNROLLED(3)
        for (int column = 0; column < columns; ++column)
          L::template store<past_caches>(c + (columns * row + column) * L::reals, sum[column]);
      }
    }
    if (past_caches) core::fence_streams();
  }
}

/// Fields and what is done to them.
template <class T>
struct Product {
  std::int64_t sites = 0;
  int columns = 3;
  core::AlignedArray<T> x, y, z;
  std::function<void(Product&)> run;
  std::function<std::int64_t(std::int64_t site, int element, int elements, int part)> place;

  double flops() const { return 66.0 * columns * static_cast<double>(sites); }
  double reals() const { return static_cast<double>(sites) * (2 * rows * (rows + 2 * columns)); }
};

template <class T, template <class> class Layout, int columns>
std::shared_ptr<Product<T>> product_of(std::int64_t sites) {
  using L = Layout<T>;
  const std::int64_t tiles = sites / L::sites;
  auto made = std::make_shared<Product<T>>();
  made->sites = sites;
  made->columns = columns;
  made->x = core::AlignedArray<T>(tiles * rows * rows * L::reals);
  made->y = core::AlignedArray<T>(tiles * rows * columns * L::reals);
  made->z = core::AlignedArray<T>(tiles * rows * columns * L::reals);
  fill(made->x.span());
  fill(made->y.span());
  // A result that outgrows the caches is stored past them.
  const bool past_caches = made->reals() * sizeof(T) > double{8 << 20};
  made->run = [tiles, past_caches](Product<T>& p) {
    if (past_caches)
      multiply<T, Layout, columns, true>(p.z.data(), p.x.data(), p.y.data(), tiles);
    else
      multiply<T, Layout, columns, false>(p.z.data(), p.x.data(), p.y.data(), tiles);
  };
  made->place = [](std::int64_t site, int element, int elements, int part) {
    return (site / L::sites * elements + element) * L::reals + L::place(static_cast<int>(site % L::sites), part);
  };
  return made;
}

template <class T>
std::shared_ptr<Product<T>> product_of(const Su3Case& c) {
  const std::int64_t sites = lattice::product<4>(c.local);
  if (sites < 1 || sites % Register<T>::lanes != 0)
    throw core::InvalidArgument(fmt::format("{} sites were asked for; give a volume that {} divides, such as 8x8x8x8",
                                            sites, Register<T>::lanes));
  const bool apart = c.layout == "apart";
  if (c.form == "product") return apart ? product_of<T, Apart, 3>(sites) : product_of<T, Interleaved, 3>(sites);
  return apart ? product_of<T, Apart, 2>(sites) : product_of<T, Interleaved, 2>(sites);
}

void check(const Su3Case& c) {
  if (c.layout != "apart" && c.layout != "interleaved")
    throw core::InvalidArgument(fmt::format("the layout is \"{}\"; give apart or interleaved", c.layout));
  if (c.form != "product" && c.form != "vector")
    throw core::InvalidArgument(fmt::format("the form is \"{}\"; give product or vector", c.form));
  if (c.precision != "float" && c.precision != "double")
    throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
}

template <class T>
Result run(const comm::Communicator& group, const Su3Case& c, const Effort& effort) {
  const Threads threads(c.threads);
  const auto made = product_of<T>(c);
  const Work work = [made] { made->run(*made); };
  Result result;
  result.bench = "su3";
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", c.precision},
                       {"layout", c.layout},
                       {"form", c.form}};
  result.flops = made->flops() * group.size();
  result.bytes = made->reals() * sizeof(T) * group.size();
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(made->reals() * sizeof(T)), effort);
  const auto times = measure_together(group, work, FmaChains<T>{}, effort);
  result.seconds = times.work;
  const double fma_flops = 1e-9 * FmaChains<T>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of(work);
  return result;
}

template <class T>
std::vector<std::complex<double>> once(const Su3Case& c, const std::vector<std::complex<double>>& x,
                                       const std::vector<std::complex<double>>& y) {
  const auto made = product_of<T>(c);
  const int elements = rows * made->columns;
  const auto put = [&](core::AlignedArray<T>& to, const std::vector<std::complex<double>>& from, int count) {
    if (static_cast<std::int64_t>(from.size()) != made->sites * count)
      throw core::InvalidArgument(
          fmt::format("{} numbers were given for {} sites; give {} a site", from.size(), made->sites, count));
    for (std::int64_t site = 0; site < made->sites; ++site)
      for (int e = 0; e < count; ++e) {
        const auto& value = from[static_cast<std::size_t>(site * count + e)];
        to[made->place(site, e, count, 0)] = static_cast<T>(value.real());
        to[made->place(site, e, count, 1)] = static_cast<T>(value.imag());
      }
  };
  put(made->x, x, rows * rows);
  put(made->y, y, elements);
  made->run(*made);
  std::vector<std::complex<double>> out;
  for (std::int64_t site = 0; site < made->sites; ++site)
    for (int e = 0; e < elements; ++e)
      out.emplace_back(made->z[made->place(site, e, elements, 0)], made->z[made->place(site, e, elements, 1)]);
  return out;
}

}  // namespace

Result su3(const comm::Communicator& group, const Su3Case& c, const Effort& effort) {
  check(c);
  return c.precision == "float" ? run<float>(group, c, effort) : run<double>(group, c, effort);
}

std::vector<std::complex<double>> su3_once(const Su3Case& c, const std::vector<std::complex<double>>& x,
                                           const std::vector<std::complex<double>>& y) {
  check(c);
  return c.precision == "float" ? once<float>(c, x, y) : once<double>(c, x, y);
}

}  // namespace halocline::bench
