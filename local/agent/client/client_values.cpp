#include "local/agent/client/client_values.hpp"

#include "local/agent/client/client_connection.hpp"

namespace sandgate::agent {
namespace {

// Each byte of a 4096-byte name may have been replaced by the 3 bytes of U+FFFD.
constexpr size_t kMaxText = 64 * 1024;  // as an item of the agent
constexpr int64_t kMaxMillis = int64_t{1} << 53;
constexpr int64_t kMinMicros = -62'135'596'800'000'000, kMaxMicros = 253'402'300'800'000'000;

ProcessExit read_exit(const Json& document, Problems& problems) {
  ObjectReader reader(document, problems);
  for (const char* member : {"exit_code", "signal", "timed_out", "duration_ms"})
    reader.require(member);
  ProcessExit exit;
  exit.exit_code = static_cast<int>(reader.integer("exit_code", 0, 255).value_or(0));
  exit.signal = reader.text("signal", {.max = 32}).value_or("");
  exit.timed_out = reader.boolean("timed_out").value_or(false);
  exit.duration =
      std::chrono::milliseconds(reader.integer("duration_ms", 0, kMaxMillis).value_or(0));
  return exit;
}

Time read_time(ObjectReader& reader, const char* member) {
  return from_micros(reader.integer(member, kMinMicros, kMaxMicros).value_or(0));
}

}  // namespace

FileEntry to_file_entry(const Json& document) {
  return checked([&] {
    Problems problems;
    ObjectReader reader(document, problems);
    for (const char* member : {"name", "path", "type", "size", "mode", "modified_at"})
      reader.require(member);
    FileEntry entry;
    entry.name = reader.text("name", {.min = 1, .max = kMaxText}).value_or("");
    entry.path = reader.text("path", {.min = 1, .max = kMaxText}).value_or("");
    entry.type = reader.word("type", kFileTypeWords).value_or(FileType::other);
    entry.size = static_cast<uint64_t>(reader.integer("size", 0, INT64_MAX).value_or(0));
    entry.mode = static_cast<uint32_t>(reader.integer("mode", 0, 07777).value_or(0));
    entry.modified_at = read_time(reader, "modified_at");
    entry.target = reader.text("target", {.max = kMaxText});
    entry.revision = reader.text("revision", {.max = 64}).value_or("");
    problems.throw_if_any();
    return entry;
  });
}

ProcessExit to_process_exit(const Json& document) {
  return checked([&] {
    Problems problems;
    const ProcessExit exit = read_exit(document, problems);
    problems.throw_if_any();
    return exit;
  });
}

ProcessInfo to_process_info(const Json& document) {
  return checked([&] {
    Problems problems;
    ObjectReader reader(document, problems);
    for (const char* member : {"id", "command", "started_at"}) reader.require(member);
    ProcessInfo info;
    info.id = reader.text("id", {.min = 1, .max = 64}).value_or("");
    info.command = reader.texts("command", 4096, {.max = kMaxText}).value_or(info.command);
    info.pty = reader.boolean("pty").value_or(false);
    info.background = reader.boolean("background").value_or(false);
    info.started_at = read_time(reader, "started_at");
    if (const Json* exit = reader.object("exit")) {
      info.state = ProcessState::exited;
      info.exit = read_exit(*exit, problems);
      info.ended_at = read_time(reader, "ended_at");
    }
    problems.throw_if_any();
    return info;
  });
}

FileChange to_file_change(const Json& document) {
  return checked([&] {
    Problems problems;
    ObjectReader reader(document, problems);
    FileChange change;
    const auto kind = reader.word("kind", kFileChangeKindWords);
    change.path = reader.text("path", {.max = kMaxText}).value_or("");
    change.from = reader.text("from", {.max = kMaxText}).value_or("");
    // Agents of earlier releases tell no type.
    const bool directory = reader.boolean("directory").value_or(false);
    change.type = reader.word("type", kFileTypeWords)
                      .value_or(directory ? FileType::directory : FileType::file);
    problems.throw_if_any();
    if (!kind) throw Error(ErrorCode::invalid, "a change without a kind");
    change.kind = *kind;
    return change;
  });
}

}  // namespace sandgate::agent
