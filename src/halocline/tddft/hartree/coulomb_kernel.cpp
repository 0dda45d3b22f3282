// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/coulomb_kernel.hpp"

#include "halocline/core/pack.hpp"
#include "halocline/tddft/base/coulomb_cut.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/hartree/fft.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

namespace halocline::tddft {
namespace {

using std::numbers::pi;

/// A dense matrix, row by row.
struct Matrix {
  Matrix(std::int64_t rows_, std::int64_t columns_) : rows(rows_), columns(columns_), values(rows_ * columns_) {}
  double& operator()(std::int64_t i, std::int64_t j) noexcept { return values[i * columns + j]; }

  std::int64_t rows, columns;
  core::AlignedArray<double> values;
};

using Pack = core::Pack<double, core::native_lanes<double>>;
constexpr int tile_rows = 4, tile_packs = 4;  ///< needs 16 registers for the sums

/// Computes a tile of a product, `rows` by `packs` registers.
template <int rows, int packs>
void multiply_tile(double* out, const double* a, const double* b, std::int64_t inner, std::int64_t columns) {
  std::array<std::array<Pack, packs>, rows> sum;
  for (auto& row : sum) row.fill(Pack(0.0));
  for (std::int64_t k = 0; k < inner; ++k) {
    for (int j = 0; j < packs; ++j) {
      const Pack of_b = Pack::load(b + k * columns + j * Pack::lanes);
      for (int i = 0; i < rows; ++i) sum[at(i)][at(j)] = core::fma(Pack(a[i * inner + k]), of_b, sum[at(i)][at(j)]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < packs; ++j) sum[at(i)][at(j)].store(out + i * columns + j * Pack::lanes);
}

/// Computes some rows of a product.
template <int rows>
void multiply_rows(double* out, const double* a, const double* b, std::int64_t inner, std::int64_t columns) {
  std::int64_t j = 0;
  for (; j + tile_packs * Pack::lanes <= columns; j += tile_packs * Pack::lanes)
    multiply_tile<rows, tile_packs>(out + j, a, b + j, inner, columns);
  for (; j + Pack::lanes <= columns; j += Pack::lanes) multiply_tile<rows, 1>(out + j, a, b + j, inner, columns);
  for (; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) sum = core::fma(a[i * inner + k], b[k * columns + j], sum);
      out[i * columns + j] = sum;
    }
  }
}

/// out = a b, with a of shape (rows, inner) and b of shape (inner, columns).
///
/// Each number is the sum over `inner` from the first to the last term, for any shape. So a process that computes a
/// part of the kernel gets the same bits as a process that computes all of it. In a library's product the order depends
/// on the shape.
void multiply(double* out, const double* a, const double* b, std::int64_t rows, std::int64_t inner,
              std::int64_t columns) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    if (i + tile_rows <= rows) {
      multiply_rows<tile_rows>(out + i * columns, a + i * inner, b, inner, columns);
    } else {
      for (std::int64_t row = i; row < rows; ++row)
        multiply_rows<1>(out + row * columns, a + row * inner, b, inner, columns);
    }
  }
}

/// cos(2 pi j / period) for j = 0 ... period - 1.
std::vector<double> cosines(std::int64_t period) {
  std::vector<double> values(static_cast<std::size_t>(period));
  for (std::size_t j = 0; j < values.size(); ++j)
    values[j] = std::cos(2 * pi * static_cast<double>(j) / static_cast<double>(period));
  return values;
}

std::vector<std::int64_t> counted(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(end - begin));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

Matrix transposed(const Matrix& a) {
  Matrix b(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) b(j, i) = a.values[i * a.columns + j];
  return b;
}

/// D of the header for the given k, including the sum over +-K: shape (k.size(), L / 2 + 1).
Matrix axis_matrix(std::span<const std::int64_t> k, std::int64_t points, std::int64_t length,
                   std::int64_t long_length) {
  const std::vector<double> short_cosine = cosines(length), long_cosine = cosines(long_length);
  const std::int64_t kept = static_cast<std::int64_t>(k.size()), half = long_length / 2 + 1;
  Matrix to_k(kept, points), from_long(points, half), d(kept, half);
  for (std::int64_t i = 0; i < kept; ++i) {
    for (std::int64_t j = 0; j < points; ++j)
      to_k(i, j) =
          (j == 0 ? 1.0 : 2.0) * short_cosine[static_cast<std::size_t>(k[static_cast<std::size_t>(i)] * j % length)];
  }
  const double scale = 1.0 / (static_cast<double>(length) * static_cast<double>(long_length));
  for (std::int64_t j = 0; j < points; ++j) {
    for (std::int64_t i = 0; i < half; ++i) {
      const bool own_image = i == 0 || 2 * i == long_length;
      from_long(j, i) = (own_image ? scale : 2 * scale) * long_cosine[static_cast<std::size_t>(i * j % long_length)];
    }
  }
  multiply(d.values.data(), to_k.values.data(), from_long.values.data(), kept, points, half);
  return d;
}

