// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A file that exists as long as its object.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace halocline::tddft::test {

class ScratchFile {
public:
  explicit ScratchFile(std::string_view text) {
    static std::atomic<int> number{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("halocline-pseudo-" + std::to_string(::getpid()) + "-" + std::to_string(number++)))
                .string();
    write(text);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void write(std::string_view text) const {
    std::ofstream(path_, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  const std::string& path() const noexcept { return path_; }

private:
  std::string path_;
};

}  // namespace halocline::tddft::test
