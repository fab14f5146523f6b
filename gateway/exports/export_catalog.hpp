#pragma once
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"
#include "gateway/exports/exporter.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate {

using ExportSecrets = std::map<std::string, Secret>;

// Parts of an exporter. `http` and `clock` must outlive it.
struct ExporterParts {
  HttpClient& http;
  const Clock& clock;
  std::string name;  // the export's
  Json settings;
  ExportSecrets secrets;
};

struct ExportKind {
  std::string_view name;
  // Adds problems, with paths below /settings and /secrets.
  void (*validate)(const Json& settings, const ExportSecrets& secrets, Problems& problems);
  std::unique_ptr<Exporter> (*make)(ExporterParts parts);
};

const std::vector<ExportKind>& export_kinds();
const ExportKind* find_export_kind(std::string_view name);  // null: there is none

}  // namespace sandgate
