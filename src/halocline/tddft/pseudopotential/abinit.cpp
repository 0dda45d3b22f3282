// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/abinit.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/elements.hpp"
#include "halocline/tddft/pseudopotential/detail/finite.hpp"
#include "halocline/tddft/pseudopotential/detail/functional_name.hpp"
#include "halocline/tddft/pseudopotential/detail/psp_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace halocline::tddft {

namespace {

using namespace detail;

void require_readable(PspWords& words, int format) {
  switch (format) {
  case 1:
  case 2:
  case 3:
  case 6:
  case 8:
  case 10:
    return;
  case 4:
  case 5:
    words.fail(fmt::format("pspcod {}: this older format of {} is not read; formats 1, 2, 3, 6, 8 and 10 are", format,
                           format == 4 ? "Teter" : "Hamann"));
  case 7:
  case 17:
    words.fail("this is a PAW data set; a norm-conserving pseudopotential is needed");
  case 9:
    words.fail("this is a PSML file, which is not read; take the UPF or psp8 file of the same pseudopotential");
  default:
    words.fail(fmt::format("pspcod is {}; 1, 2, 3, 6, 8 or 10 expected", format));
  }
}

std::shared_ptr<const Pseudopotential> finished(Tabulated table, const std::string& path) {
  if (const std::string fault = mesh_fault(table.r); !fault.empty()) throw core::FileError(path, "", fault);
  if (const std::string fault = tail_fault(table.r, table.local, table.valence); !fault.empty())
    throw core::FileError(path, "", fault);
  auto made = make_tabulated(std::move(table));
  require_finite(*made, path);
  return made;
}

int chosen_local(int wanted, int given, std::size_t channels, const std::string& path) {
  const int local = wanted >= 0 ? wanted : given >= 0 ? given : static_cast<int>(channels) - 1;
  if (local >= static_cast<int>(channels))
    throw core::FileError(
        path, "", fmt::format("l = {} is to be the local potential, and there are l = 0 to {}", local, channels - 1));
  return local;
}

}  // namespace

std::shared_ptr<const Pseudopotential> read_abinit(const std::string& path, int local_l) {
  const std::string text = read_text(path);
  PspWords words(path, text);
  const PspHeader header = read_psp_header(words);
  require_readable(words, header.format);
  const std::string symbol = symbol_of(static_cast<int>(std::lround(header.atomic_number)));
  if (symbol.empty()) words.fail(fmt::format("the atomic number is {:g}; 1 to 103 expected", header.atomic_number));
  const std::string origin = fmt::format("abinit file {} (pspcod {})", path, header.format),
                    functional = functional_of_abinit(header.functional);
  if (header.format == 2 || header.format == 3 || header.format == 10) {
    GaussianParameters parameters;
    parameters.symbol = symbol;
    parameters.origin = origin;
    parameters.functional = functional;
    parameters.valence = header.valence;
    read_gaussian(words, header, parameters);
    if (const std::string fault = gaussian_fault(parameters); !fault.empty()) throw core::FileError(path, "", fault);
    return make_gaussian(std::move(parameters));
  }
  Tabulated table;
  table.symbol = symbol;
  table.origin = origin;
  table.functional = functional;
  table.valence = header.valence;
  if (header.format == 8) {
    read_psp8(words, header, table);
    return finished(std::move(table), path);
  }
  Semilocal semilocal;
  if (header.format == 1) {
    read_pspnc(words, header, semilocal, table);
  } else {
    // Radius and flag of the core, unless the line is a comment; then 14 lines that are free, or those of a .cpi file.
    const auto core = words.numbers_of_line();
    for (int line = 0; line < 14; ++line) words.skip_line();
    read_fhi_tables(words, header.largest_l + 1, semilocal);
    if (core.size() >= 2 && core[1] > 0) table.core = read_fhi_core(words, semilocal.r);
  }
  if (const std::string fault = mesh_fault(semilocal.r); !fault.empty()) throw core::FileError(path, "", fault);
  semilocal.local_l = chosen_local(local_l, header.local_l, semilocal.channels.size(), path);
  fill_separable(table, std::move(semilocal));
  return finished(std::move(table), path);
}

std::shared_ptr<const Pseudopotential> read_cpi(const std::string& path, const std::string& symbol, int local_l) {
  const std::string text = read_text(path);
  PspWords words(path, text);
  Tabulated table;
  Semilocal semilocal;
  // A core density follows the tables if there is one, and nothing else can.
  const CpiHeader header = read_cpi_header(words);
  table.valence = header.valence;
  read_fhi_tables(words, header.channels, semilocal);
  if (!words.at_end()) table.core = read_fhi_core(words, semilocal.r);
  if (const std::string fault = mesh_fault(semilocal.r); !fault.empty()) throw core::FileError(path, "", fault);
  table.symbol = symbol;
  semilocal.local_l = chosen_local(local_l, -1, semilocal.channels.size(), path);
  table.origin = fmt::format("FHI file {}, local l = {}", path, semilocal.local_l);
  fill_separable(table, std::move(semilocal));
  return finished(std::move(table), path);
}

}  // namespace halocline::tddft
