// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/upf_content.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/functional_name.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace halocline::tddft::detail {

namespace {

void require_length(const std::vector<double>& values, std::size_t count, const std::string& record,
                    const std::string& path) {
  if (values.size() != count)
    throw core::FileError(
        path, record,
        fmt::format("{} numbers where there should be {}; the file is damaged or truncated", values.size(), count));
}

/// Checks the matrix and returns it in hartree, symmetric.
std::vector<double> coupling_of(const UpfContent& content, const std::string& path) {
  std::vector<double> matrix = content.coupling;
  const std::size_t count = content.projectors.size();
  if (matrix.size() != count * count)
    throw core::FileError(path, "PP_DIJ", fmt::format("{} numbers; {} x {} expected", matrix.size(), count, count));
  double largest = 0;
  for (double& d : matrix) largest = std::max(largest, std::abs(d *= 0.5));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      const double d = matrix[i * count + j];
      if (std::abs(d - matrix[j * count + i]) > 1e-6 * largest)
        throw core::FileError(path, "PP_DIJ", fmt::format("the matrix is not symmetric at ({}, {})", i + 1, j + 1));
      if (content.projectors[i].l != content.projectors[j].l && std::abs(d) > 1e-10 * largest)
        throw core::FileError(
            path, "PP_DIJ",
            fmt::format("projectors {} and {} have different l and a coupling of {:g} hartree", i + 1, j + 1, d));
    }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j) matrix[i * count + j] = matrix[j * count + i];
  return matrix;
}

}  // namespace

void require_norm_conserving(const UpfContent& content, const std::string& path) {
  const auto refuse = [&](const std::string& sentence) { throw core::FileError(path, "PP_HEADER", sentence); };
  const std::string type = lower(content.type);
  const bool ultrasoft = content.ultrasoft || type == "us" || type == "uspp", paw = content.paw || type == "paw";
  if (ultrasoft || paw)
    refuse(fmt::format("this is {} data set; a norm-conserving pseudopotential is needed (pseudo_type NC)",
                       paw ? "a PAW" : "an ultrasoft"));
  if (content.coulomb || type == "1/r") refuse("this is the bare Coulomb potential; a pseudopotential is needed");
  if (type != "nc" && type != "sl")
    refuse(fmt::format("pseudo_type is {}; NC or SL (norm-conserving) expected", shown(content.type)));
  if (content.spin_orbit)
    refuse("the pseudopotential is fully relativistic (spin-orbit coupling), which is not supported; take the "
           "scalar-relativistic one");
}

Tabulated tabulated_of_upf(UpfContent content, const std::string& path) {
  const auto fail = [&](const std::string& record, const std::string& sentence) {
    throw core::FileError(path, record, sentence);
  };
  Tabulated table;
  Words symbol(content.element);
  table.symbol = symbol.next();
  if (table.symbol.empty() || table.symbol.size() > 2)
    fail("PP_HEADER", fmt::format("element is {}; a symbol expected", shown(table.symbol)));
  table.origin = "UPF file " + path;
  table.functional = functional_of_words(content.functional);
  table.valence = content.valence;
  if (!(table.valence > 0 && table.valence < 120))
    fail("PP_HEADER", fmt::format("z_valence is {:g}; a positive charge expected", table.valence));
  if (const std::string fault = mesh_fault(content.r); !fault.empty()) fail("PP_R", fault);
  const std::size_t nodes = content.r.size();
  require_length(content.local, nodes, "PP_LOCAL", path);
  for (double& v : content.local) v *= 0.5;
  if (const std::string fault = tail_fault(content.r, content.local, table.valence); !fault.empty())
    fail("PP_LOCAL", fault);
  for (std::size_t n = 0; n < content.projectors.size(); ++n) {
    auto& [l, values] = content.projectors[n];
    const std::string record = fmt::format("PP_BETA.{}", n + 1);
    if (values.size() > nodes) require_length(values, nodes, record, path);
    if (!trim_projector(values)) fail(record, "all values are zero; the file is damaged");
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = content.r[i] > 0 ? values[i] / content.r[i] : 0.0;
    table.projectors.push_back({l, std::move(values)});
  }
  table.coupling = coupling_of(content, path);
  if (!content.density.empty()) {
    require_length(content.density, nodes, "PP_RHOATOM", path);
    for (std::size_t i = 0; i < nodes; ++i) {
      const double r = content.r[i];
      content.density[i] = r > 0 ? content.density[i] / (4 * std::numbers::pi * r * r) : 0.0;
    }
    if (std::ranges::any_of(content.density, [](double n) { return n > 0; }))
      table.density = std::move(content.density);
  }
  if (content.core_correction) {
    if (content.core.empty()) fail("PP_NLCC", "the record is missing; the file is damaged or truncated");
    require_length(content.core, nodes, "PP_NLCC", path);
    table.core = std::move(content.core);
  }
  table.r = std::move(content.r);
  table.local = std::move(content.local);
  return table;
}

std::vector<double> upf_numbers(std::string_view text, const std::string& record, const std::string& path) {
  Words words(text);
  std::vector<double> values;
  for (;;) {
    const auto value = words.number();
    if (value && std::abs(*value) > largest_upf_entry)
      throw core::FileError(path, record,
                            fmt::format("number {} is {:g}, and {:g} is the largest that is read; the file is damaged",
                                        values.size() + 1, *value, largest_upf_entry));
    if (value)
      values.push_back(*value);
    else if (words.word().empty())
      return values;
    else
      throw core::FileError(
          path, record, fmt::format("number {} is {}; the file is damaged", values.size() + 1, shown(words.word())));
  }
}

}  // namespace halocline::tddft::detail
