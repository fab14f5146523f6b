#include "gateway/compat/mcp/file_tools.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr TextRule kPath{1, 4095};
constexpr int64_t kLargestOffset = int64_t{1} << 50;
constexpr const char* kEntriesAtOnce = "100";

constexpr std::string_view kEntry = R"({"type": "object", "properties": {
  "name": {"type": "string"}, "path": {"type": "string"},
  "type": {"type": "string", "enum": ["file", "directory", "symlink", "other"]},
  "size": {"type": "integer"}, "mode": {"type": "string"}, "modified_at": {"type": "string"}},
  "required": ["name", "path", "type", "size"]})";

Plan plan_read(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_in(arguments, Target::own, http::Method::get, "/files");
  plan.query = {{"path", arguments.text("path", kPath)}};
  plan.offset = static_cast<uint64_t>(arguments->integer("offset", 0, kLargestOffset).value_or(0));
  arguments.finish();
  return plan;
}

Json show_read(const Answer& answer, const Plan& plan) {
  std::string_view bytes = answer.bytes;
  if (answer.cut) bytes = without_cut_character(bytes);
  const bool is_text = is_utf8(bytes);
  if (!is_text) bytes = answer.bytes;
  Json shown{{"path", answer.entry.value("path", Json(""))},
             {"size", answer.entry.value("size", Json(0))},
             {"offset", plan.offset},
             {"truncated", answer.cut}};
  shown[is_text ? "text" : "base64"] = is_text ? std::string(bytes) : base64_encode(bytes);
  if (answer.cut) shown["next_offset"] = plan.offset + bytes.size();
  return shown;
}

// Not read by text(), which restricts characters: content may contain NUL.
std::string content_of(ArgumentReader& arguments) {
  arguments->require("content");
  const Json* content = arguments->any("content");
  if (content && content->is_string()) return content->get<std::string>();
  if (content && !content->is_null()) arguments->problem("content", "must be a string");
  return "";
}

Plan plan_write(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_in(arguments, Target::own, http::Method::put, "/files");
  plan.query = {{"path", arguments.text("path", kPath)}};
  std::string content = content_of(arguments);
  if (arguments->word("encoding", {"text", "base64"}) == "base64") {
    auto bytes = base64_decode(content);
    if (!bytes) arguments->problem("content", "is not base64");
    content = std::move(bytes).value_or("");
  }
  arguments.finish();
  plan.bytes = std::move(content);
  return plan;
}

Json show_written(const Answer& answer, const Plan&) { return {{"file", answer.json}}; }

Plan plan_entries(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_in(arguments, Target::own, http::Method::get, "/files/list");
  plan.query = {{"path", arguments->text("path", {0, kPath.max}).value_or("")},
                {"limit", kEntriesAtOnce}};
  if (auto cursor = arguments->text("cursor", {0, 8192}); cursor && !cursor->empty())
    plan.query.emplace_back("cursor", std::move(*cursor));
  arguments.finish();
  return plan;
}

Json show_entries(const Answer& answer, const Plan&) {
  return {{"entries", answer.json.at("items")}, {"next_cursor", answer.json.at("next_cursor")}};
}

// Not read-only: a call without sandbox_id may create the session's sandbox.
Json looks() {
  return {{"readOnlyHint", false},
          {"destructiveHint", false},
          {"idempotentHint", true},
          {"openWorldHint", false}};
}

}  // namespace

Tool read_file_tool() {
  return {.name = "read_file",
          .title = "Read a file",
          .description =
              "Reads a file of a sandbox, at most 128 KiB at once: truncated says that "
              "there is more, from next_offset on. What is not text comes as base64.",
          .input = arguments_schema(Target::own, R"({"path": {"type": "string"},
            "offset": {"type": "integer", "minimum": 0, "description": "Of the first byte."}})",
                                    {"path"}),
          .output = result_schema(Target::own, R"({"path": {"type": "string"},
            "size": {"type": "integer"}, "offset": {"type": "integer"},
            "text": {"type": "string"}, "base64": {"type": "string"},
            "truncated": {"type": "boolean"}, "next_offset": {"type": "integer"}})",
                                  {"path", "size", "offset", "truncated"}),
          .hints = looks(),
          .plan = plan_read,
          .show = show_read};
}

Tool write_file_tool() {
  return {
      .name = "write_file",
      .title = "Write a file",
      .description =
          "Writes a whole file in a sandbox, in place of one that is there. Folders "
          "on the way are made.",
      .input = arguments_schema(Target::own, R"({"path": {"type": "string"},
            "content": {"type": "string"}, "encoding": {"type": "string",
            "enum": ["text", "base64"], "description": "Of content; text if left out."}})",
                                {"path", "content"}),
      .output = result_schema(Target::own, R"({"file": )" + std::string(kEntry) + "}", {"file"}),
      .hints = {{"readOnlyHint", false},
                {"destructiveHint", true},
                {"idempotentHint", true},
                {"openWorldHint", false}},
      .plan = plan_write,
      .show = show_written};
}

Tool list_files_tool() {
  return {
      .name = "list_files",
      .title = "List a folder",
      .description = "Lists what is in a folder of a sandbox, 100 entries at once.",
      .input = arguments_schema(Target::own, R"({"path": {"type": "string", "description":
            "The home of the sandbox's user if left out."}, "cursor": {"type": "string",
            "description": "next_cursor of the list before."}})",
                                {}),
      .output = result_schema(Target::own,
                              R"({"entries": {"type": "array", "items": )" + std::string(kEntry) +
                                  R"(}, "next_cursor": {"type": ["string", "null"]}})",
                              {"entries", "next_cursor"}),
      .hints = looks(),
      .plan = plan_entries,
      .show = show_entries};
}

}  // namespace sandgate::compat::mcp