core::AlignedArray<double> free_space_kernel(const Grid& grid, const std::array<std::int64_t, 3>& lengths,
                                             const KeptWavenumbers& kept) {
  const double radius = std::hypot(grid.length(0), grid.length(1), grid.length(2));
  std::array<std::int64_t, 3> long_lengths, halves;
  std::array<std::vector<double>, 3> squares;  // K^2 along each axis
  for (std::size_t a = 0; a < 3; ++a) {
    long_lengths[a] = grid.extent[a] + static_cast<std::int64_t>(std::ceil(radius / grid.spacing[a])) + 1;
    halves[a] = long_lengths[a] / 2 + 1;
    for (std::int64_t i = 0; i < halves[a]; ++i) {
      const double g = 2 * pi * static_cast<double>(i) / (static_cast<double>(long_lengths[a]) * grid.spacing[a]);
      squares[a].push_back(g * g);
    }
  }
  const auto axis = [&](std::size_t a, std::span<const std::int64_t> k) {
    return axis_matrix(k, grid.extent[a], lengths[a], long_lengths[a]);
  };
  const Matrix dx = transposed(axis(0, counted(kept.x.begin, kept.x.end))), dy = axis(1, kept.y),
               dz = axis(2, counted(0, lengths[2] / 2 + 1));

  const std::int64_t plane = dy.rows * dx.columns;
  Matrix g(halves[1], halves[0]), of_x(halves[1], dx.columns), of_xy(halves[2], plane);
  for (std::int64_t z = 0; z < halves[2]; ++z) {
#pragma omp parallel for schedule(static)
    for (std::int64_t y = 0; y < halves[1]; ++y) {
      const double yz = squares[2][static_cast<std::size_t>(z)] + squares[1][static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < halves[0]; ++x) {
        const double square = yz + squares[0][static_cast<std::size_t>(x)];
        const double sine = std::sin(0.5 * radius * std::sqrt(square));
        g(y, x) = square == 0 ? 2 * pi * radius * radius : 8 * pi * sine * sine / square;
      }
    }
    multiply(of_x.values.data(), g.values.data(), dx.values.data(), g.rows, g.columns, dx.columns);
    multiply(&of_xy(z, 0), dy.values.data(), of_x.values.data(), dy.rows, dy.columns, dx.columns);
  }
  core::AlignedArray<double> table(dz.rows * plane);
  multiply(table.data(), dz.values.data(), of_xy.values.data(), dz.rows, dz.columns, plane);
  return table;
}

/// The shortest of the vectors that the points of the grid cannot tell from this one.
Vec3 shortest(const Grid& grid, const std::array<Vec3, 3>& b, const std::array<std::int64_t, 3>& k) {
  double least = std::numeric_limits<double>::infinity();
  Vec3 found{};
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const std::array<int, 3> cell{x, y, z};
        Vec3 numbers{};
        for (std::size_t a = 0; a < 3; ++a) numbers[a] = 2 * pi * static_cast<double>(k[a] + cell[a] * grid.extent[a]);
        const Vec3 g = combined(numbers, b);
        if (const double square = dot(g, g); square < least) {
          least = square;
          found = g;
        }
      }
  return found;
}

core::AlignedArray<double> skew_kernel(const Grid& grid, const KeptWavenumbers& kept) {
  const std::array<Vec3, 3> b = dual(grid.edges());
  const double scale = 1.0 / static_cast<double>(grid.points());
  core::AlignedArray<double> table(grid.extent[2] * static_cast<std::int64_t>(kept.y.size()) * kept.x.size());
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (const std::int64_t y : kept.y)
      for (std::int64_t x = kept.x.begin; x < kept.x.end; ++x, ++i) {
        // Numbers about zero, so that the shortest vector is among the nearest images.
        const auto centred = [&](std::size_t a, std::int64_t k) {
          return 2 * k <= grid.extent[a] ? k : k - grid.extent[a];
        };
        const Vec3 g = shortest(grid, b, {centred(0, x), centred(1, y), centred(2, z)});
        table[i] = scale * coulomb_in_waves(grid, g);
      }
  return table;
}

core::AlignedArray<double> periodic_kernel(const Grid& grid, const std::array<std::int64_t, 3>& lengths,
                                           const KeptWavenumbers& kept) {
  const auto wave = [&](int axis, std::int64_t k) { return 2 * pi * static_cast<double>(k) / grid.length(axis); };
  const double scale =
      1.0 / (static_cast<double>(lengths[0]) * static_cast<double>(lengths[1]) * static_cast<double>(lengths[2]));
  core::AlignedArray<double> table((lengths[2] / 2 + 1) * static_cast<std::int64_t>(kept.y.size()) * kept.x.size());
  std::int64_t i = 0;
  for (std::int64_t z = 0; z <= lengths[2] / 2; ++z) {
    for (const std::int64_t y : kept.y) {
      for (std::int64_t x = kept.x.begin; x < kept.x.end; ++x, ++i) {
        table[i] = scale * coulomb_in_waves(grid, {wave(0, x), wave(1, y), wave(2, z)});
      }
    }
  }
  return table;
}

}  // namespace

std::array<std::int64_t, 3> transform_lengths(const Grid& grid) {
  std::array<std::int64_t, 3> lengths = grid.extent;
  if (grid.boundary == Boundary::isolated) {
    for (std::int64_t& length : lengths) length = fast_length(2 * length - 1);
  }
  return lengths;
}

bool even_kernel(const Grid& grid) noexcept { return !grid.skew(); }

core::AlignedArray<double> coulomb_kernel(const Grid& grid, const std::array<std::int64_t, 3>& lengths,
                                          const KeptWavenumbers& kept) {
  if (kept.x.size() == 0 || kept.y.empty()) return {};
  if (!even_kernel(grid)) return skew_kernel(grid, kept);
  return grid.boundary == Boundary::periodic ? periodic_kernel(grid, lengths, kept)
                                             : free_space_kernel(grid, lengths, kept);
}

}  // namespace halocline::tddft
