// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The bodies of abinit's formats.

#include "halocline/tddft/pseudopotential/detail/gaussian.hpp"
#include "halocline/tddft/pseudopotential/detail/semilocal.hpp"
#include "halocline/tddft/pseudopotential/detail/tabulated.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <string>
#include <vector>

namespace halocline::tddft::detail {

/// The second and third line of a file.
struct PspHeader {
  double atomic_number = 0, valence = 0;
  int format = 0, functional = 0, largest_l = 0, local_l = 0, nodes = 0;
};

/// Reads numbers of an untrusted text, with errors that name the line.
class PspWords {
public:
  PspWords(const std::string& path, std::string_view text) : path_(path), words_(text) {}

  [[noreturn]] void fail(const std::string& sentence) const;
  /// @param meaning  of the number, for the error: "a radius"
  double number(const char* meaning);
  int whole(const char* meaning, int least, int most);
  /// The numbers at the beginning of this line; the line is read.
  std::vector<double> numbers_of_line();
  void skip_line() { static_cast<void>(words_.rest_of_line()); }
  bool at_end() const { return words_.at_end(); }

private:
  const std::string& path_;
  Words words_;
};

PspHeader read_psp_header(PspWords& words);

/// pspcod 1. @param table  its core density is filled, and the rest by fill_separable
void read_pspnc(PspWords& words, const PspHeader& header, Semilocal& semilocal, Tabulated& table);
/// The first line of a .cpi file: the charge of the ion and the number of l; and ten more that are not used.
struct CpiHeader {
  double valence = 0;
  int channels = 0;
};
CpiHeader read_cpi_header(PspWords& words);
/// The tables of pspcod 6 and of .cpi files. @param channels  the number of l
void read_fhi_tables(PspWords& words, int channels, Semilocal& semilocal);
/// The core density that may follow. @param r  the radii of the tables before it
std::vector<double> read_fhi_core(PspWords& words, const std::vector<double>& r);
/// pspcod 8, with everything but names.
void read_psp8(PspWords& words, const PspHeader& header, Tabulated& table);
/// pspcod 2, 3 and 10, with everything but names.
void read_gaussian(PspWords& words, const PspHeader& header, GaussianParameters& parameters);

}  // namespace halocline::tddft::detail
