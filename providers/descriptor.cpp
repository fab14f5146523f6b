#include "providers/descriptor.hpp"

#include "gateway/core/json_reader.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxNote = 500;

constexpr Words kControlWords(
    {Word{Control::network_deny, "network_deny"}, Word{Control::network_allow, "network_allow"},
     Word{Control::network_rules, "network_rules"},
     Word{Control::secret_injection, "secret_injection"}, Word{Control::allow_root, "allow_root"},
     Word{Control::allow_debug, "allow_debug"}, Word{Control::host_workspace, "host_workspace"},
     Word{Control::cpu_limit, "cpu_limit"}, Word{Control::memory_limit, "memory_limit"},
     Word{Control::process_limit, "process_limit"}, Word{Control::disk_limit, "disk_limit"}});
constexpr Words kVerbWords({Word{Verb::exec, "exec"}, Word{Verb::background, "background"},
                            Word{Verb::stdin_, "stdin"}, Word{Verb::signal, "signal"},
                            Word{Verb::files, "files"}, Word{Verb::archive, "archive"},
                            Word{Verb::watch, "watch"}, Word{Verb::pty, "pty"},
                            Word{Verb::ports, "ports"}, Word{Verb::pause, "pause"},
                            Word{Verb::snapshot, "snapshot"}, Word{Verb::fork, "fork"},
                            Word{Verb::metrics, "metrics"}});
constexpr Words kKeepsWords({Word{Keeps::nothing, "nothing"}, Word{Keeps::disk, "disk"},
                             Word{Keeps::memory, "memory"}});

// Reads a word of a remote descriptor; adds a problem if it is unknown.
template <class E, size_t N>
std::optional<E> read_word(const Words<E, N>& words, const Json& item, std::string path,
                           Problems& problems) {
  const auto value =
      item.is_string() ? words.find(item.get_ref<const std::string&>()) : std::nullopt;
  if (!value) problems.add(std::move(path), "is not a known word");
  return value;
}

}  // namespace

std::string_view to_string(Isolation isolation) { return kIsolationWords.of(isolation); }
std::string_view to_string(Persistence persistence) { return kPersistenceWords.of(persistence); }
std::string_view to_string(Verb verb) { return kVerbWords.of(verb); }
std::string_view to_string(Keeps keeps) { return kKeepsWords.of(keeps); }
std::string_view to_string(Control control) { return kControlWords.of(control); }
std::optional<Isolation> isolation_from(std::string_view text) {
  return kIsolationWords.find(text);
}
std::optional<Persistence> persistence_from(std::string_view text) {
  return kPersistenceWords.find(text);
}
std::optional<Keeps> keeps_from(std::string_view text) { return kKeepsWords.find(text); }
std::optional<Verb> verb_from(std::string_view text) { return kVerbWords.find(text); }

nlohmann::json to_json(const Descriptor& descriptor) {
  Json persistence = Json::array(), verbs = Json::object(), controls = Json::array();
  for (const auto kind : descriptor.persistence) persistence.push_back(to_string(kind));
  for (const auto& [verb, keeps] : descriptor.verbs)
    verbs[std::string(to_string(verb))] = to_string(keeps);
  for (const auto control : descriptor.controls) controls.push_back(to_string(control));
  const auto& limits = descriptor.limits;
  return {{"provider", descriptor.provider},
          {"isolation", to_string(descriptor.isolation)},
          {"persistence", persistence},
          {"verbs", verbs},
          {"controls", controls},
          {"limits",
           {{"vcpu", static_cast<double>(limits.max_milli_vcpu) / 1000},
            {"memory_mib", limits.max_memory_mib},
            {"disk_gib", limits.max_disk_gib},
            {"ttl_seconds", limits.max_ttl_seconds}}},
          {"regions", descriptor.regions},
          {"images", descriptor.images},
          {"notes", descriptor.notes}};
}

namespace {

std::vector<std::string> read_notes(const Json* list) {
  std::vector<std::string> notes;
  if (list == nullptr) return notes;
  for (const Json& item : *list) {
    if (!item.is_string()) continue;
    const std::string_view note = item.get_ref<const std::string&>();
    notes.emplace_back(without_cut_character(note.substr(0, kMaxNote)));
  }
  return notes;
}

}  // namespace

Descriptor descriptor_from_json(const nlohmann::json& document) {
  Problems problems;
  Descriptor result;
  ObjectReader reader(document, problems);
  result.provider = reader.text("provider").value_or("");
  if (const auto text = reader.text("isolation"); text && isolation_from(*text))
    result.isolation = *isolation_from(*text);
  else
    reader.problem("isolation", "is required and must be a known isolation");
  if (const Json* list = reader.array("persistence", 8)) {
    result.persistence.clear();
    for (const Json& item : *list)
      if (const auto kind = read_word(kPersistenceWords, item, "/persistence", problems))
        result.persistence.insert(*kind);
  }
  if (const Json* verbs = reader.object("verbs"))
    for (const auto& [name, keeps] : verbs->items())
      // Verbs of a newer version are skipped, since an unknown verb is merely not used.
      if (const auto verb = verb_from(name))
        if (const auto kept = read_word(kKeepsWords, keeps, "/verbs/" + name, problems))
          result.verbs[*verb] = *kept;
  result.notes = read_notes(reader.array("notes", 64));
  if (const Json* list = reader.array("controls", 64))
    for (const Json& item : *list)
      if (item.is_string())
        if (const auto control = kControlWords.find(item.get_ref<const std::string&>()))
          result.controls.insert(*control);
  if (const Json* object = reader.object("limits")) {
    ObjectReader limits(*object, problems, "/limits");
    result.limits.max_milli_vcpu = limits.quarter_steps("vcpu", 0, 1'000'000).value_or(0);
    result.limits.max_memory_mib = limits.integer("memory_mib", 0, 1 << 30).value_or(0);
    result.limits.max_disk_gib = limits.integer("disk_gib", 0, 1 << 30).value_or(0);
    result.limits.max_ttl_seconds = limits.integer("ttl_seconds", 0, INT32_MAX).value_or(0);
  }
  result.regions = reader.texts("regions", 64).value_or(std::vector<std::string>{});
  const auto images = reader.texts("images", 1000).value_or(std::vector<std::string>{});
  result.images = {images.begin(), images.end()};
  problems.throw_if_any();
  return result;
}

}  // namespace sandgate
