// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/upf.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/finite.hpp"
#include "halocline/tddft/pseudopotential/detail/tabulated.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft {

namespace {

constexpr int most_projectors = 32;
constexpr double projector_end = 1e-8;  // fraction of its maximum at which a projector ends
constexpr std::size_t fewest_nodes = 16;
constexpr double largest_upf_entry = 1e12;  // of any table: larger means damage; squares stay finite

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Our name of a functional; for other functionals the file's name in lower case.
std::string functional_name(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '-' || c == '+'; }, ' ');
  detail::Words words(text);
  std::string name;
  for (std::string_view word = words.next(); !word.empty(); word = words.next())
    name += (name.empty() ? "" : " ") + lower(word);
  static constexpr std::array<std::array<std::string_view, 2>, 15> known{{{"pz", "pz"},
                                                                          {"lda", "pz"},
                                                                          {"sla pz nogx nogc", "pz"},
                                                                          {"sla pz", "pz"},
                                                                          {"pw", "pw"},
                                                                          {"pw92", "pw"},
                                                                          {"sla pw nogx nogc", "pw"},
                                                                          {"pade", "pade"},
                                                                          {"goedecker", "pade"},
                                                                          {"sla pw pbx pbc", "pbe"},
                                                                          {"sla pw psx psc", "pbesol"},
                                                                          {"sla pw rpb pbc", "revpbe"},
                                                                          {"sla pw revx pbc", "revpbe"},
                                                                          {"sla lyp b88 blyp", "blyp"},
                                                                          {"sla b88 lyp blyp", "blyp"}}};
  for (const auto& [theirs, ours] : known)
    if (name == theirs) return std::string(ours);
  return name;
}

class UpfReader {
public:
  explicit UpfReader(const std::string& path) : path_(path) {
    std::string text = detail::read_text(path);
    if (text.find("<UPF") == std::string::npos)
      fail("", text.find("<PP_HEADER>") != std::string::npos
                   ? "this is UPF version 1, an older format; convert it to version 2 (upfconv of Quantum ESPRESSO)"
                   : "there is no <UPF> element, so that this is no UPF file");
    // Removes free text, which the programs that write these files do not escape.
    for (const std::string_view name : {"PP_INFO", "PP_INPUTFILE"}) {
      const std::size_t begin = text.find(fmt::format("<{}", name)), end = text.find(fmt::format("</{}>", name));
      if (begin != std::string::npos && end != std::string::npos && begin < end)
        text.erase(begin, end + name.size() + 3 - begin);
    }
    const auto result = document_.load_buffer(text.data(), text.size());
    if (!result)
      fail("", fmt::format("the XML is damaged after {} bytes: {}; the file may be truncated", result.offset,
                           result.description()));
    root_ = document_.child("UPF");
    if (!root_) fail("", "the outermost element is not <UPF>; the file is damaged or of another kind");
    const std::string version = root_.attribute("version").value();
    if (version.substr(0, 2) != "2.")
      fail("UPF", fmt::format("version {} given, 2.0.0 or 2.0.1 expected", detail::shown(version)));
  }

  detail::Tabulated read() {
    check_kind();
    detail::Tabulated table;
    detail::Words symbol(header().attribute("element").value());
    table.symbol = symbol.next();
    if (table.symbol.empty() || table.symbol.size() > 2)
      fail("PP_HEADER", fmt::format("element is {}; a symbol expected", detail::shown(table.symbol)));
    table.origin = "UPF file " + path_;
    table.functional = functional_name(header().attribute("functional").value());
    table.valence = attribute(header(), "PP_HEADER", "z_valence");
    if (!(table.valence > 0 && table.valence < 120))
      fail("PP_HEADER", fmt::format("z_valence is {:g}; a positive charge expected", table.valence));
    read_mesh(table);
    read_local(table);
    read_projectors(table);
    read_density(table);
    return table;
  }

private:
  [[noreturn]] void fail(const std::string& record, const std::string& sentence) const {
    throw core::FileError(path_, record, sentence);
  }

  pugi::xml_node child(const pugi::xml_node& parent, const std::string& name) const {
    const auto node = parent.child(name.c_str());
    if (!node) fail(name, "the record is missing; the file is damaged or truncated");
    return node;
  }
  pugi::xml_node header() const { return child(root_, "PP_HEADER"); }

