#include "gateway/app/doctor.hpp"

#include <iostream>

#include "gateway/app/node_settings.hpp"
#include "gateway/core/durable_journal.hpp"
#include "local/node/machine/probe.hpp"

namespace sandgate {
namespace {

// Checks for records that wait in the outage journal for the database.
ProbeResult probe_outage_journal(const std::string& path) {
  ProbeResult result{.name = "outage journal", .ok = true, .detail = "nothing waits"};
  try {
    const auto found = DurableJournal::inspect(path);
    if (found && found->damaged > 0) {
      result.ok = false;
      result.detail = "a part of it cannot be read";
      result.fix = "nothing brings it back; the gateway reads the rest and keeps a copy";
      return result;
    }
    if (found && found->records > 0) {
      result.ok = false;
      result.detail = (found->records == 1
                           ? "1 record of an ended sandbox waits"
                           : std::to_string(found->records) + " records of ended sandboxes wait") +
                      " for the database";
      result.fix = "start the database; the gateway then writes them by itself";
    }
  } catch (const Error& error) {
    result.ok = false;
    result.detail = error.what();
    result.fix = "move " + path + " away after a look at it";
  }
  return result;
}

}  // namespace

int doctor(const Config& config, bool as_json) {
  auto results = probe_machine(node_settings(config));
  results.push_back(probe_outage_journal(config.outage_journal()));
  bool usable = true;
  Json list = Json::array();
  for (const ProbeResult& result : results) {
    usable = usable && (result.ok || !result.required);
    list.push_back(to_json(result));
    if (as_json) continue;
    std::cout << (result.ok         ? "ok       "
                  : result.required ? "MISSING  "
                                    : "limited  ")
              << result.name << ": " << result.detail << "\n";
    if (!result.ok && !result.fix.empty()) std::cout << "         fix: " << result.fix << "\n";
  }
  if (as_json)
    std::cout << Json{{"usable", usable}, {"checks", list}}.dump(2) << "\n";
  else
    std::cout << (usable ? "this machine can run sandboxes\n"
                         : "this machine cannot run sandboxes yet\n");
  return usable ? 0 : 1;
}

}  // namespace sandgate
