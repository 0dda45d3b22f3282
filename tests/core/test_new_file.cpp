// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/new_file.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace halocline::core;

namespace {

/// A new folder, removed at the end.
class Folder {
public:
  Folder() : path_((std::filesystem::temp_directory_path() / "halocline-new-file-XXXXXX").string()) {
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.insert(entry.path().filename());
    return found;
  }

private:
  std::string path_;
};

void write(const std::string& path, std::chrono::minutes age = std::chrono::minutes(0)) {
  std::ofstream(path) << "half";
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("new file: every partial file has a name of its own, beside the file") {
  const Folder folder;
  std::set<std::string> names;
  for (int i = 0; i < 20; ++i) {
    const NewPartial made = create_partial(folder / "a");
    REQUIRE(made.number >= 0);
    names.insert(partial_name(folder / "a", made.digits));
    CHECK(std::filesystem::is_regular_file(partial_name(folder / "a", made.digits)));
    ::close(made.number);
  }
  CHECK(names.size() == 20);
  CHECK(folder.names().size() == 20);
}

TEST_CASE("new file: another process that opens it writes into the same one, and follows no link") {
  const Folder folder;
  const NewPartial made = create_partial(folder / "a");
  const int other = open_partial(folder / "a", made.digits);
  REQUIRE(other >= 0);
  struct stat mine{}, theirs{};
  CHECK(::fstat(made.number, &mine) == 0);
  CHECK(::fstat(other, &theirs) == 0);
  CHECK(mine.st_ino == theirs.st_ino);
  ::close(other);
  ::close(made.number);
  std::filesystem::remove(partial_name(folder / "a", made.digits));
  write(folder / "precious");
  std::filesystem::create_symlink(folder / "precious", partial_name(folder / "a", made.digits));
  CHECK(open_partial(folder / "a", made.digits) == -1);
}

TEST_CASE("new file: partial files are removed when they are old and nobody has them") {
  const Folder folder;
  write(folder / "a.00000001.partial", std::chrono::minutes(11));
  write(folder / "a.00000002.partial", std::chrono::minutes(9));
  write(folder / "a.00000003.partial", std::chrono::minutes(11));
  write(folder / "b.00000001.partial", std::chrono::minutes(11));
  write(folder / "a.0000000G.partial", std::chrono::minutes(11));
  write(folder / "a", std::chrono::minutes(11));
  std::filesystem::create_symlink(folder / "a", folder / "a.00000004.partial");
  REQUIRE(::mkfifo((folder / "a.00000005.partial").c_str(), 0600) == 0);
  const int holder = ::open((folder / "a.00000003.partial").c_str(), O_RDWR);
  REQUIRE(::flock(holder, LOCK_EX) == 0);
  const NewPartial made = create_partial(folder / "a");
  const std::string created = std::filesystem::path(partial_name(folder / "a", made.digits)).filename();
  CHECK(folder.names() == std::set<std::string>{"a", "a.00000002.partial", "a.00000003.partial", "a.00000004.partial",
                                                "a.00000005.partial", "a.0000000G.partial", "b.00000001.partial",
                                                created});
  ::close(made.number);
  ::close(holder);
}

TEST_CASE("new file: a name as long as names can be has a partial file") {
  const Folder folder;
  const NewPartial made = create_partial(folder / std::string(255, 'n'));
  CHECK(made.number >= 0);
  ::close(made.number);
}

TEST_CASE("new file: a folder that is not there gives the reason") {
  const Folder folder;
  CHECK(create_partial(folder / "absent/a").number == -1);
  CHECK(errno == ENOENT);
}
