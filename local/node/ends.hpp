#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "local/namespaces/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// What sandboxes that were ended had counted, as of their end: for serve, which may have gone
// before it could write that down. On disk as a line each in one of two files, so that it outlives
// the node; the older half goes when the newer is full. Thread-safe.
class Ends {
 public:
  static constexpr size_t kHalf = 20'000;  // sandboxes; some hours of a busy machine

  // Reads what an earlier node left in `directory`, which is made.
  explicit Ends(std::string directory, size_t half = kHalf);

  // Kept once it returns. Throws Error(unavailable) when it cannot be.
  void remember(const std::string& sandbox, const SandboxMetrics& counted);
  std::optional<SandboxMetrics> find(const std::string& sandbox) const;

 private:
  using Counted = std::map<std::string, SandboxMetrics>;
  void begin_half();

  const std::string directory_;
  const size_t half_;
  mutable std::mutex mutex_;
  Counted newer_, older_;
  Fd file_;  // the newer half's
};

}  // namespace sandgate
