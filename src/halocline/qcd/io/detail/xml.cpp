// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/xml.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace halocline::qcd::io::detail {

namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> entities{
    {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};

std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    bool replaced = false;
    for (const auto& [entity, character] : entities) {
      if (!text.starts_with(entity)) continue;
      out += character;
      text.remove_prefix(entity.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

/// Length of the UTF-8 sequence at the front, 0 when it is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 1;
  unsigned code = lead;
  if (lead >= 0xf0 && lead < 0xf8) {
    length = 4;
    code = lead & 0x07U;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    length = 3;
    code = lead & 0x0fU;
  } else if (lead >= 0xc0 && lead < 0xe0) {
    length = 2;
    code = lead & 0x1fU;
  } else if (lead >= 0x80) {
    return 0;
  }
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<unsigned, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < smallest[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

/// "p:name attributes" -> "name"
std::string_view local_name(std::string_view tag) {
  tag = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  const auto colon = tag.rfind(':');
  return colon == std::string_view::npos ? tag : tag.substr(colon + 1);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank(" \t\r\n\0", 5);
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::optional<std::string> element_text(std::string_view xml, std::string_view name) {
  std::size_t at = 0;
  std::size_t begin = std::string_view::npos;  // of the text, once the opening tag was found
  while ((at = xml.find('<', at)) != std::string_view::npos) {
    if (xml.substr(at).starts_with("<!--")) {
      at = xml.find("-->", at);
      if (at == std::string_view::npos) return std::nullopt;
      continue;
    }
    const auto end = xml.find('>', at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (begin == std::string_view::npos) {
      if (local_name(tag) == name) {
        if (tag.ends_with('/')) return std::string();
        begin = end + 1;
      }
    } else if (tag.starts_with('/') && local_name(tag.substr(1)) == name) {
      return unescaped(trimmed(xml.substr(begin, at - begin)));
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::string valid_utf8(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(std::string_view(text).substr(at));
    if (length == 0) {
      std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; }, '?');
      break;
    }
    at += length;
  }
  return text;
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return valid_utf8(std::move(out));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

}  // namespace halocline::qcd::io::detail
