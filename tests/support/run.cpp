#include "tests/support/run.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace sandgate::test {
namespace {

struct IdleLoops {
  std::mutex mutex;
  std::vector<asio::io_context*> loops;
};

IdleLoops& idle_loops() {
  static auto& idle = *new IdleLoops;
  return idle;
}

}  // namespace

BorrowedLoop::BorrowedLoop() {
  IdleLoops& idle = idle_loops();
  std::lock_guard lock(idle.mutex);
  if (idle.loops.empty()) {
    loop_ = new asio::io_context;
    return;
  }
  loop_ = idle.loops.back();
  idle.loops.pop_back();
  loop_->restart();
}

BorrowedLoop::~BorrowedLoop() {
  IdleLoops& idle = idle_loops();
  std::lock_guard lock(idle.mutex);
  idle.loops.push_back(loop_);
}

TempDirectory::TempDirectory(const std::string& parent) {
  const char* usual = std::getenv("TMPDIR");
  const std::string chosen_by_mkdtemp(6, 'X');
  path_ = parent.empty() ? usual ? usual : "/tmp" : parent;
  path_ += "/sandgate-test-" + chosen_by_mkdtemp;
  if (!mkdtemp(path_.data())) throw std::runtime_error("mkdtemp failed for " + path_);
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sandgate::test
