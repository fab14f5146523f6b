#include "tests/support/run.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace sandgate::test {

TempDirectory::TempDirectory() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base ? base : "/tmp") + "/sandgate-test-XXXXXX";
  if (!mkdtemp(path_.data())) throw std::runtime_error("mkdtemp failed for " + path_);
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sandgate::test
