#include "local/node/machine/machine_share.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

struct Claim {
  fs::path file;
  std::string name, sandboxes;
  uint32_t id_base = 0;
  std::string wanted_name;  // as configured when the claim was made
  uint32_t wanted_base = 0;
  uint32_t id_ranges = NodeSettings().id_ranges;  // number of ranges from id_base on
};

Json to_json(const Claim& claim) {
  return {{"name", claim.name},
          {"sandboxes", claim.sandboxes},
          {"id_base", claim.id_base},
          {"wanted_name", claim.wanted_name},
          {"wanted_base", claim.wanted_base},
          {"id_ranges", claim.id_ranges}};
}

std::optional<Claim> read_claim(const fs::path& file) {
  const Json json =
      Json::parse(read_text_file(file).value_or(""), nullptr, /*allow_exceptions=*/false);
  try {
    Claim claim{file,
                json.at("name").get<std::string>(),
                json.at("sandboxes").get<std::string>(),
                json.at("id_base").get<uint32_t>(),
                json.at("wanted_name").get<std::string>(),
                json.at("wanted_base").get<uint32_t>()};
    claim.id_ranges = json.value("id_ranges", claim.id_ranges);
    return claim;
  } catch (const Json::exception&) {
    return std::nullopt;  // incomplete after a crash
  }
}

bool is_held(const fs::path& file) {
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return fd && flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

bool has_sandboxes(const Claim& claim) {
  std::error_code none;
  return fs::exists(claim.sandboxes, none) && !fs::is_empty(claim.sandboxes, none);
}

// Returns all valid claims and removes those whose node is gone without leaving sandboxes.
std::vector<Claim> standing_claims(const fs::path& directory) {
  std::vector<Claim> standing;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() != ".json") continue;
    const auto claim = read_claim(entry.path());
    if (claim && (is_held(entry.path()) || has_sandboxes(*claim)))
      standing.push_back(*claim);
    else
      fs::remove(entry.path());
  }
  return standing;
}

uint64_t span_of(uint32_t id_ranges) { return uint64_t{id_ranges} * kIdRange; }

uint32_t free_base(const NodeSettings& settings, const std::vector<Claim>& others) {
  const uint64_t span = span_of(settings.id_ranges);
  // Upwards from the configured base, then from the default base.
  for (const uint32_t first : {settings.id_base, NodeSettings{}.id_base}) {
    for (uint64_t base = first; base + span <= UINT32_MAX; base += span) {
      const auto taken = [&](const Claim& claim) {
        return base < claim.id_base + span_of(claim.id_ranges) && claim.id_base < base + span;
      };
      if (std::ranges::none_of(others, taken)) return static_cast<uint32_t>(base);
    }
  }
  throw Error(ErrorCode::no_capacity, "other nodes of this machine have every span of user ids");
}

std::string free_name(const NodeSettings& settings, const std::vector<Claim>& others) {
  std::string name = settings.name;
  const auto taken = [&](const Claim& claim) { return claim.name == name; };
  for (int number = 2; std::ranges::any_of(others, taken); ++number)
    name = settings.name + "-" + std::to_string(number);
  return name;
}

Fd open_locked(const fs::path& file) {
  Fd fd = check_fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open claim");
  check(flock(fd.get(), LOCK_EX), "lock claim");
  return fd;
}

}  // namespace

MachineShare claim_share(const NodeSettings& settings, const std::string& directory) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  if (failure) throw StepError("make directory for claims", failure.value());
  const Fd turn = open_locked(fs::path(directory) / "lock");
  std::vector<Claim> others = standing_claims(directory);
  Claim mine{.name = "",
             // The last component is not resolved: it may be a symlink to a changing target.
             .sandboxes = fs::weakly_canonical(settings.run_dir) /
                          fs::path(sandboxes_dir(settings)).filename(),
             .wanted_name = settings.name,
             .wanted_base = settings.id_base,
             .id_ranges = settings.id_ranges};
  // Several, when settings were changed: what began with the former ones may still run.
  const auto own = std::ranges::partition(
      others, [&](const Claim& claim) { return claim.sandboxes != mine.sandboxes; });
  const auto same = std::ranges::find_if(own, [&](const Claim& claim) {
    return claim.wanted_name == mine.wanted_name && claim.wanted_base == mine.wanted_base &&
           claim.id_ranges == mine.id_ranges;
  });
  const bool is_known = same != own.end();
  if (is_known) mine = *same;
  others.erase(own.begin(), own.end());
  if (!is_known) {
    mine.name = free_name(settings, others);
    mine.id_base = free_base(settings, others);
  }
  mine.file = fs::path(directory) / (std::to_string(mine.id_base) + ".json");
  Fd claim = open_locked(mine.file);
  const std::string text = to_json(mine).dump();
  check(ftruncate(claim.get(), 0), "write claim");
  check(pwrite(claim.get(), text.data(), text.size(), 0), "write claim");
  if (mine.name != settings.name || mine.id_base != settings.id_base)
    log::info("another node has the configured share of this machine",
              {{"name", mine.name}, {"uid_base", mine.id_base}});
  return {mine.name, mine.id_base, std::move(claim)};
}

}  // namespace sandgate
