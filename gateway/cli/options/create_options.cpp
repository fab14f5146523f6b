#include "gateway/cli/options/create_options.hpp"

#include "gateway/cli/options/amount.hpp"
#include "gateway/cli/options/pairs.hpp"

namespace sandgate::cli {

void add_create_options(CLI::App& command, CreateOptions& options) {
  command.add_option("-p,--profile", options.profile, "Profile: name, name@3 or name@stable")
      ->capture_default_str();
  command.add_option("-e,--env", options.env, "NAME=VALUE of the environment; repeatable")
      ->allow_extra_args(false);
  command.add_option("-m,--metadata", options.metadata, "NAME=VALUE to find it by; repeatable")
      ->allow_extra_args(false);
  command.add_option("--ttl", options.ttl_seconds, "Seconds to live");
  command.add_option(
      "--idle", options.idle_timeout_seconds,
      "Seconds without use after which it ends, or is paused where its profile says so");
  command.add_option("--vcpu", options.vcpu, "Processors, in steps of 0.25");
  command.add_option("--memory", options.memory_mib, "Memory in MiB");
  command.add_option("--disk", options.disk_gib, "Disk in GiB");
  command.add_option("--image", options.image, "Image to start from");
  command.add_option("--snapshot", options.snapshot, "Snapshot to start from");
  command
      .add_option("--allow", options.allow, "host:port it may reach, and nothing else; repeatable")
      ->allow_extra_args(false);
  auto* secrets = command.add_option("--secret", options.secrets,
                                     "Secret of the profile to give it, and no other; repeatable");
  secrets->allow_extra_args(false);
  command.add_flag("--no-secrets", options.no_secrets, "Give it none of the profile's secrets")
      ->excludes(secrets);
  command.add_option("--isolation", options.isolation, "process, container, kernel or microvm");
  command.add_option("--persistence", options.persistence, "ephemeral, persistent or checkpoint");
  command.add_option("--only", options.only, "Deployment to use; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--order", options.order,
                  "Deployment to try, in the order given, before any others; repeatable")
      ->allow_extra_args(false);
  command.add_option("--exclude", options.exclude, "Deployment to avoid; repeatable")
      ->allow_extra_args(false);
  command.add_option("--region", options.region, "Region to run in");
  add_amount(command, "--max-cost", options.max_cost_per_hour, "Highest price per hour");
}

Json CreateOptions::body() const {
  Json body{{"profile", profile}};
  if (!env.empty()) body["env"] = pairs(env, "--env");
  if (!metadata.empty()) body["metadata"] = pairs(metadata, "--metadata");
  if (ttl_seconds) body["ttl_seconds"] = *ttl_seconds;
  if (idle_timeout_seconds) body["idle_timeout_seconds"] = *idle_timeout_seconds;
  if (vcpu) body["resources"]["vcpu"] = *vcpu;
  if (memory_mib) body["resources"]["memory_mib"] = *memory_mib;
  if (disk_gib) body["resources"]["disk_gib"] = *disk_gib;
  if (!image.empty()) body["image"] = image;
  if (!snapshot.empty()) body["snapshot"] = snapshot;
  if (!secrets.empty() || no_secrets) body["secrets"] = secrets;
  if (!isolation.empty()) body["isolation"] = isolation;
  if (!persistence.empty()) body["persistence"] = persistence;
  if (!allow.empty()) body["network"] = {{"default", "deny"}, {"allow", allow}};
  if (!only.empty()) body["placement"]["only"] = only;
  if (!order.empty()) body["placement"]["order"] = order;
  if (!exclude.empty()) body["placement"]["exclude"] = exclude;
  if (!region.empty()) body["placement"]["region"] = region;
  if (!max_cost_per_hour.empty()) body["placement"]["max_cost_per_hour"] = max_cost_per_hour;
  return body;
}

}  // namespace sandgate::cli
