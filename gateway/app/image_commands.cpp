#include "gateway/app/image_commands.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "gateway/app/serve.hpp"
#include "gateway/app/settings_flags.hpp"
#include "local/image/build.hpp"
#include "local/image/store.hpp"
#include "local/node/settings.hpp"

namespace sandgate {
namespace {

ImageStore open_store(const SettingsFlags& flags) {
  if (geteuid() != 0)
    throw Error(ErrorCode::forbidden, "images belong to root: run this command with sudo");
  const NodeSettings settings = node_settings(flags.load());
  std::filesystem::create_directories(images_dir(settings));
  return ImageStore(images_dir(settings));
}

bool has_image(const ImageStore& store, const std::string& name) {
  for (const ImageInfo& image : store.list())
    if (image.name == name) return true;
  return false;
}

struct BuildOptions {
  std::string name;
  std::vector<std::string> packages;
  bool if_missing = false;
};

int build(const SettingsFlags& flags, const BuildOptions& options) {
  ImageStore store = open_store(flags);
  if (options.if_missing && has_image(store, options.name)) {
    std::cout << options.name << " is there\n";
    return 0;
  }
  BuildOrder order;
  order.name = options.name;
  order.extra_packages = options.packages;
  const ImageInfo image =
      build_image(store, order, [](std::string_view line) { std::cout << line << std::endl; });
  std::cout << image.name << " " << image.digest << " " << image.size_bytes / (1 << 20) << " MiB\n";
  return 0;
}

int list(const SettingsFlags& flags, bool as_json) {
  Json images = Json::array();
  for (const ImageInfo& image : open_store(flags).list()) {
    images.push_back(to_json(image));
    if (!as_json)
      std::cout << image.name << "  " << image.digest.substr(0, 19) << "  "
                << image.size_bytes / (1 << 20) << " MiB  " << to_rfc3339(image.created_at) << "\n";
  }
  if (as_json) std::cout << Json{{"items", images}}.dump(2) << "\n";
  return 0;
}

}  // namespace

void add_image_commands(CLI::App& app, int& exit_code) {
  CLI::App* image = app.add_subcommand("image", "Images of the bundled local provider (root)");
  image->require_subcommand(1);

  CLI::App* build_command = image->add_subcommand("build", "Make an image from Debian packages");
  const auto build_flags = std::make_shared<SettingsFlags>(*build_command);
  const auto options = std::make_shared<BuildOptions>();
  build_command->add_option("name", options->name, "Its name, say debian-12")->required();
  build_command->add_option("--package", options->packages, "A further package; may be repeated")
      ->allow_extra_args(false);
  build_command->add_flag("--if-missing", options->if_missing, "Do nothing when it is there");
  build_command->callback(
      [build_flags, options, &exit_code] { exit_code = build(*build_flags, *options); });

  CLI::App* list_command = image->add_subcommand("list", "What is in the store");
  const auto list_flags = std::make_shared<SettingsFlags>(*list_command);
  const auto as_json = std::make_shared<bool>(false);
  list_command->add_flag("--json", *as_json, "Print JSON");
  list_command->callback(
      [list_flags, as_json, &exit_code] { exit_code = list(*list_flags, *as_json); });

  CLI::App* remove_command = image->add_subcommand("remove", "Forget an image");
  const auto remove_flags = std::make_shared<SettingsFlags>(*remove_command);
  const auto name = std::make_shared<std::string>();
  remove_command->add_option("name", *name, "Its name")->required();
  remove_command->callback([remove_flags, name, &exit_code] {
    open_store(*remove_flags).remove(*name);
    exit_code = 0;
  });
}

}  // namespace sandgate
