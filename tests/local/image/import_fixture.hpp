#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "local/image/import.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

// Imports images into a store of its own.
class ImportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: the root directory is changed to unpack";
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  ImageStore& store() { return store_; }

  ImageInfo imported(const std::vector<std::string>& layers, const Json& config = Json::object()) {
    const std::string layout = path("layout" + std::to_string(++layouts_));
    write_layout(layout, layers, config);
    return import_image(store_, "probe", layout, [](std::string_view) {});
  }
  // What the refusal says; empty when there was none.
  std::string refusal(const std::vector<Member>& members) {
    try {
      imported({tar_of(members)});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string tree(const ImageInfo& image) const {
    return path("store/trees/") + image.digest.substr(7);
  }
  static std::string text(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> collected(const std::set<std::string>& used = {}) {
    return store_.collect([&] { return used; });
  }
  bool nothing_left() const { return std::filesystem::is_empty(path("store/drafts")); }

 private:
  TempDirectory directory_;
  ImageStore store_{directory_.path() + "/store"};
  int layouts_ = 0;
};

}  // namespace sandgate::test