  bool flag(const char* name) const {
    const std::string value = lower(header().attribute(name).value());
    return value.find('t') != std::string::npos || value == "1";
  }

  double attribute(const pugi::xml_node& node, const std::string& record, const char* name) const {
    detail::Words words(node.attribute(name).value());
    if (const auto value = words.number()) return *value;
    fail(record, fmt::format("{} is {}; a number expected", name, detail::shown(words.word())));
  }

  int whole(const pugi::xml_node& node, const std::string& record, const char* name, int least, int most) const {
    const double value = attribute(node, record, name);
    if (!(value >= least && value <= most) || value != std::floor(value))
      fail(record, fmt::format("{} is {:g}; a whole number from {} to {} expected", name, value, least, most));
    return static_cast<int>(value);
  }

  std::vector<double> numbers(const pugi::xml_node& node, const std::string& record) const {
    // Comments and elements may split the text of a table; all parts belong to it.
    std::string text;
    for (const auto part : node.children())
      if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) (text += part.value()) += '\n';
    detail::Words words(text);
    std::vector<double> values;
    for (;;) {
      const auto value = words.number();
      if (value && std::abs(*value) > largest_upf_entry)
        fail(record, fmt::format("number {} is {:g}, and {:g} is the largest that is read; the file is damaged",
                                 values.size() + 1, *value, largest_upf_entry));
      if (value)
        values.push_back(*value);
      else if (words.word().empty())
        return values;
      else
        fail(record,
             fmt::format("number {} is {}; the file is damaged", values.size() + 1, detail::shown(words.word())));
    }
  }

  std::vector<double> column(const pugi::xml_node& node, const std::string& record, std::size_t count) const {
    auto values = numbers(node, record);
    if (values.size() != count)
      fail(record,
           fmt::format("{} numbers where there should be {}; the file is damaged or truncated", values.size(), count));
    return values;
  }

  /// A projector's table may end before the mesh if its own size attribute says so.
  std::vector<double> projector_column(const pugi::xml_node& node, const std::string& record, std::size_t most) const {
    if (!node.attribute("size")) return column(node, record, most);
    return column(
        node, record,
        static_cast<std::size_t>(whole(node, record, "size", static_cast<int>(fewest_nodes), static_cast<int>(most))));
  }

  void check_kind() const {
    const std::string kind = header().attribute("pseudo_type").value();
    detail::Words words(kind);
    const std::string type = lower(words.next());
    const bool ultrasoft = flag("is_ultrasoft") || type == "us" || type == "uspp",
               paw = flag("is_paw") || type == "paw";
    if (ultrasoft || paw)
      fail("PP_HEADER", fmt::format("this is {} data set; a norm-conserving pseudopotential is needed (pseudo_type NC)",
                                    paw ? "a PAW" : "an ultrasoft"));
    if (flag("is_coulomb")) fail("PP_HEADER", "this is the bare Coulomb potential; a pseudopotential is needed");
    if (type != "nc" && type != "sl")
      fail("PP_HEADER", fmt::format("pseudo_type is {}; NC or SL (norm-conserving) expected", detail::shown(kind)));
    if (flag("has_so"))
      fail("PP_HEADER", "the pseudopotential has spin-orbit coupling, which is not supported; take the scalar one");
    if (flag("core_correction") || root_.child("PP_NLCC"))
      fail("PP_HEADER",
           "the pseudopotential has a nonlinear core correction, which is not supported; take one without");
  }

  void read_mesh(detail::Tabulated& table) const {
    table.r = numbers(child(child(root_, "PP_MESH"), "PP_R"), "PP_R");
    const auto& r = table.r;
    if (r.size() < fewest_nodes) fail("PP_R", fmt::format("{} radii; at least {} expected", r.size(), fewest_nodes));
    for (std::size_t i = 0; i < r.size(); ++i)
      if (!(r[i] >= 0) || r[i] > 1e4 || (i > 0 && !(r[i] > r[i - 1])))
        fail("PP_R", fmt::format("radius {} is {:g} bohr; increasing radii from 0 on expected", i + 1, r[i]));
    if (r[0] > 0.1) fail("PP_R", fmt::format("the radii begin at {:g} bohr, far from the nucleus", r[0]));
    if (header().attribute("mesh_size"))
      if (const int size = whole(header(), "PP_HEADER", "mesh_size", 1, 1 << 24);
          static_cast<std::size_t>(size) != r.size())
        fail("PP_R",
             fmt::format("{} radii where the header says {}; the file is damaged or truncated", r.size(), size));
  }

  void read_local(detail::Tabulated& table) const {
    table.local = column(child(root_, "PP_LOCAL"), "PP_LOCAL", table.r.size());
    for (double& v : table.local) v *= 0.5;
    const double tail = table.r.back() * table.local.back() + table.valence;
    if (std::abs(tail) > detail::largest_tail)
      fail("PP_LOCAL",
           fmt::format("the last value, {:g} hartree at {:g} bohr, is not -Z/r with Z = {:g}; the table is cut "
                       "short or damaged",
                       table.local.back(), table.r.back(), table.valence));
  }

  void read_projectors(detail::Tabulated& table) const {
    const int count = whole(header(), "PP_HEADER", "number_of_proj", 0, most_projectors);
    if (count == 0) return;
    const auto nonlocal = child(root_, "PP_NONLOCAL");
    for (int n = 1; n <= count; ++n) {
      const std::string record = fmt::format("PP_BETA.{}", n);
      const auto node = child(nonlocal, record);
      const int l = whole(node, record, "angular_momentum", 0, detail::largest_tabulated_l);
      auto values = projector_column(node, record, table.r.size());
      std::size_t end = values.size();
      if (node.attribute("cutoff_radius_index"))
        if (const int index = whole(node, record, "cutoff_radius_index", 0, 1 << 24); index > 0)
          end = std::min(end, static_cast<std::size_t>(index));
      double largest = 0;
      for (std::size_t i = 0; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
      if (!(largest > 0)) fail(record, "all values are zero; the file is damaged");
      while (end > fewest_nodes && std::abs(values[end - 1]) <= projector_end * largest) --end;
      end = std::max(std::min(end + 1, values.size()), std::min(fewest_nodes, values.size()));
      values.resize(end);
      for (std::size_t i = 0; i < end; ++i) values[i] = table.r[i] > 0 ? values[i] / table.r[i] : 0.0;
      table.projectors.push_back({l, std::move(values)});
    }
    table.coupling = numbers(child(nonlocal, "PP_DIJ"), "PP_DIJ");
    const auto size = static_cast<std::size_t>(count);
    if (table.coupling.size() != size * size)
      fail("PP_DIJ", fmt::format("{} numbers; {} x {} expected", table.coupling.size(), count, count));
    double largest = 0;
    for (double& d : table.coupling) largest = std::max(largest, std::abs(d *= 0.5));
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const double d = table.coupling[i * size + j];
        if (std::abs(d - table.coupling[j * size + i]) > 1e-6 * largest)
          fail("PP_DIJ", fmt::format("the matrix is not symmetric at ({}, {})", i + 1, j + 1));
        if (table.projectors[i].l != table.projectors[j].l && std::abs(d) > 1e-10 * largest)
          fail("PP_DIJ",
               fmt::format("projectors {} and {} have different l and a coupling of {:g} hartree", i + 1, j + 1, d));
      }
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j) table.coupling[i * size + j] = table.coupling[j * size + i];
  }

  void read_density(detail::Tabulated& table) const {
    const auto node = root_.child("PP_RHOATOM");
    if (!node) return;
    auto values = column(node, "PP_RHOATOM", table.r.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = table.r[i] > 0 ? values[i] / (4 * std::numbers::pi * table.r[i] * table.r[i]) : 0.0;
    const bool empty = std::ranges::all_of(values, [](double n) { return n <= 0; });
    if (!empty) table.density = std::move(values);
  }

  std::string path_;
  pugi::xml_document document_;
  pugi::xml_node root_;
};

}  // namespace

std::shared_ptr<const Pseudopotential> read_upf(const std::string& path) {
  auto pseudopotential = detail::make_tabulated(UpfReader(path).read());
  detail::require_finite(*pseudopotential, path);
  return pseudopotential;
}

}  // namespace halocline::tddft
