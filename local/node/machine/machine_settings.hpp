#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/node/machine/probe.hpp"

namespace sandgate {

// A setting of the whole machine by which one sandbox could harm all others, so that a node changes
// it at its start. It is never changed back.
class MachineSetting {
 public:
  struct Definition {
    std::string name;  // of its check by `sandgate doctor`
    std::string sysctl;
    // What to write in place of `value`; empty: that does no harm.
    std::optional<std::string> (*remedy)(const std::string& value);
    std::string advice;  // the value for an operator's sysctl -w
    // What doctor says of it: that it does no harm; that it does until a node begins; that it does.
    std::string harmless, until_a_node, harmful;
    // What the node logs.
    std::string changed, refused;
    std::string not_needed = "";  // why no value of it does harm here; empty: some may
  };
  enum class Outcome { no_need, changed, refused };

  MachineSetting(Definition definition, std::string path)
      : definition_(std::move(definition)), path_(std::move(path)) {}

  Outcome change() const;
  void change_and_log() const;
  ProbeResult probe() const;

 private:
  std::optional<std::string> remedy() const;

  const Definition definition_;
  const std::string path_;
};

// All of them. `own_timestamps`: network namespaces have their own setting of transmit timestamps.
// `proc` is the mount point of procfs.
std::vector<MachineSetting> machine_settings(bool own_timestamps,
                                             const std::string& proc = "/proc");

// Changes those that need it, and logs that. Both fork, so call them before threads start.
void change_machine_settings();
std::vector<ProbeResult> probe_machine_settings();

}  // namespace sandgate
