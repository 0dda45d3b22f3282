// SPDX-License-Identifier: Apache-2.0
//
// The parts under the formats: checksums, XML, LIME, numbers in texts.

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/checksum.hpp"
#include "halocline/qcd/io/detail/file.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/xml.hpp"
#include "halocline/qcd/io/lime.hpp"
#include "qcd/io/io_helpers.hpp"

using namespace halocline;
using namespace halocline::qcd::io;

TEST_CASE("crc32: the check value of the polynomial, in one go and in any two parts") {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span<const char>(text));
  CHECK(crc32(bytes) == 0xcbf43926U);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    CHECK(crc32(bytes.subspan(cut), crc32(bytes.first(cut))) == 0xcbf43926U);
  CHECK(crc32({}) == 0);
  // Long enough for the eight-byte steps; bit by bit from the definition.
  std::string longer;
  for (int i = 0; i < 1000; ++i) longer += static_cast<char>(i * 37);
  std::uint32_t plain = 0xffffffffU;
  for (const char c : longer) {
    plain ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) plain = (plain >> 1) ^ (0xedb88320U & (0U - (plain & 1U)));
  }
  CHECK(crc32(std::as_bytes(std::span<const char>(longer))) == ~plain);
}

TEST_CASE("checksums: the sum of the parts is the sum of the whole") {
  std::array<std::byte, 144 * 40> data{};
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 + i / 7);
  const std::span<const std::byte> all(data);
  MilcChecksum whole;
  whole.add(0, all, true);
  NerscChecksum sum;
  sum.add(all);
  MilcChecksum parts;
  NerscChecksum sums;
  for (const std::size_t part : {2U, 0U, 3U, 1U}) {  // in any order
    parts.add(part * 36 * 10, all.subspan(part * 1440, 1440), true);
    sums.add(all.subspan(part * 1440, 1440));
  }
  CHECK(parts == whole);
  CHECK(sums.text(true) == sum.text(true));
  CHECK(sums.text(false) == sum.text(false));
  CHECK(sum.text(true) != sum.text(false));
}

TEST_CASE("xml: elements are found by name, through prefixes, attributes, comments and entities") {
  using detail::element_text;
  CHECK(element_text("<a><lx> 4\n</lx></a>", "lx") == "4");
  CHECK(element_text("<ildg:lx unit='site'>4</ildg:lx>", "lx") == "4");
  CHECK(element_text("<!-- <lx>5</lx> --><lx>4</lx>", "lx") == "4");
  CHECK(element_text("<t>a &lt; b &amp;amp;</t>", "t") == "a < b &amp;");
  CHECK(element_text("<lx/>", "lx") == "");
  CHECK(element_text("<lxx>4</lxx>", "lx") == std::nullopt);
  CHECK(element_text("<lx>4", "lx") == std::nullopt);
  CHECK(element_text("<lx", "lx") == std::nullopt);
  CHECK(element_text("", "lx") == std::nullopt);
  CHECK(element_text("<!-- <lx>4</lx>", "lx") == std::nullopt);
  const std::string words = "1 < 2 && 3 > 2";
  CHECK(element_text("<t>" + detail::escaped(words) + "</t>", "t") == words);
}

TEST_CASE("texts of files: fit for an error and for Python, whatever bytes they hold") {
  CHECK(detail::shown("two\nlines") == "two lines");
  CHECK(detail::shown(std::string(100, 'x')).size() == 60);
  CHECK(detail::valid_utf8("Gl\xc3\xbc\x63k \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "Gl\xc3\xbc\x63k \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(detail::valid_utf8("a\xff b") == "a? b");
  CHECK(detail::valid_utf8("\xc0\x80") == "??");            // overlong
  CHECK(detail::valid_utf8("\xed\xa0\x80") == "???");       // half of a surrogate pair
  CHECK(detail::valid_utf8("\xf4\x90\x80\x80") == "????");  // beyond the last code point
  CHECK(detail::valid_utf8("cut\xe2\x82") == "cut??");
}

TEST_CASE("numbers in texts: all of the text or nothing") {
  CHECK(detail::integer_of("12") == 12);
  CHECK(!detail::integer_of("12x"));
  CHECK(!detail::integer_of(""));
  CHECK(!detail::integer_of("99999999999999999999"));
  CHECK(detail::real_of("+1.5e-3") == 1.5e-3);
  CHECK(!detail::real_of("nan"));
  CHECK(!detail::real_of("1e999"));
  CHECK(detail::hexadecimal_of("8e3b6560") == 0x8e3b6560U);
  CHECK(detail::hexadecimal_of("0x10") == 16U);
  CHECK(!detail::hexadecimal_of("123456789"));
  CHECK(detail::last_digit_of("0.588") == doctest::Approx(5e-4));
  CHECK(detail::last_digit_of("0.588e-3") == doctest::Approx(5e-7));
  CHECK(detail::last_digit_of("2") == doctest::Approx(0.5));
}

TEST_CASE("lime: records come back as they went in") {
  const test::TemporaryFolder folder;
  std::string bytes;
  const auto append = [&](const std::vector<std::byte>& part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  append(lime_text_record("first", "seven77", true, false));
  append(lime_text_record("second", "", false, false));
  append(lime_text_record(std::string(200, 'n'), "eight888", false, true));
  CHECK(bytes.size() == 144 + 8 + 144 + 8 + 144 + 16);
  const detail::InputFile file(test::write_bytes(folder.file("lime"), bytes + "\n"));
  const auto records = lime_records(file);
  REQUIRE(records.size() == 3);
  CHECK(records[0].type == "first");
  CHECK(records[0].message_begin);
  CHECK(!records[0].message_end);
  CHECK(records[0].length == 8);
  CHECK(lime_text(file, records[0]) == "seven77");
  CHECK(lime_text(file, records[1]).empty());
  CHECK(records[2].type == std::string(127, 'n'));
  CHECK(records[2].message_end);
  CHECK(lime_text(file, records[2]) == "eight888");
}
