// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/upf.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/finite.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"
#include "halocline/tddft/pseudopotential/detail/upf_content.hpp"
#include "halocline/tddft/pseudopotential/detail/upf_version_1.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace halocline::tddft {

namespace {

using detail::UpfContent;

/// Version 2: XML.
class UpfReader {
public:
  UpfReader(const std::string& path, std::string text) : path_(path) {
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

  UpfContent read() const {
    UpfContent content;
    read_kind(content);
    detail::require_norm_conserving(content, path_);
    content.element = header().attribute("element").value();
    content.functional = header().attribute("functional").value();
    content.valence = attribute(header(), "PP_HEADER", "z_valence");
    content.r = numbers(child(child(root_, "PP_MESH"), "PP_R"), "PP_R");
    const std::size_t nodes = content.r.size();
    if (header().attribute("mesh_size"))
      if (const int size = whole(header(), "PP_HEADER", "mesh_size", 1, 1 << 24);
          static_cast<std::size_t>(size) != nodes)
        fail("PP_R", fmt::format("{} radii where the header says {}; the file is damaged or truncated", nodes, size));
    content.local = numbers(child(root_, "PP_LOCAL"), "PP_LOCAL");
    read_nonlocal(content);
    if (const auto node = root_.child("PP_RHOATOM")) content.density = numbers(node, "PP_RHOATOM");
    // A record without the flag is not used, as in Quantum ESPRESSO.
    if (content.core_correction) content.core = numbers(child(root_, "PP_NLCC"), "PP_NLCC");
    return content;
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
    const std::string value = detail::lower(header().attribute(name).value());
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
    return detail::upf_numbers(text, record, path_);
  }

  void read_kind(UpfContent& content) const {
    detail::Words type(header().attribute("pseudo_type").value());
    content.type = type.next();
    content.ultrasoft = flag("is_ultrasoft");
    content.paw = flag("is_paw");
    content.coulomb = flag("is_coulomb");
    content.spin_orbit = flag("has_so");
    content.core_correction = flag("core_correction");
  }

  void read_nonlocal(UpfContent& content) const {
    const int count = whole(header(), "PP_HEADER", "number_of_proj", 0, detail::most_upf_projectors);
    if (count == 0) return;
    const auto nonlocal = child(root_, "PP_NONLOCAL");
    for (int n = 1; n <= count; ++n) {
      const std::string record = fmt::format("PP_BETA.{}", n);
      const auto node = child(nonlocal, record);
      UpfContent::Projector projector{whole(node, record, "angular_momentum", 0, detail::largest_tabulated_l),
                                      numbers(node, record)};
      auto& values = projector.values;
      // A projector's table may end before the mesh if its own size attribute says so.
      std::size_t expected = content.r.size();
      if (node.attribute("size"))
        expected = static_cast<std::size_t>(whole(node, record, "size", static_cast<int>(detail::fewest_nodes),
                                                  static_cast<int>(std::max(expected, detail::fewest_nodes))));
      if (values.size() != expected)
        fail(record, fmt::format("{} numbers where there should be {}; the file is damaged or truncated", values.size(),
                                 expected));
      if (node.attribute("cutoff_radius_index"))
        if (const int index = whole(node, record, "cutoff_radius_index", 0, 1 << 24); index > 0)
          values.resize(std::min(values.size(), static_cast<std::size_t>(index)));
      content.projectors.push_back(std::move(projector));
    }
    content.coupling = numbers(child(nonlocal, "PP_DIJ"), "PP_DIJ");
  }

  const std::string& path_;
  pugi::xml_document document_;
  pugi::xml_node root_;
};

UpfContent content_of(const std::string& path) {
  std::string text = detail::read_text(path);
  if (text.find("<UPF") != std::string::npos) return UpfReader(path, std::move(text)).read();
  if (text.find("<PP_HEADER") != std::string::npos) return detail::read_upf_version_1(text, path);
  throw core::FileError(path, "", "there is neither a <UPF> element nor a <PP_HEADER>, so that this is no UPF file");
}

}  // namespace

std::shared_ptr<const Pseudopotential> read_upf(const std::string& path) {
  auto pseudopotential = detail::make_tabulated(detail::tabulated_of_upf(content_of(path), path));
  detail::require_finite(*pseudopotential, path);
  return pseudopotential;
}

}  // namespace halocline::tddft
