// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A small dense complex matrix, column by column, as LAPACK expects it.

#include <complex>
#include <cstddef>
#include <vector>

namespace halocline::tddft {

/// Zero on construction. Element (i, j) is at i + rows j.
class Matrix {
public:
  Matrix() = default;
  Matrix(int rows, int columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  std::complex<double>& operator()(int i, int j) noexcept { return values_[at(i, j)]; }
  const std::complex<double>& operator()(int i, int j) const noexcept { return values_[at(i, j)]; }
  std::complex<double>* data() noexcept { return values_.data(); }
  const std::complex<double>* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }

  /// Rows [row, row + rows) and columns [column, column + columns).
  Matrix part(int row, int column, int rows, int columns) const {
    Matrix out(rows, columns);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) out(i, j) = (*this)(row + i, column + j);
    return out;
  }

private:
  std::size_t at(int i, int j) const noexcept {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(rows_) * static_cast<std::size_t>(j);
  }

  int rows_ = 0, columns_ = 0;
  std::vector<std::complex<double>> values_;
};

}  // namespace halocline::tddft
